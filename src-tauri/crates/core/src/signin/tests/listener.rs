//! The loopback listener over real sockets, from the side of a browser and of whoever else can reach it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::signin::SignInError;
use crate::signin::listener::{Awaited, Callback, Listener};

struct Waiting {
    authority: String,
    stale: Arc<AtomicUsize>,
    wait: JoinHandle<Result<Callback, SignInError>>,
}

impl Waiting {
    async fn new(issuer_required: bool) -> Self {
        Self::on(Listener::bind("127.0.0.1", &[]).await.expect("a free port"), issuer_required)
    }

    fn on(listener: Listener, issuer_required: bool) -> Self {
        let url = listener.redirect();
        let authority = format!("{}:{}", url.host_str().expect("a host"), url.port().expect("a port"));
        let stale = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&stale);
        let wait = tokio::spawn(async move {
            let awaited =
                Awaited { state: "s1".into(), issuer: "https://id.example".into(), issuer_required };
            let on_stale = move || {
                seen.fetch_add(1, Ordering::SeqCst);
            };
            listener.wait(&awaited, on_stale).await
        });
        Self { authority, stale, wait }
    }

    async fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.authority).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers");
        answer
    }

    async fn get(&self, target: &str) -> String {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.authority)).await
    }

    async fn ends(self) -> Result<Callback, SignInError> {
        let outcome = self.wait.await.expect("no panic");
        assert!(
            TcpStream::connect(&self.authority).await.is_err(),
            "the first answer that counts closes the port"
        );
        outcome
    }
}

const GOOD: &str = "/callback?code=c0de&state=s1&iss=https%3A%2F%2Fid.example";

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or_default()
}

