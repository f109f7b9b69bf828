//! Servers that are slow on purpose. Time is paused: nothing here waits.

use std::time::Duration;

use tokio::time::Instant;

use crate::connect::scripted::{Authority, Extra, HOST, Network, Step, client_of, dialer, json, kubeconfig};
use crate::connect::{ConnectError, ReadError, Resolve, Stage, connect};
use crate::endpoint::EndpointPolicy;

fn stage_of(error: &ReadError) -> Option<Stage> {
    match error {
        ReadError::Timeout { stage, .. } | ReadError::Connect(ConnectError::Timeout { stage, .. }) => {
            Some(*stage)
        }
        _ => None,
    }
}

async fn stalls_at(network: std::sync::Arc<Network>, authority: &Authority) -> (Option<Stage>, u64) {
    let safe = kubeconfig("https://kube.example:6443", authority, EndpointPolicy::Private, &Extra::default());
    let client = connect(&safe, &dialer(&network)).await.expect("a client");
    let start = Instant::now();
    let error = client.version().await.expect_err("a stall");
    (stage_of(&error), start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_is_given_up_after_five_seconds() {
    let network = Network::new();
    network.black_hole("203.0.113.7:6443");
    assert_eq!(stalls_at(network, &Authority::new("ca")).await, (Some(Stage::Connect), 5));
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_stalls_is_given_up_after_five_seconds() {
    let network = Network::new();
    network.raw("203.0.113.7:6443", |wire| {
        tokio::spawn(async move {
            let _open = wire;
            std::future::pending::<()>().await;
        });
    });
    assert_eq!(stalls_at(network, &Authority::new("ca")).await, (Some(Stage::TlsHandshake), 5));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_begins_is_given_up_after_ten_seconds() {
    let network = Network::new();
    let authority = Authority::new("ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| vec![Step::Stall]);
    assert_eq!(stalls_at(network, &authority).await, (Some(Stage::FirstByte), 10));
}

#[tokio::test(start_paused = true)]
async fn headers_that_trickle_do_not_extend_the_wait() {
    let network = Network::new();
    let authority = Authority::new("ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| {
        let head = b"HTTP/1.1 200 OK\r\nx-slow: 1\r\nx-slow: 2\r\nx-slow: 3\r\n";
        head.iter().flat_map(|byte| [Step::Send(vec![*byte]), Step::Wait(Duration::from_secs(1))]).collect()
    });
    assert_eq!(stalls_at(network, &authority).await, (Some(Stage::FirstByte), 10));
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 400\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn a_body_that_stops_is_given_up_after_the_idle_limit() {
    let network = Network::new();
    let authority = Authority::new("ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| {
        vec![Step::Send(HEAD.to_vec()), Step::Stall]
    });
    assert_eq!(stalls_at(network, &authority).await, (Some(Stage::Idle), 10));
}

#[tokio::test(start_paused = true)]
async fn a_body_of_one_byte_a_second_is_cut_by_the_page_limit() {
    let network = Network::new();
    let authority = Authority::new("ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| {
        let mut steps = vec![Step::Send(HEAD.to_vec())];
        steps.extend((0..400).flat_map(|_| [Step::Wait(Duration::from_secs(1)), Step::Send(vec![b' '])]));
        steps
    });
    assert_eq!(stalls_at(network, &authority).await, (Some(Stage::Page), 15));
}

struct SlowNames;

#[async_trait::async_trait]
impl Resolve for SlowNames {
    async fn resolve(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_look_up_counts_against_the_connection() {
    let network = Network::new();
    let authority = Authority::new("ca");
    let safe =
        kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Private, &Extra::default());
    let dialer = dialer(&network).with_resolver(std::sync::Arc::new(SlowNames));
    let client = connect(&safe, &dialer).await.expect("a client");
    let start = Instant::now();
    let error = client.version().await.expect_err("no name service");
    assert_eq!((stage_of(&error), start.elapsed().as_secs()), (Some(Stage::Resolve), 5));
    assert!(error.to_string().contains("looking up its name"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_goes_away_closes_its_connection() {
    let (closed, seen_closed) = tokio::sync::oneshot::channel();
    let closed = std::sync::Mutex::new(Some(closed));
    let network = Network::new();
    let authority = Authority::new("ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| {
        vec![Step::Send(HEAD.to_vec()), Step::Stall]
    });
    // A relay in front of the server, to see the client's side of the connection end.
    let behind = network.clone();
    network.raw("203.0.113.8:6443", move |mut wire| {
        let closed = closed.lock().ok().and_then(|mut closed| closed.take());
        let mut inner = behind.inner_open("203.0.113.7:6443").expect("the server");
        tokio::spawn(async move {
            let (mut from_client, mut to_client) = tokio::io::split(&mut wire);
            let (mut from_server, mut to_server) = tokio::io::split(&mut inner);
            tokio::select! {
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
            }
            closed.map(|closed| closed.send(()));
        });
    });
    let safe =
        kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Private, &Extra::default());
    let names = crate::connect::scripted::Names::answering(&[&["203.0.113.8"]]);
    let client = connect(&safe, &dialer(&network).with_resolver(names)).await.expect("a client");
    let reading = tokio::spawn(async move { client.version().await });
    while network.seen().is_empty() {
        assert!(!reading.is_finished(), "the request never arrived");
        tokio::task::yield_now().await;
    }
    let start = Instant::now();
    reading.abort();
    seen_closed.await.expect("the connection ends");
    assert!(start.elapsed() < Duration::from_millis(100), "at once, not when a limit is over");
}

#[tokio::test(start_paused = true)]
async fn a_reading_within_its_limits_is_not_disturbed() {
    let (client, _) = client_of(|_| {
        let mut steps = vec![Step::Wait(Duration::from_secs(9))];
        steps.extend(json(200, r#"{"gitVersion":"v1.36.2"}"#));
        steps
    })
    .await;
    client.version().await.expect("slow, but in time");
}
