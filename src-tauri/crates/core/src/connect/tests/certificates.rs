//! Whom the client believes, and who the client is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::KeyPair;

use crate::connect::scripted::{
    Authority, Extra, HOST, Network, Seen, ServerTls, Step, dialer, json, kubeconfig,
};
use crate::connect::{ConnectError, ReadError, ServerVersion, connect};
use crate::endpoint::EndpointPolicy;

fn version(_: &Seen) -> Vec<Step> {
    json(200, r#"{"gitVersion":"v1.36.2"}"#)
}

async fn read(
    tls: ServerTls,
    authority: &Authority,
    extra: &Extra<'_>,
) -> (Result<ServerVersion, ReadError>, usize) {
    let network = Network::new();
    network.serve("203.0.113.7:6443", tls, version);
    let safe = kubeconfig("https://kube.example:6443", authority, EndpointPolicy::Private, extra);
    let client = connect(&safe, &dialer(&network)).await.expect("a client");
    let outcome = client.version().await;
    (outcome, network.seen().len())
}

fn connect_error(outcome: Result<ServerVersion, ReadError>) -> ConnectError {
    match outcome {
        Err(ReadError::Connect(error)) => error,
        other => panic!("expected a connection fault, got {other:?}"),
    }
}

#[tokio::test]
async fn an_unknown_authority_is_named_and_no_request_is_sent() {
    let (ours, theirs) = (Authority::new("kube-ca"), Authority::new("someone-else"));
    let (outcome, requests) = read(theirs.server(&[HOST]), &ours, &Extra::default()).await;
    assert_eq!(connect_error(outcome).code(), "tls_unknown_ca");
    assert_eq!(requests, 0, "the credential is not sent");
}

#[tokio::test]
async fn an_authority_of_the_same_name_with_another_key_is_unknown_too() {
    let (ours, theirs) = (Authority::new("kube-ca"), Authority::new("kube-ca"));
    let (outcome, requests) = read(theirs.server(&[HOST]), &ours, &Extra::default()).await;
    assert_eq!(connect_error(outcome).code(), "tls_unknown_ca");
    assert_eq!(requests, 0);
}

#[tokio::test]
async fn without_an_authority_of_its_own_a_kubeconfig_trusts_whom_the_operating_system_trusts() {
    let network = Network::new();
    let theirs = Authority::new("someone-else");
    network.serve("203.0.113.7:6443", theirs.server(&[HOST]), version);
    let extra = Extra { without_authority: true, ..Extra::default() };
    let safe = kubeconfig("https://kube.example:6443", &theirs, EndpointPolicy::Private, &extra);
    match connect(&safe, &dialer(&network)).await {
        Ok(client) => assert_eq!(connect_error(client.version().await).code(), "tls_unknown_ca"),
        // A computer without any authority cannot dial at all.
        Err(error) => assert_eq!(error.code(), "kubeconfig_unusable"),
    }
    assert!(network.seen().is_empty(), "the credential is not sent");
}

#[tokio::test]
async fn a_certificate_for_other_names_says_which_names_it_has() {
    let authority = Authority::new("kube-ca");
    let tls = authority.server(&["other.example", "*.wild.example", "10.0.0.1"]);
    let (outcome, requests) = read(tls, &authority, &Extra::default()).await;
    let error = connect_error(outcome);
    assert_eq!(
        error,
        ConnectError::TlsName {
            server: "kube.example:6443".into(),
            expected: HOST.into(),
            presented: vec!["other.example".into(), "*.wild.example".into(), "10.0.0.1".into()],
        }
    );
    assert!(error.to_string().ends_with("it is for other.example, *.wild.example, 10.0.0.1."), "{error}");
    assert_eq!(requests, 0);
}

#[tokio::test]
async fn tls_server_name_is_the_name_that_counts() {
    let authority = Authority::new("kube-ca");
    let extra = Extra { cluster: "tls-server-name: inner.example", ..Extra::default() };
    let (outcome, _) = read(authority.server(&["inner.example"]), &authority, &extra).await;
    outcome.expect("the certificate carries tls-server-name");
    let (outcome, _) = read(authority.server(&[HOST]), &authority, &extra).await;
    assert_eq!(connect_error(outcome).code(), "tls_name", "the host's own name does not do instead");
}

#[tokio::test]
async fn an_expired_certificate_tells_its_date_and_this_computers() {
    let authority = Authority::new("kube-ca");
    let (outcome, requests) =
        read(authority.server_valid(&[HOST], (2020, 2021)), &authority, &Extra::default()).await;
    match connect_error(outcome) {
        ConnectError::TlsExpired { not_after, .. } => {
            assert_eq!(not_after.to_string(), "2021-01-01T00:00:00Z")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(requests, 0);
    let (outcome, _) =
        read(authority.server_valid(&[HOST], (2090, 2091)), &authority, &Extra::default()).await;
    assert_eq!(connect_error(outcome).code(), "tls_not_yet_valid");
}

#[tokio::test]
async fn the_clock_that_certificates_are_judged_by_is_passed_in() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server_valid(&[HOST], (2020, 2021)), version);
    let safe =
        kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Private, &Extra::default());
    let then: jiff::Timestamp = "2020-06-01T00:00:00Z".parse().expect("an instant");
    let dialer = dialer(&network).with_clock(std::sync::Arc::new(move || then));
    connect(&safe, &dialer).await.expect("a client").version().await.expect("valid at that time");
}