#[tokio::test]
async fn everything_but_the_callback_leaves_the_attempt_waiting() {
    let waiting = Waiting::new(true).await;
    let host = waiting.authority.clone();
    // An idle connection, as browsers open them in advance.
    let _idle = TcpStream::connect(&host).await.expect("it listens");
    for (request, wanted) in [
        ("GET /favicon.ico HTTP/1.1\r\nHost: {host}\r\n\r\n", "404"),
        ("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", "404"),
        ("GET /callback/ HTTP/1.1\r\nHost: {host}\r\n\r\n", "404"),
        ("GET //callback HTTP/1.1\r\nHost: {host}\r\n\r\n", "404"),
        ("GET /Callback{query} HTTP/1.1\r\nHost: {host}\r\n\r\n", "404"),
        ("POST {good} HTTP/1.1\r\nHost: {host}\r\n\r\n", "405"),
        ("HEAD {good} HTTP/1.1\r\nHost: {host}\r\n\r\n", "405"),
        ("OPTIONS {good} HTTP/1.1\r\nHost: {host}\r\n\r\n", "405"),
        ("GET {good} HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
        ("GET {good} HTTP/1.1\r\nHost: localhost:1\r\n\r\n", "421"),
        ("GET {good} HTTP/1.1\r\nHost: {host}.evil.example\r\n\r\n", "421"),
        ("GET {good} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n", "421"),
        ("GET {good} HTTP/1.1\r\nHost: evil.example\r\nHost: {host}\r\n\r\n", "421"),
        ("GET {good} HTTP/1.1\r\n\r\n", "421"),
        ("GET {good}\r\n\r\n", "400"),
        ("\r\n\r\n", "400"),
        ("GET /callback?code=evil&state=wrong<script> HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
        ("GET /callback?code=evil HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
        ("GET /callback HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
        ("GET /callback?code=evil&state= HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
        ("GET /callback?code=evil&state=s1&state=s1 HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
        ("GET /callback?error=access_denied&state=s2 HTTP/1.1\r\nHost: {host}\r\n\r\n", "400"),
    ] {
        let request = request.replace("{good}", GOOD).replace("{host}", &host).replace("{query}", "?x");
        let answer = waiting.ask(&request).await;
        assert_eq!(status(&answer), wanted, "{request}");
        assert!(!answer.contains("evil") && !answer.contains("script>"), "nothing of a request comes back");
    }
    assert_eq!(waiting.stale.load(Ordering::SeqCst), 6, "callbacks of another attempt are told");
    let good = waiting.get(GOOD).await;
    assert_eq!(status(&good), "200");
    assert!(matches!(waiting.ends().await, Ok(Callback::Code(code)) if *code == "c0de"));
}

#[tokio::test]
async fn pages_are_not_stored_tell_no_referrer_and_run_nothing() {
    let waiting = Waiting::new(true).await;
    for target in ["/", "/callback?state=old", GOOD] {
        let answer = waiting.get(target).await;
        for header in [
            "Cache-Control: no-store\r\n",
            "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
            "Referrer-Policy: no-referrer\r\n",
            "X-Content-Type-Options: nosniff\r\n",
            "Connection: close\r\n",
        ] {
            assert!(answer.contains(header), "{target} lacks {header}");
        }
        assert!(
            !answer.contains("Location:") && !answer.contains("c0de") && !answer.contains("Access-Control")
        );
    }
    assert!(waiting.ends().await.is_ok());
}

#[tokio::test]
async fn a_callback_with_our_state_that_is_malformed_or_of_another_issuer_ends_the_attempt_untrusted() {
    for query in [
        "code=c&state=s1",
        "code=c&state=s1&iss=https://evil.example",
        "code=c&state=s1&iss=https://id.example/",
        "code=c&state=s1&iss=https://id.example&iss=https://id.example",
        "state=s1&iss=https://id.example",
        "code=c&error=e&state=s1&iss=https://id.example",
        "code=c&code=d&state=s1&iss=https://id.example",
        "error=e&error=f&state=s1&iss=https://id.example",
    ] {
        let waiting = Waiting::new(true).await;
        assert_eq!(status(&waiting.get(&format!("/callback?{query}")).await), "400", "{query}");
        assert!(matches!(waiting.ends().await, Err(SignInError::Untrusted { .. })), "{query}");
    }
}

#[tokio::test]
async fn a_provider_that_does_not_promise_an_issuer_may_leave_it_out_but_not_name_another() {
    let waiting = Waiting::new(false).await;
    waiting.get("/callback?code=c&state=s1").await;
    assert!(waiting.ends().await.is_ok());
    let waiting = Waiting::new(false).await;
    waiting.get("/callback?code=c&state=s1&iss=https://evil.example").await;
    assert!(matches!(waiting.ends().await, Err(SignInError::Untrusted { .. })));
}

#[tokio::test]
async fn a_refusal_is_taken_with_its_words_made_printable() {
    let waiting = Waiting::new(true).await;
    let target =
        "/callback?error=access_denied&error_description=no%0d%0a%1b%5b31m&state=s1&iss=https://id.example";
    let answer = waiting.get(target).await;
    assert!(!answer.contains("access_denied") && !answer.contains("31m"), "nothing of a request comes back");
    let Ok(Callback::Refused { error, description }) = waiting.ends().await else {
        panic!("it is a refusal")
    };
    assert_eq!((error.as_str(), description.as_deref()), ("access_denied", Some("no[31m")));
}

#[tokio::test]
async fn a_request_that_comes_in_pieces_is_read_whole() {
    let waiting = Waiting::new(true).await;
    let mut stream = TcpStream::connect(&waiting.authority).await.expect("it listens");
    for piece in [
        format!("GET {GOOD} HT"),
        "TP/1.1\r\nHo".into(),
        format!("st: {}\r\n\r", waiting.authority),
        "\n".into(),
    ] {
        stream.write_all(piece.as_bytes()).await.expect("it reads");
        stream.flush().await.expect("it is sent");
        tokio::task::yield_now().await;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    assert_eq!(status(&answer), "200");
    assert!(waiting.ends().await.is_ok());
}

#[tokio::test]
async fn a_head_that_is_too_large_or_no_text_is_answered_and_ends_nothing() {
    let waiting = Waiting::new(true).await;
    let mut stream = TcpStream::connect(&waiting.authority).await.expect("it listens");
    let head = format!("GET {GOOD} HTTP/1.1\r\nHost: {}\r\nCookie: {}", waiting.authority, "x".repeat(8192));
    stream.write_all(&head.as_bytes()[..8193]).await.expect("it reads");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert_eq!(status(&answer), "431");
    let mut stream = TcpStream::connect(&waiting.authority).await.expect("it listens");
    stream.write_all(b"GET /callback?\xff\xfe HTTP/1.1\r\n\r\n").await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    assert_eq!(status(&answer), "400");
    waiting.get(GOOD).await;
    assert!(waiting.ends().await.is_ok());
}

#[tokio::test]
async fn a_crowd_of_silent_connections_does_not_keep_the_callback_out() {
    let waiting = Waiting::new(true).await;
    let mut crowd = Vec::new();
    for _ in 0..100 {
        crowd.push(TcpStream::connect(&waiting.authority).await.expect("it listens"));
    }
    let (authority, wait) = (waiting.authority.clone(), waiting.wait);
    let mut stream = TcpStream::connect(&authority).await.expect("it listens");
    let request = format!("GET {GOOD} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    // The silent ones are given five seconds; time is let run ahead to there.
    tokio::time::pause();
    assert!(matches!(wait.await.expect("no panic"), Ok(Callback::Code(_))));
    drop(crowd);
}

#[tokio::test]
async fn a_port_that_is_taken_is_passed_over_and_none_left_is_told() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let busy = taken.local_addr().expect("an address").port();
    let free = {
        let probe = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        probe.local_addr().expect("an address").port()
    };
    let listener = Listener::bind("localhost", &[busy, free]).await.expect("the second one is free");
    assert_eq!(listener.redirect().as_str(), format!("http://localhost:{free}/callback"));
    let refused = Listener::bind("localhost", &[busy]).await.err().expect("it is taken");
    assert_eq!(refused.code(), "no_callback_port");
}

#[tokio::test]
async fn localhost_is_answered_on_both_families_or_not_at_all() {
    // Where this machine has no IPv6, nobody can sit on the other family.
    let Ok(squatter) = TcpListener::bind(("::1", 0)).await else { return };
    let port = squatter.local_addr().expect("an address").port();
    let refused = Listener::bind("localhost", &[port]).await;
    assert!(refused.is_err(), "another program would get the code");
    drop(squatter);
    let listener = Listener::bind("localhost", &[]).await.expect("a free port");
    let port = listener.redirect().port().expect("a port");
    let waiting = Waiting::on(listener, true);
    let mut stream = TcpStream::connect(("::1", port)).await.expect("it listens there too");
    let request = format!("GET {GOOD} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers");
    assert_eq!(status(&answer), "200");
    assert!(waiting.wait.await.expect("no panic").is_ok());
}

#[tokio::test]
async fn nothing_but_loopback_is_bound() {
    for host in ["127.0.0.1", "localhost"] {
        let listener = Listener::bind(host, &[]).await.expect("a free port");
        for address in listener.addresses() {
            assert!(address.ip().is_loopback(), "{address}");
        }
    }
}
