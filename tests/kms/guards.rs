//! The client's guards, against servers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use muster_core::clock::Clock;
use muster_core::kms::vault::{Vault, VaultConfig};
use muster_core::kms::{Expect, Kms, KmsError, SecretRef};
use serde_json::json;

use crate::identity::Always;
use crate::scripted::{Asked, Scripted, Told};
use crate::under_test::org;

#[derive(Clone, Default)]
struct HandClock(Arc<AtomicI64>);

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.0.load(Ordering::SeqCst)).unwrap()
    }
}

fn index() -> SecretRef {
    SecretRef::index(&org("acme"))
}

fn config(server: &Scripted) -> VaultConfig {
    VaultConfig {
        url: server.url.parse().unwrap(),
        mount: "kv".into(),
        auth_mount: "jwt".into(),
        role: "muster".into(),
        namespace: None,
        ca_pem: None,
    }
}

fn client_with(server: &Scripted, clock: &HandClock, deadline: Duration) -> Vault {
    let identity = Arc::new(Always("canary-identity".into()));
    Vault::with_deadline(&config(server), org("acme"), identity, Arc::new(clock.clone()), deadline).unwrap()
}

fn client(server: &Scripted) -> Vault {
    client_with(server, &HandClock::default(), Duration::from_secs(10))
}

/// A Vault that works, but for what the script says otherwise.
async fn vault(script: impl Fn(&Asked) -> Option<Option<Told>> + Send + Sync + 'static) -> Scripted {
    Scripted::start(move |asked| {
        script(asked).unwrap_or_else(|| {
            Some(match asked.path.as_str() {
                "/v1/auth/jwt/login" => Told::login("token", "acme", 900),
                "/v1/auth/token/lookup-self" => Told::json(200, &json!({"data": {"meta": {"org": "acme"}}})),
                path if path.starts_with("/v1/sys/internal/ui/mounts/") => Told::mount(),
                _ => Told::absent(),
            })
        })
    })
    .await
}

#[tokio::test]
async fn a_redirect_is_never_followed_whatever_is_asked() {
    let elsewhere = Scripted::start(|_| Some(Told::login("stolen", "acme", 900))).await;
    for status in [301, 302, 303, 307, 308] {
        for hop in
            ["/v1/auth/jwt/login", "/v1/sys/internal/ui/mounts/kv", "/v1/kv/data/orgs/acme/k8s/clusters"]
        {
            let location = format!("{}/v1/kv/data/orgs/zoo/k8s/clusters", elsewhere.url);
            let server = vault(move |asked| {
                (asked.path == hop).then(|| {
                    Some(Told {
                        status,
                        header: Some(("location", location.clone())),
                        body: bytes::Bytes::new(),
                    })
                })
            })
            .await;
            let kms = client(&server);
            for answer in [kms.get(&index()).await.err(), kms.put(&index(), b"x", Expect::Any).await.err()] {
                assert!(matches!(answer, Some(KmsError::Protocol { .. })), "{status} at {hop}: {answer:?}");
            }
        }
    }
    assert_eq!(elsewhere.asked().len(), 0, "nobody came, so no token left the server it was for");
}

#[tokio::test]
async fn a_redirect_to_another_path_of_the_same_server_is_not_followed_either() {
    let server = vault(|asked| {
        (asked.path == "/v1/kv/data/orgs/acme/k8s/clusters").then(|| {
            let header = Some(("location", "/v1/kv/data/orgs/zoo/k8s/clusters".to_owned()));
            Some(Told { status: 307, header, body: bytes::Bytes::new() })
        })
    })
    .await;
    assert!(client(&server).get(&index()).await.is_err());
    assert!(server.asked().iter().all(|asked| !asked.path.contains("zoo")), "{:?}", server.asked());
}

