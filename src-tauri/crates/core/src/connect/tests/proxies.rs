//! The kubeconfig's proxy: used where it is named, judged like a server, and never gone round.

use std::sync::Arc;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use crate::connect::scripted::{
    Authority, CANARY, Extra, HOST, Names, Network, Seen, Step, dialer, json, kubeconfig,
};
use crate::connect::{ClusterClient, ReadError, connect};
use crate::endpoint::EndpointPolicy;

fn version(_: &Seen) -> Vec<Step> {
    json(200, r#"{"gitVersion":"v1.36.2"}"#)
}

async fn client(network: &Arc<Network>, authority: &Authority, proxy: &str, names: &[&str]) -> ClusterClient {
    let cluster = format!("proxy-url: {proxy}");
    let extra = Extra { cluster: &cluster, ..Extra::default() };
    let safe = kubeconfig("https://kube.example:6443", authority, EndpointPolicy::Private, &extra);
    let dialer = dialer(network).with_resolver(Names::answering(&[names]));
    connect(&safe, &dialer).await.expect("a client")
}

async fn read_some(wire: &mut DuplexStream) -> Vec<u8> {
    let mut chunk = vec![0; 1024];
    let n = wire.read(&mut chunk).await.unwrap_or(0);
    chunk.truncate(n);
    chunk
}

/// An HTTP proxy that answers with `answer` and, on 200, relays to the server. What it was asked is kept.
fn http_proxy(network: &Arc<Network>, answer: &'static str) -> Arc<Mutex<String>> {
    let asked = Arc::new(Mutex::new(String::new()));
    let (inside, heard) = (network.clone(), asked.clone());
    network.raw("198.51.100.9:3128", move |mut wire| {
        let (inside, heard) = (inside.clone(), heard.clone());
        tokio::spawn(async move {
            let request = read_some(&mut wire).await;
            *heard.lock().expect("not poisoned") = String::from_utf8_lossy(&request).into_owned();
            let _ = wire.write_all(answer.as_bytes()).await;
            if answer.contains(" 200 ") {
                let mut server = inside.inner_open("203.0.113.7:6443").expect("the server");
                let _ = tokio::io::copy_bidirectional(&mut wire, &mut server).await;
            }
        });
    });
    asked
}

#[tokio::test]
async fn an_http_proxy_is_asked_for_a_tunnel_and_sees_no_credential() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    let asked = http_proxy(&network, "HTTP/1.1 200 Connection established\r\n\r\n");
    let client = client(&network, &authority, "http://proxy.example:3128", &["198.51.100.9"]).await;
    client.version().await.expect("through the proxy");
    assert_eq!(network.dialled(), ["198.51.100.9:3128"], "only the proxy is dialled from here");
    let asked = asked.lock().expect("not poisoned").clone();
    assert!(asked.starts_with("CONNECT kube.example:6443 HTTP/1.1\r\n"), "{asked}");
    assert!(!asked.contains(CANARY), "the credential travels inside TLS");
}

#[tokio::test]
async fn a_socks5_proxy_resolves_the_servers_name() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    let inside = network.clone();
    network.raw("198.51.100.9:1080", move |mut wire| {
        let inside = inside.clone();
        tokio::spawn(async move {
            assert_eq!(read_some(&mut wire).await, [5, 1, 0], "version 5, one method, no authentication");
            let _ = wire.write_all(&[5, 0]).await;
            let request = read_some(&mut wire).await;
            assert_eq!(&request[..5], [5, 1, 0, 3, 12], "CONNECT to a name (RFC 1928), not to an address");
            assert_eq!(&request[5..17], HOST.as_bytes());
            let _ = wire.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await;
            let mut server = inside.inner_open("203.0.113.7:6443").expect("the server");
            let _ = tokio::io::copy_bidirectional(&mut wire, &mut server).await;
        });
    });
    let client = client(&network, &authority, "socks5://proxy.example", &["198.51.100.9"]).await;
    client.version().await.expect("through the proxy");
    assert_eq!(network.dialled(), ["198.51.100.9:1080"]);
}

#[tokio::test]
async fn a_proxy_at_a_forbidden_address_is_never_dialled() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    let client = client(&network, &authority, "http://proxy.example:3128", &["127.0.0.1"]).await;
    assert_eq!(client.version().await.expect_err("loopback").code(), "address_refused");
    assert!(network.dialled().is_empty());
}

#[tokio::test]
async fn a_literal_proxy_outside_the_policy_is_refused_before_the_client_exists() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    let extra = Extra { cluster: "proxy-url: http://127.0.0.1:3128", ..Extra::default() };
    // The gate of another deployment let it pass; this one's policy is tighter.
    let safe = kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Any, &extra);
    assert_eq!(connect(&safe, &dialer(&network)).await.expect_err("loopback").code(), "address_refused");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_and_not_gone_round() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
        "HTTP/1.1 503 Service Unavailable\r\n\r\n",
        "HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\n\r\n<html>",
        "",
    ] {
        let network = Network::new();
        let authority = Authority::new("kube-ca");
        network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
        http_proxy(&network, answer);
        let client = client(&network, &authority, "http://proxy.example:3128", &["198.51.100.9"]).await;
        let error = client.version().await.expect_err(answer);
        assert_eq!(error.code(), "proxy", "{answer:?}: {error}");
        assert!(error.to_string().contains("http://proxy.example:3128"), "{error}");
        assert!(network.dialled().iter().all(|at| at == "198.51.100.9:3128"), "{:?}", network.dialled());
        assert!(network.seen().is_empty(), "the server heard nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_is_down_or_silent_is_named() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    let through = client(&network, &authority, "http://proxy.example:3128", &["198.51.100.9"]).await;
    let down = through.version().await.expect_err("nobody is there");
    assert_eq!(down.code(), "proxy");
    network.raw("198.51.100.9:3128", |wire| {
        tokio::spawn(async move {
            let _open = wire;
            std::future::pending::<()>().await;
        });
    });
    let start = tokio::time::Instant::now();
    let silent: ReadError = through.version().await.expect_err("it never answers");
    assert_eq!(start.elapsed().as_secs(), 5);
    assert!(silent.to_string().contains("did not answer within 5 s"), "{silent}");
}
