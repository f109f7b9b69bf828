//! The loopback listener that the browser comes back to (RFC 8252, section 7.3).
//!
//! Invariants: bound to a loopback address only; serves one path; answers every connection (browsers open idle ones);
//! a request whose `Host` is not ours is refused (DNS rebinding); a wrong `state` is told and the wait goes on, since a
//! forged request must not be able to end an attempt; the first answer that counts closes the listener. Pages are
//! static: nothing of the request comes back in them.
//!
//! Deliberately absent: a general HTTP server. One request line and the `Host` header are all that is read.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;
use zeroize::Zeroizing;

use super::error::SignInError;

/// The path in the redirect URI.
pub const PATH: &str = "/callback";

const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEADER_BYTES: usize = 8 * 1024;

/// What a callback has to carry.
pub struct Awaited {
    /// The attempt's `state`.
    pub state: String,
    /// The provider's issuer.
    pub issuer: String,
    /// Whether `iss` has to be there (RFC 9207).
    pub issuer_required: bool,
}

/// What the browser brought.
pub enum Callback {
    /// The authorization code.
    Code(Zeroizing<String>),
    /// The provider's refusal.
    Refused {
        /// The OAuth error code.
        error: String,
        /// The provider's words.
        description: Option<String>,
    },
}

/// A bound listener.
pub struct Listener {
    sockets: Vec<TcpListener>,
    redirect: Url,
    authority: String,
}

impl Listener {
    /// Binds before the browser is opened, so that the port in the redirect URI is the port that answers.
    ///
    /// # Errors
    /// [`SignInError::NoPort`].
    pub async fn bind(host: &str, ports: &[u16]) -> Result<Self, SignInError> {
        let any = [0];
        let ports = if ports.is_empty() { &any[..] } else { ports };
        let mut last = String::new();
        for port in ports {
            match Self::bind_port(host, *port).await {
                Ok(listener) => return Ok(listener),
                Err(error) => last = error.to_string(),
            }
        }
        Err(SignInError::NoPort { why: last })
    }

    async fn bind_port(host: &str, port: u16) -> std::io::Result<Self> {
        let first = match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(socket) => socket,
            Err(_) if host != "localhost" => TcpListener::bind(("::1", port)).await?,
            Err(error) => return Err(error),
        };
        let local = first.local_addr()?;
        let mut sockets = vec![first];
        let authority = if host == "localhost" {
            // A browser may try ::1 first for this name; both families listen, or another program could.
            if let Ok(socket) = TcpListener::bind(("::1", local.port())).await {
                sockets.push(socket);
            }
            format!("localhost:{}", local.port())
        } else {
            SocketAddr::to_string(&local)
        };
        let redirect = Url::parse(&format!("http://{authority}{PATH}")).map_err(std::io::Error::other)?;
        Ok(Self { sockets, redirect, authority })
    }

    /// The redirect URI: used in the authorization request and, letter for letter, in the token request.
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the browser. `on_stale` is told of each request that belongs to another attempt.
    ///
    /// Never ends by itself: the caller bounds the wait.
    ///
    /// # Errors
    /// [`SignInError::Untrusted`] where a callback with our state is malformed or comes from another issuer.
    pub async fn wait(
        self,
        awaited: &Awaited,
        on_stale: impl Fn() + Send + Sync,
    ) -> Result<Callback, SignInError> {
        let (found, mut results) = mpsc::channel(1);
        let mut connections = tokio::task::JoinSet::new();
        let accepts = self.sockets.iter().map(|socket| {
            let found = found.clone();
            async move {
                loop {
                    match socket.accept().await {
                        Ok((stream, _)) => {
                            if found.send(Ok(stream)).await.is_err() {
                                return;
                            }
                        }
                        Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => {}
                        Err(error) => {
                            let _ = found.send(Err(error)).await;
                            return;
                        }
                    }
                }
            }
        });
        let accepting = futures_util::future::join_all(accepts);
        tokio::pin!(accepting);
        loop {
            tokio::select! {
                stream = results.recv() => match stream {
                    Some(Ok(stream)) => {
                        let authority = self.authority.clone();
                        connections.spawn(async move { read_request(stream, &authority).await });
                    }
                    Some(Err(error)) => return Err(SignInError::NoPort { why: error.to_string() }),
                    None => {}
                },
                () = async { accepting.as_mut().await; } => {
                    return Err(SignInError::NoPort { why: "the listener closed".into() });
                }
                Some(read) = connections.join_next() => {
                    let Ok(Some((stream, query))) = read else { continue };
                    match judge(&query, awaited) {
                        Judged::Stale => {
                            on_stale();
                            respond(stream, 400, STALE_PAGE).await;
                        }
                        Judged::Bad(why) => {
                            respond(stream, 400, FAILED_PAGE).await;
                            return Err(SignInError::Untrusted { why: why.into() });
                        }
                        Judged::Good(callback) => {
                            let page = if matches!(callback, Callback::Code(_)) { DONE_PAGE } else { FAILED_PAGE };
                            respond(stream, 200, page).await;
                            return Ok(callback);
                        }
                    }
                }
            }
        }
    }
}