#[tokio::test]
async fn an_answer_over_two_mebibytes_is_cut_off() {
    let server = vault(|asked| {
        asked.path.starts_with("/v1/kv/data").then(|| {
            let value = "a".repeat(2 * 1024 * 1024);
            Some(Told::json(200, &json!({"data": {"data": {"value": value}, "metadata": {"version": 1}}})))
        })
    })
    .await;
    let answer = client(&server).get(&index()).await.err();
    assert!(matches!(answer, Some(KmsError::Protocol { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_at_the_deadline() {
    let server = vault(|asked| asked.path.starts_with("/v1/kv/data").then_some(None)).await;
    let kms = client_with(&server, &HandClock::default(), Duration::from_millis(200));
    let answer = kms.get(&index()).await.err();
    assert!(matches!(answer, Some(KmsError::Unavailable { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let server = vault(|_| None).await;
    let kms = client(&server);
    drop(server);
    tokio::task::yield_now().await;
    let answer = kms.get(&index()).await.err();
    assert!(matches!(answer, Some(KmsError::Unavailable { .. })), "{answer:?}");
}

#[tokio::test]
async fn a_ref_of_another_org_is_refused_before_anything_is_sent() {
    let server = vault(|_| None).await;
    let kms = client(&server);
    let foreign = SecretRef::index(&org("zoo"));
    let refused = KmsError::WrongOrg { named: "zoo".into(), expected: org("acme") };
    assert_eq!(kms.get(&foreign).await.err(), Some(refused.clone()));
    assert_eq!(kms.put(&foreign, b"x", Expect::Any).await, Err(refused.clone()));
    assert_eq!(kms.purge(&foreign).await, Err(refused));
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_login_that_names_another_org_or_none_is_refused_and_its_token_revoked() {
    for metadata in
        [json!({"org": "zoo"}), json!({"org": "ACME"}), json!({"org": ""}), json!({}), json!(null)]
    {
        let named = metadata.clone();
        let server = vault(move |asked| {
            (asked.path == "/v1/auth/jwt/login").then(|| {
                let auth = json!({"client_token": "token", "lease_duration": 900, "renewable": true, "metadata": named});
                Some(Told::json(200, &json!({"auth": auth})))
            })
        })
        .await;
        let answer = client(&server).get(&index()).await.err().unwrap();
        assert!(
            matches!(answer, KmsError::WrongOrg { .. } | KmsError::Misconfigured { .. }),
            "{metadata}: {answer}"
        );
        let asked = server.asked();
        let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
        assert_eq!(
            paths,
            ["/v1/auth/jwt/login", "/v1/auth/token/revoke-self"],
            "{metadata}: nothing else is asked"
        );
        assert_eq!(asked[1].token.as_deref(), Some("token"));
    }
}

#[tokio::test]
async fn a_renewal_that_names_another_org_is_not_used() {
    let server = vault(|asked| {
        (asked.path == "/v1/auth/token/renew-self").then(|| Some(Told::login("token", "zoo", 900)))
    })
    .await;
    let clock = HandClock::default();
    let kms = client_with(&server, &clock, Duration::from_secs(10));
    assert!(kms.get(&index()).await.unwrap().is_none());
    clock.0.fetch_add(600, Ordering::SeqCst);
    assert!(kms.get(&index()).await.unwrap().is_none());
    assert_eq!(server.count("/v1/auth/jwt/login"), 2, "it logs in anew, and that is checked again");
}

#[tokio::test]
async fn a_token_is_renewed_after_two_thirds_of_its_life_and_replaced_after_all_of_it() {
    let server = vault(|asked| {
        (asked.path == "/v1/auth/token/renew-self").then(|| Some(Told::login("token", "acme", 900)))
    })
    .await;
    let clock = HandClock::default();
    let kms = client_with(&server, &clock, Duration::from_secs(10));
    let counts = || (server.count("/v1/auth/jwt/login"), server.count("/v1/auth/token/renew-self"));
    assert_eq!(counts(), (0, 0), "nobody logs in before there is a need");
    for (passed, expected) in
        [(0, (1, 0)), (599, (1, 0)), (1, (1, 1)), (599, (1, 1)), (1, (1, 2)), (900, (2, 2))]
    {
        clock.0.fetch_add(passed, Ordering::SeqCst);
        assert!(kms.get(&index()).await.unwrap().is_none());
        assert_eq!(counts(), expected, "after {passed} s more");
    }
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_replaced_by_a_login() {
    let server = vault(|asked| {
        (asked.path == "/v1/auth/token/renew-self")
            .then(|| Some(Told::json(500, &json!({"errors": ["past the max TTL, cannot renew"]}))))
    })
    .await;
    let clock = HandClock::default();
    let kms = client_with(&server, &clock, Duration::from_secs(10));
    assert!(kms.get(&index()).await.unwrap().is_none());
    clock.0.fetch_add(600, Ordering::SeqCst);
    assert!(kms.get(&index()).await.unwrap().is_none());
    assert_eq!(server.count("/v1/auth/jwt/login"), 2);
}

#[tokio::test]
async fn a_dead_token_is_replaced_once_and_a_second_denial_is_one() {
    let logins = Arc::new(AtomicUsize::new(0));
    let counted = logins.clone();
    let server = vault(move |asked| match asked.path.as_str() {
        "/v1/auth/jwt/login" => {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            Some(Some(Told::login(&format!("token-{number}"), "acme", 900)))
        }
        "/v1/auth/token/lookup-self" => {
            Some(Some(Told::json(403, &json!({"errors": ["permission denied"]}))))
        }
        path if path.starts_with("/v1/kv/data") => {
            Some(Some(Told::json(403, &json!({"errors": ["permission denied"]}))))
        }
        _ => None,
    })
    .await;
    let answer = client(&server).get(&index()).await.err().unwrap();
    assert!(matches!(answer, KmsError::Forbidden { .. }), "{answer}");
    assert_eq!(
        logins.load(Ordering::SeqCst),
        2,
        "one login for the call, one for the dead token, and no more"
    );
}

#[tokio::test]
async fn a_denial_of_a_living_token_does_not_log_in_again() {
    let server = vault(|asked| {
        asked.path.starts_with("/v1/kv/data").then(|| {
            Some(Told::json(403, &json!({"errors": ["1 error occurred:\n\t* permission denied\n\n"]})))
        })
    })
    .await;
    let answer = client(&server).get(&index()).await.err().unwrap();
    assert!(matches!(answer, KmsError::Forbidden { .. }), "{answer}");
    assert_eq!(server.count("/v1/auth/jwt/login"), 1);
}

#[tokio::test]
async fn a_page_that_is_not_vaults_is_a_protocol_fault_and_never_absent() {
    for status in [200, 400, 403, 404] {
        let server = vault(move |asked| {
            asked.path.starts_with("/v1/kv/data").then(|| {
                let body = bytes::Bytes::from_static(b"<html>Please sign in to the wireless network</html>");
                Some(Told { status, header: None, body })
            })
        })
        .await;
        let answer = client(&server).get(&index()).await.err();
        assert!(matches!(answer, Some(KmsError::Protocol { .. })), "{status}: {answer:?}");
        assert_eq!(server.count("/v1/auth/jwt/login"), 1, "{status}: and no reason to log in again");
    }
}

#[tokio::test]
async fn a_document_without_our_field_is_not_an_empty_one() {
    for data in [json!({}), json!({"value": null}), json!({"kubeconfig": "x"})] {
        let server = vault(move |asked| {
            asked
                .path
                .starts_with("/v1/kv/data")
                .then(|| Some(Told::json(200, &json!({"data": {"data": data, "metadata": {"version": 1}}}))))
        })
        .await;
        let answer = client(&server).get(&index()).await.err();
        assert!(matches!(answer, Some(KmsError::Protocol { .. })), "{answer:?}");
    }
}

#[tokio::test]
async fn the_retry_after_of_a_busy_server_is_handed_on() {
    let server = vault(|asked| {
        asked.path.starts_with("/v1/kv/data").then(|| {
            let header = Some(("retry-after", "7".to_owned()));
            Some(Told { header, ..Told::json(429, &json!({"errors": ["slow down"]})) })
        })
    })
    .await;
    let answer = client(&server).get(&index()).await.err();
    assert_eq!(answer, Some(KmsError::RateLimited { retry_after: Some(Duration::from_secs(7)) }));
}

#[tokio::test]
async fn after_closing_an_answer_that_was_under_way_is_refused_and_the_token_revoked() {
    let (began, go_on) = (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Semaphore::new(0)));
    let began_there = began.clone();
    // The read is answered only after the session was closed: the script of a hyper server cannot wait, so the client
    // is made to wait by the identity provider instead.
    let server = vault(|_| None).await;
    struct Slow(Arc<tokio::sync::Notify>, Arc<tokio::sync::Semaphore>);
    #[async_trait::async_trait]
    impl muster_core::kms::IdentityTokens for Slow {
        async fn current(&self) -> Result<zeroize::Zeroizing<String>, KmsError> {
            self.0.notify_one();
            self.1.acquire().await.unwrap().forget();
            Ok(zeroize::Zeroizing::new("identity".into()))
        }
    }
    let identity = Arc::new(Slow(began_there, go_on.clone()));
    let kms = Arc::new(
        Vault::new(&config(&server), org("acme"), identity, Arc::new(HandClock::default())).unwrap(),
    );
    let call = tokio::spawn({
        let kms = kms.clone();
        async move { kms.get(&index()).await.map(|_| ()) }
    });
    began.notified().await;
    let closing = tokio::spawn({
        let kms = kms.clone();
        async move { kms.close().await }
    });
    tokio::task::yield_now().await;
    go_on.add_permits(1);
    assert_eq!(call.await.unwrap(), Err(KmsError::Closed));
    closing.await.unwrap();
    assert_eq!(
        server.count("/v1/auth/token/revoke-self"),
        1,
        "the token that arrived too late is given back"
    );
    assert!(server.asked().iter().all(|asked| !asked.path.starts_with("/v1/kv")), "{:?}", server.asked());
}

#[tokio::test]
async fn nothing_secret_is_in_an_error() {
    let value = "canary-value";
    for status in [200, 300, 400, 401, 403, 404, 429, 500, 503] {
        let server = vault(move |asked| {
            asked.path.starts_with("/v1/kv/data").then(|| {
                Some(Told::json(status, &json!({"errors": [value], "data": {"value": value, "data": value}})))
            })
        })
        .await;
        let kms = client(&server);
        for error in
            [kms.get(&index()).await.err(), kms.put(&index(), value.as_bytes(), Expect::Any).await.err()]
        {
            let told = format!("{error:?} {}", error.as_ref().map(ToString::to_string).unwrap_or_default());
            assert!(!told.contains("canary"), "{status}: {told}");
        }
        assert!(
            server.asked().iter().any(|asked| asked.method == "POST" && asked.body["data"]["value"] == value)
        );
    }
}

#[tokio::test]
async fn what_the_environment_says_of_proxies_is_not_heard() {
    let proxy = Scripted::start(|_| Some(Told::absent())).await;
    // The environment belongs to the process, so the call is made in one of its own: this very program, told to run
    // one other test.
    let child = tokio::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guards::a_denial_of_a_living_token_does_not_log_in_again"])
        .env("HTTP_PROXY", &proxy.url)
        .env("http_proxy", &proxy.url)
        .env("ALL_PROXY", &proxy.url)
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .await
        .unwrap();
    assert_eq!(proxy.asked().len(), 0, "the proxy was asked");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
}
