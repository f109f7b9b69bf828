//! Which addresses are dialled, and which never are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;

use crate::connect::scripted::{
    Authority, Extra, HOST, Names, Network, Step, client_of, dialer, json, kubeconfig,
};
use crate::connect::{ClusterClient, ConnectError, Dialer, ReadError, connect};
use crate::endpoint::EndpointPolicy;

const VERSION: &str = r#"{"major":"1","minor":"36","gitVersion":"v1.36.2","platform":"linux/amd64"}"#;

fn version(_: &crate::connect::scripted::Seen) -> Vec<Step> {
    json(200, VERSION)
}

async fn client(dialer: &Dialer, authority: &Authority) -> ClusterClient {
    let safe = kubeconfig("https://kube.example:6443", authority, EndpointPolicy::Private, &Extra::default());
    connect(&safe, dialer).await.expect("a client")
}

#[tokio::test]
async fn a_good_server_is_read_and_its_connection_kept() {
    let (client, network) = client_of(version).await;
    for _ in 0..3 {
        assert_eq!(client.version().await.expect("an answer").git_version, "v1.36.2");
    }
    assert_eq!(network.dialled(), ["203.0.113.7:6443"], "three reads share one connection");
    let seen = network.seen();
    assert_eq!(seen[0].line, "GET /version");
    assert_eq!(seen[0].header("host"), Some("kube.example:6443"));
    let agent = seen[0].header("user-agent").expect("a user agent");
    assert!(agent.starts_with("muster/") && agent.contains(" (") && agent.ends_with(')'), "{agent}");
}

#[tokio::test]
async fn a_name_that_leads_to_a_forbidden_address_is_never_dialled() {
    for forbidden in ["169.254.169.254", "127.0.0.1", "::1", "::ffff:127.0.0.1", "fd00:ec2::254", "0.0.0.0"] {
        let network = Network::new();
        let authority = Authority::new("kube-ca");
        let dialer = dialer(&network).with_resolver(Names::answering(&[&[forbidden]]));
        let error = client(&dialer, &authority).await.version().await.expect_err(forbidden);
        assert_eq!(error.code(), "address_refused", "{forbidden}: {error}");
        assert!(network.dialled().is_empty(), "{forbidden} must not be dialled");
    }
}

#[tokio::test]
async fn one_forbidden_address_among_good_ones_spoils_the_name() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    let names = Names::answering(&[&["203.0.113.7", "127.0.0.1"]]);
    let error = client(&dialer(&network).with_resolver(names), &authority)
        .await
        .version()
        .await
        .expect_err("spoiled");
    assert_eq!(error.code(), "address_refused");
    assert!(network.dialled().is_empty(), "not even the good address is dialled");
}

#[tokio::test]
async fn the_address_that_was_judged_is_the_one_that_is_dialled() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    network.serve("127.0.0.1:6443", authority.server(&[HOST]), version);
    // A rebinding resolver: public at the first look, this computer at every later one.
    let names = Names::answering(&[&["203.0.113.7"], &["127.0.0.1"]]);
    let dialer = dialer(&network).with_resolver(names.clone());
    client(&dialer, &authority).await.version().await.expect("an answer");
    assert_eq!(names.asked(), 1, "there is no second look-up between judging and dialling");
    assert_eq!(network.dialled(), ["203.0.113.7:6443"]);
}

#[tokio::test]
async fn a_new_connection_is_judged_anew() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), |_| {
        let mut steps = json(200, VERSION);
        steps.push(Step::Close);
        steps
    });
    let names = Names::answering(&[&["203.0.113.7"], &["169.254.169.254"]]);
    let client = client(&dialer(&network).with_resolver(names), &authority).await;
    client.version().await.expect("an answer");
    let error = client.version().await.expect_err("the name moved");
    assert_eq!(error.code(), "address_refused");
    assert_eq!(network.dialled(), ["203.0.113.7:6443"]);
}