#[tokio::test]
async fn what_does_not_speak_tls_is_said_to_be_so() {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.raw("203.0.113.7:6443", |mut wire| {
        tokio::spawn(async move {
            use tokio::io::AsyncWriteExt as _;
            let _ = wire.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\nClient sent plain http").await;
            std::future::pending::<()>().await;
        });
    });
    let safe =
        kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Private, &Extra::default());
    let client = connect(&safe, &dialer(&network)).await.expect("a client");
    let error = client.version().await.expect_err("no TLS");
    assert_eq!(error.code(), "tls");
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
}

/// The inner key of a PKCS#8 document: SEC1 for elliptic curves, PKCS#1 for RSA.
fn inner_key(pkcs8: &[u8]) -> &[u8] {
    fn element(der: &[u8]) -> (&[u8], &[u8]) {
        let (len, start) = match der[1] {
            short @ 0..=0x7f => (usize::from(short), 2),
            0x81 => (usize::from(der[2]), 3),
            _ => (usize::from(der[2]) << 8 | usize::from(der[3]), 4),
        };
        (&der[start..start + len], &der[start + len..])
    }
    let (sequence, _) = element(pkcs8);
    let (_, after_version) = element(sequence);
    let (_, after_algorithm) = element(after_version);
    element(after_algorithm).0
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

#[tokio::test]
async fn client_keys_of_every_form_and_curve_work() {
    let authority = Authority::new("kube-ca");
    let p256 = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key");
    let p521 = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P521_SHA512).expect("a key");
    let rsa = KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).expect("a key");
    let sec1 = pem("EC PRIVATE KEY", inner_key(p256.serialized_der()));
    // The object identifier of P-256, as `openssl ecparam -genkey` writes it before the key.
    let parameters = pem("EC PARAMETERS", &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]);
    let forms = [
        ("P-256, PKCS#8", &p256, p256.serialize_pem()),
        ("P-256, SEC1", &p256, sec1.clone()),
        ("P-256, SEC1 after EC PARAMETERS", &p256, parameters + &sec1),
        ("P-521, PKCS#8", &p521, p521.serialize_pem()),
        ("RSA, PKCS#8", &rsa, rsa.serialize_pem()),
        ("RSA, PKCS#1", &rsa, pem("RSA PRIVATE KEY", inner_key(rsa.serialized_der()))),
    ];
    for (form, key, key_pem) in forms {
        let certificate = authority.issue(&["engineer"], (2020, 2098), key);
        let user = format!(
            "client-certificate-data: {}\n    client-key-data: {}",
            STANDARD.encode(certificate.pem()),
            STANDARD.encode(key_pem)
        );
        let tls = authority.server(&[HOST]).for_clients_of(&authority);
        let (outcome, _) = read(tls, &authority, &Extra { user: &user, ..Extra::default() }).await;
        assert!(outcome.is_ok(), "{form}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_client_certificate_that_the_server_refuses_is_told_apart() {
    let (authority, other) = (Authority::new("kube-ca"), Authority::new("other-ca"));
    let key = KeyPair::generate().expect("a key");
    let certificate = other.issue(&["engineer"], (2020, 2098), &key);
    let user = format!(
        "client-certificate-data: {}\n    client-key-data: {}",
        STANDARD.encode(certificate.pem()),
        STANDARD.encode(key.serialize_pem())
    );
    let tls = authority.server(&[HOST]).for_clients_of(&authority);
    let (outcome, _) = read(tls, &authority, &Extra { user: &user, ..Extra::default() }).await;
    assert_eq!(connect_error(outcome).code(), "tls_client_refused");
}
