//! What the client makes of what comes back.

use std::io::Write as _;

use crate::connect::scripted::{CANARY, Seen, Step, client_of, json, reply};
use crate::connect::{AccessQuestion, ReadError, Resource, ResourcePath, Verb};
use crate::registry::Namespace;

async fn version_error(steps: Vec<Step>) -> ReadError {
    let (client, _) = client_of(move |_| steps.clone()).await;
    client.version().await.expect_err("not a good answer")
}

fn status(code: u16, message: &str) -> Vec<Step> {
    json(code, &format!(r#"{{"kind":"Status","status":"Failure","code":{code},"message":"{message}"}}"#))
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_names_its_target() {
    for (code, location, to) in [
        (301, "https://elsewhere.example/version?token=s3cret", "elsewhere.example"),
        (302, "https://elsewhere.example/", "elsewhere.example"),
        (307, "//elsewhere.example/x", "elsewhere.example"),
        (308, "/other", "another path on the same host"),
    ] {
        let head = format!("location: {location}\r\ncontent-type: text/html\r\n");
        let (client, network) = client_of(move |_| reply(code, &head, b"<a>moved</a>")).await;
        let error = client.version().await.expect_err("a redirect");
        assert_eq!(error, ReadError::Redirected { server: "kube.example:6443".into(), to: to.into() });
        assert_eq!(network.dialled().len(), 1, "{code}: nobody else is dialled");
        assert_eq!(network.seen().len(), 1, "{code}: the request is not repeated");
        assert!(!error.to_string().contains("s3cret"));
    }
}

#[tokio::test]
async fn a_login_page_is_not_taken_for_kubernetes() {
    let html = "content-type: text/html; charset=utf-8\r\n";
    for code in [200, 401, 403, 404] {
        let error = version_error(reply(code, html, b"<html>Sign in</html>")).await;
        assert_eq!(error.code(), "not_kubernetes", "{code}");
        assert!(!error.to_string().contains("Sign in"), "the page is not quoted");
        assert!(!error.is_retryable(), "a portal does not go away by asking again");
    }
    assert_eq!(version_error(reply(200, "", b"{}")).await.code(), "not_kubernetes", "no content type at all");
}

#[tokio::test]
async fn each_status_has_its_own_answer() {
    assert_eq!(version_error(status(401, "Unauthorized")).await.code(), "unauthorized");
    let forbidden = version_error(status(403, "nodes is forbidden: User x cannot list")).await;
    assert_eq!(forbidden.code(), "forbidden");
    assert!(forbidden.to_string().ends_with("nodes is forbidden: User x cannot list"), "{forbidden}");
    assert_eq!(version_error(status(404, "gone")).await.code(), "not_found");
    let plain = reply(404, "content-type: text/plain\r\n", b"404 page not found");
    assert_eq!(version_error(plain).await.code(), "not_found", "API servers say so in plain text");
    assert_eq!(version_error(status(410, "too old")).await.code(), "gone");
    assert_eq!(version_error(status(422, "no")).await.code(), "rejected");
    for code in [500, 502, 503] {
        let page = reply(code, "content-type: text/html\r\n", b"<html>bad gateway</html>");
        assert_eq!(version_error(page).await.code(), "server", "{code}");
    }
    let busy = reply(429, "content-type: text/plain\r\nretry-after: 7\r\n", b"Too many requests");
    match version_error(busy).await {
        ReadError::RateLimited { retry_after, .. } => assert_eq!(retry_after.map(|d| d.as_secs()), Some(7)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_credential_appears_in_no_error_even_if_the_server_repeats_it() {
    let echo =
        |seen: &Seen| status(403, &format!("denied: {}", seen.header("authorization").unwrap_or_default()));
    let (client, network) = client_of(echo).await;
    let error = client.version().await.expect_err("denied");
    assert!(network.seen()[0].text.contains(CANARY), "the server did get it");
    assert!(!format!("{error} {error:?} {client:?}").contains(CANARY), "{error}");
}

#[tokio::test]
async fn a_clock_that_is_hours_off_is_said_with_the_401() {
    let head = "content-type: application/json\r\ndate: Thu, 01 Jan 2099 00:00:00 GMT\r\n";
    let (client, _) = client_of(move |_| reply(401, head, b"{}")).await;
    let error = client.version().await.expect_err("unauthorized");
    assert!(error.to_string().contains("ahead of this computer's"), "{error}");
    assert!(client.clock_skew().is_some_and(|skew| skew.is_positive()));
}

#[tokio::test]
async fn damaged_json_tells_a_place_and_quotes_nothing() {
    let body = "{\n \"gitVersion\": canary-in-the-body }";
    match version_error(json(200, body)).await {
        error @ ReadError::Decode { offset, .. } => {
            assert_eq!(&body[..usize::try_from(offset).expect("small")], "{\n \"gitVersion\": c");
            assert!(!format!("{error}{error:?}").contains("canary"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        version_error(json(200, r#"{"gitVersion":"v1"#)).await,
        ReadError::Decode { what: "JSON that ends too early", .. }
    ));
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_never_taken_for_whole() {
    let cut = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n{\"gitVersion\":\"v1\"}";
    let error = version_error(vec![Step::Send(cut.to_vec()), Step::Close]).await;
    assert_eq!(error.code(), "connection_broken");
    let chunked = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n13\r\n{\"gitVersion\":\"v1\"}\r\n";
    let error = version_error(vec![Step::Send(chunked.to_vec()), Step::Close]).await;
    assert_eq!(error.code(), "connection_broken", "the last chunk is missing");
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(body).expect("in memory");
    encoder.finish().expect("in memory")
}

const GZIP: &str = "content-type: application/json\r\ncontent-encoding: gzip\r\n";

#[tokio::test]
async fn compressed_answers_are_read() {
    let body = gzipped(br#"{"gitVersion":"v1.36.2"}"#);
    let (client, network) = client_of(move |_| reply(200, GZIP, &body)).await;
    assert_eq!(client.version().await.expect("an answer").git_version, "v1.36.2");
    assert_eq!(network.seen()[0].header("accept-encoding"), Some("gzip"));
}

#[tokio::test]
async fn a_compression_bomb_is_cut() {
    let mut bomb = br#"{"gitVersion":""#.to_vec();
    bomb.resize(64 * 1024 * 1024, b'a');
    let body = gzipped(&bomb);
    assert!(body.len() < 100_000, "it is small on the wire: {}", body.len());
    assert_eq!(version_error(reply(200, GZIP, &body)).await.code(), "too_large");
}

#[tokio::test]
async fn compressed_data_that_is_damaged_or_cut_is_an_error() {
    let good = gzipped(br#"{"gitVersion":"v1.36.2"}"#);
    let cut = &good[..good.len() - 6];
    assert_eq!(version_error(reply(200, GZIP, cut)).await.code(), "decode");
    let mut damaged = good.clone();
    damaged[12] ^= 0xff;
    assert_eq!(version_error(reply(200, GZIP, &damaged)).await.code(), "decode");
    let other = "content-type: application/json\r\ncontent-encoding: br\r\n";
    // Taken as it is, it would be good JSON.
    let error = version_error(reply(200, other, br#"{"gitVersion":"v1.36.2"}"#)).await;
    assert_eq!(error.code(), "decode", "what was not asked for is not guessed at");
}

#[tokio::test]
async fn an_answer_without_end_is_cut_at_the_cap() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"gitVersion\":\"".to_vec();
    let mut steps = vec![Step::Send(head)];
    steps.extend((0..80).map(|_| Step::Send(vec![b'a'; 64 * 1024])));
    assert_eq!(version_error(steps).await.code(), "too_large");
}

#[tokio::test]
async fn a_read_is_repeated_once_when_the_connection_was_already_dead() {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = calls.clone();
    let (client, network) = client_of(move |_| {
        if count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 {
            return vec![Step::Close];
        }
        json(200, r#"{"gitVersion":"v1.36.2"}"#)
    })
    .await;
    client.version().await.expect("the second try");
    assert_eq!(network.dialled().len(), 2, "on a connection of its own");
    let (client, network) = client_of(|_| vec![Step::Close]).await;
    assert_eq!(client.version().await.expect_err("always closed").code(), "connection_broken");
    assert_eq!(network.seen().len(), 2, "and no more than once");
}

#[tokio::test]
async fn a_question_is_not_repeated_when_the_connection_breaks() {
    let (client, network) = client_of(|_| vec![Step::Close]).await;
    let question =
        AccessQuestion { verb: Verb::List, resource: Resource::Pods, subresource: None, namespace: None };
    assert_eq!(client.access(&question).await.expect_err("closed").code(), "connection_broken");
    assert_eq!(network.seen().len(), 1, "only a GET is sent twice");
}

#[tokio::test]
async fn access_is_asked_of_the_cluster_and_its_no_is_a_no() {
    let (client, network) = client_of(|seen| {
        let allowed = seen.text.contains(r#""resource":"pods""#);
        json(201, &format!(r#"{{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":{{}},"status":{{"allowed":{allowed},"reason":"RBAC"}}}}"#))
    })
    .await;
    let ask = |resource, namespace: Option<&str>| AccessQuestion {
        verb: Verb::List,
        resource,
        subresource: None,
        namespace: namespace.and_then(Namespace::parse),
    };
    let pods = client.access(&ask(Resource::Pods, Some("team-a"))).await.expect("an answer");
    assert!(pods.allowed);
    let nodes = client.access(&ask(Resource::Nodes, None)).await.expect("an answer");
    assert!(!nodes.allowed);
    assert_eq!(nodes.reason.as_deref(), Some("RBAC"));
    let seen = &network.seen()[0];
    assert_eq!(seen.line, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    assert!(
        seen.text.contains(r#""namespace":"team-a""#) && seen.text.contains(r#""verb":"list""#),
        "{}",
        seen.text
    );
}

#[tokio::test]
async fn proving_a_list_asks_for_one_object_and_checks_the_kind() {
    let (client, network) = client_of(|_| json(200, r#"{"kind":"PodList","items":[]}"#)).await;
    client.prove_list(&ResourcePath::all(Resource::Pods)).await.expect("a pod list");
    assert_eq!(network.seen()[0].line, "GET /api/v1/pods?limit=1");
    let error = client.prove_list(&ResourcePath::all(Resource::Nodes)).await.expect_err("pods for nodes");
    assert_eq!(error.code(), "wrong_kind");
}