enum Judged {
    Stale,
    Bad(&'static str),
    Good(Callback),
}

fn judge(query: &str, awaited: &Awaited) -> Judged {
    let values = |name: &str| {
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
    };
    if values("state") != [awaited.state.as_str()] {
        return Judged::Stale;
    }
    match values("iss").as_slice() {
        [] if awaited.issuer_required => {
            return Judged::Bad("the browser came back without naming the identity provider");
        }
        [] => {}
        [issuer] if *issuer == awaited.issuer => {}
        _ => return Judged::Bad("the browser came back from another identity provider"),
    }
    let (mut codes, mut errors) = (values("code"), values("error"));
    match (codes.len(), errors.len()) {
        (1, 0) => Judged::Good(Callback::Code(Zeroizing::new(codes.remove(0)))),
        (0, 1) => Judged::Good(Callback::Refused {
            error: errors.remove(0),
            description: values("error_description").into_iter().next(),
        }),
        _ => Judged::Bad("the browser came back with neither a code nor a reason"),
    }
}

/// Reads one request head; answers and drops everything that is not a callback.
async fn read_request(mut stream: TcpStream, authority: &str) -> Option<(TcpStream, Zeroizing<String>)> {
    let head = timeout(HEADER_TIMEOUT, read_head(&mut stream)).await.ok()??;
    let mut lines = head.split("\r\n");
    let mut request = lines.next()?.split(' ');
    let (method, target) = (request.next()?, request.next()?);
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim())
        .collect();
    if hosts != [authority] {
        respond(stream, 421, NOTHING_PAGE).await;
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if path != PATH {
        respond(stream, 404, NOTHING_PAGE).await;
        return None;
    }
    if method != "GET" {
        respond(stream, 405, NOTHING_PAGE).await;
        return None;
    }
    Some((stream, Zeroizing::new(query.to_owned())))
}

async fn read_head(stream: &mut TcpStream) -> Option<Zeroizing<String>> {
    let mut head = Zeroizing::new(Vec::with_capacity(MAX_HEADER_BYTES));
    let mut chunk = Zeroizing::new([0_u8; 1024]);
    loop {
        let read = stream.read(&mut chunk[..]).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&chunk[..read]);
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return String::from_utf8(head.to_vec()).ok().map(Zeroizing::new);
        }
        if head.len() + chunk.len() > MAX_HEADER_BYTES {
            return None;
        }
    }
}

async fn respond(mut stream: TcpStream, status: u16, body: &str) {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        _ => "Not Found",
    };
    let response = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'; style-src 'sha256-{STYLE_HASH}'\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // The browser may have gone; the attempt does not depend on its seeing the page.
    let _ = timeout(HEADER_TIMEOUT, async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}

macro_rules! page {
    ($title:literal, $text:literal) => {
        concat!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Muster: ",
            $title,
            "</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;\
             color-scheme:light dark}</style><h1>",
            $title,
            "</h1><p>",
            $text,
            "</p></html>"
        )
    };
}