#[tokio::test]
async fn a_literal_address_outside_the_policy_is_refused_before_the_client_exists() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    // The gate of another deployment let it pass; this one's policy is tighter.
    let safe = kubeconfig("https://127.0.0.1:6443", &authority, EndpointPolicy::Any, &Extra::default());
    let error = connect(&safe, &dialer(&network)).await.expect_err("outside the policy");
    assert_eq!(error.code(), "address_refused");
    assert!(network.dialled().is_empty());
}

#[tokio::test]
async fn under_the_private_policy_a_real_listener_on_this_computer_sees_nobody() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let arrivals = Arc::new(AtomicUsize::new(0));
    let counter = arrivals.clone();
    let accepting = tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    let authority = Authority::new("kube-ca");
    let server = format!("https://kube.example:{port}");
    let safe = kubeconfig(&server, &authority, EndpointPolicy::Private, &Extra::default());
    let names = Names::answering(&[&["127.0.0.1"]]);
    let dial = |policy| Dialer::new(policy).with_resolver(names.clone());

    let error = connect(&safe, &dial(EndpointPolicy::Private)).await.expect("a client").version().await;
    assert_eq!(error.expect_err("loopback").code(), "address_refused");
    assert_eq!(arrivals.load(Ordering::SeqCst), 0, "no connection reached the listener");

    // The same dial under the wide policy does arrive, so the count above means something.
    let allowed = connect(&safe, &dial(EndpointPolicy::Any)).await.expect("a client");
    let reading = tokio::spawn(async move { allowed.version().await });
    while arrivals.load(Ordering::SeqCst) == 0 {
        assert!(!reading.is_finished(), "nobody arrived");
        tokio::task::yield_now().await;
    }
    reading.abort();
    accepting.abort();
}

#[tokio::test(start_paused = true)]
async fn a_dead_first_address_costs_three_tenths_of_a_second() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.black_hole("[2001:db8::7]:6443");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), version);
    let names = Names::answering(&[&["2001:db8::7", "203.0.113.7"]]);
    let client = client(&dialer(&network).with_resolver(names), &authority).await;
    let start = tokio::time::Instant::now();
    client.version().await.expect("the other family answers");
    assert_eq!(start.elapsed().as_millis(), 300, "RFC 8305's stagger");
    assert_eq!(network.dialled(), ["[2001:db8::7]:6443", "203.0.113.7:6443"]);
}

#[tokio::test]
async fn an_ipv6_literal_server_works() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("[2001:db8::7]:6443", authority.server(&["2001:db8::7"]), version);
    let safe =
        kubeconfig("https://[2001:db8::7]:6443", &authority, EndpointPolicy::Private, &Extra::default());
    let client = connect(&safe, &dialer(&network)).await.expect("a client");
    client.version().await.expect("an answer");
    assert_eq!(client.server(), "[2001:db8::7]:6443");
    assert_eq!(network.seen()[0].header("host"), Some("[2001:db8::7]:6443"));
}

#[tokio::test]
async fn refused_and_unknown_names_are_told_apart() {
    let authority = Authority::new("kube-ca");
    let network = Network::new();
    let refused = client(&dialer(&network), &authority).await.version().await.expect_err("nobody is there");
    assert_eq!(refused, ReadError::Connect(ConnectError::Refused { server: "kube.example:6443".into() }));
    let nameless = dialer(&network).with_resolver(Names::answering(&[]));
    let unknown = client(&nameless, &authority).await.version().await.expect_err("no such name");
    assert_eq!(unknown.code(), "dns");
    let empty = dialer(&network).with_resolver(Names::answering(&[&[]]));
    assert_eq!(client(&empty, &authority).await.version().await.expect_err("no address").code(), "dns");
}

#[tokio::test]
async fn the_path_of_the_server_address_stands_before_every_request() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:443", authority.server(&[HOST]), version);
    let server = "https://kube.example/k8s/clusters/c-m-x1/";
    let safe = kubeconfig(server, &authority, EndpointPolicy::Private, &Extra::default());
    connect(&safe, &dialer(&network)).await.expect("a client").version().await.expect("an answer");
    assert_eq!(network.seen()[0].line, "GET /k8s/clusters/c-m-x1/version");
}