/// SHA-256 of the pages' one style element, for their content security policy; a test holds the two together.
const STYLE_HASH: &str = "0edi7cnP94b4Ybxrel1Aw1t27cC4gAmSFlH1Fu8f9jU=";
const DONE_PAGE: &str = page!("You are signed in", "You can close this page and go back to Muster.");
const FAILED_PAGE: &str = page!("You are not signed in", "Muster says why. You can close this page.");
const STALE_PAGE: &str = page!(
    "This page is from an older attempt",
    "Go back to Muster, which is still waiting, and open the browser again."
);
const NOTHING_PAGE: &str = page!("Nothing is here", "Muster waits for a sign-in at another address.");

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    use super::*;

    fn awaited() -> Awaited {
        Awaited { state: "s1".into(), issuer: "https://id.example".into(), issuer_required: true }
    }

    async fn ask(authority: &str, request: &str) -> String {
        let mut stream = TcpStream::connect(authority).await.expect("it listens");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it answers");
        answer
    }

    async fn get(authority: &str, target: &str) -> String {
        ask(authority, &format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\n\r\n")).await
    }

    const GOOD: &str = "/callback?code=c0de&state=s1&iss=https%3A%2F%2Fid.example";

    #[tokio::test]
    async fn everything_but_the_callback_leaves_the_attempt_waiting() {
        let listener = Listener::bind("127.0.0.1", &[]).await.expect("a free port");
        let authority = listener.authority.clone();
        let stale = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let seen = std::sync::Arc::clone(&stale);
        let waiting = tokio::spawn(async move {
            listener
                .wait(&awaited(), move || {
                    seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                })
                .await
        });
        // An idle connection, as browsers open them in advance.
        let _idle = TcpStream::connect(&authority).await.expect("it listens");
        assert!(get(&authority, "/favicon.ico").await.starts_with("HTTP/1.1 404"));
        assert!(
            ask(&authority, &format!("GET {GOOD} HTTP/1.1\r\nHost: evil.example\r\n\r\n"))
                .await
                .starts_with("HTTP/1.1 421")
        );
        assert!(ask(&authority, &format!("GET {GOOD} HTTP/1.1\r\n\r\n")).await.starts_with("HTTP/1.1 421"));
        assert!(
            ask(&authority, &format!("POST {GOOD} HTTP/1.1\r\nHost: {authority}\r\n\r\n"))
                .await
                .starts_with("HTTP/1.1 405")
        );
        let forged = get(&authority, "/callback?code=evil&state=wrong<script>").await;
        assert!(
            forged.starts_with("HTTP/1.1 400") && !forged.contains("wrong"),
            "nothing of a request comes back"
        );
        assert!(get(&authority, "/callback?code=evil&state=s1&state=s2").await.starts_with("HTTP/1.1 400"));
        let good = get(&authority, GOOD).await;
        assert!(good.starts_with("HTTP/1.1 200") && good.contains("no-store") && !good.contains("c0de"));
        let callback = waiting.await.expect("no panic").expect("it is good");
        assert!(matches!(callback, Callback::Code(code) if *code == "c0de"));
        assert_eq!(stale.load(std::sync::atomic::Ordering::SeqCst), 2, "forged requests are told");
        assert!(TcpStream::connect(&authority).await.is_err(), "the first answer closes the listener");
    }

    #[test]
    fn a_callback_from_another_issuer_or_without_one_is_not_trusted() {
        for query in [
            "code=c&state=s1",
            "code=c&state=s1&iss=https://evil.example",
            "state=s1&iss=https://id.example",
            "code=c&error=e&state=s1&iss=https://id.example",
            "code=c&code=d&state=s1&iss=https://id.example",
        ] {
            assert!(matches!(judge(query, &awaited()), Judged::Bad(_)), "{query}");
        }
        assert!(matches!(judge("error=access_denied&state=s1&iss=https://id.example", &awaited()),
            Judged::Good(Callback::Refused { error, .. }) if error == "access_denied"));
    }

    #[test]
    fn the_style_of_every_page_is_the_one_that_its_policy_allows() {
        for page in [DONE_PAGE, FAILED_PAGE, STALE_PAGE, NOTHING_PAGE] {
            let style = page
                .split_once("<style>")
                .and_then(|(_, rest)| rest.split_once("</style>"))
                .expect("a style")
                .0;
            let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(style.as_bytes()));
            assert_eq!(hash, STYLE_HASH);
        }
    }
}
