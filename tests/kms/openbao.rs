//! A real OpenBao: the contract, and what only a real server has to offer.

use muster_core::kms::vault::{Vault, VaultConfig};
use muster_core::kms::{Cas, Expect, IdentityTokens, Kms, KmsError, Purged, SecretRef, Version};
use muster_core::registry::ClusterName;
use reqwest::Method;
use serde_json::{Value, json};

use crate::bao::Bao;
use crate::contract::hold_contract;
use crate::identity::{Always, Issuer};
use crate::under_test::{KmsUnderTest, org};

hold_contract!(crate::bao::Bao::start());

fn index() -> SecretRef {
    SecretRef::index(&org("acme"))
}

fn with(bao: &Bao, config: VaultConfig) -> Vault {
    Vault::new(&config, org("acme"), bao.identity("acme"), bao.clock()).unwrap()
}

#[tokio::test]
async fn the_table_of_404_is_as_the_client_reads_it() {
    let Some(bao) = Bao::start().await else { return };
    let token = bao.member_token("acme").await;
    let get = async |path: &str| bao.request(None, &token, Method::GET, path, Value::Null).await;
    assert_eq!(get("kv/data/orgs/acme/k8s/nothing").await, (404, json!({"errors": []})), "absent");
    let (status, body) = get("nothing-mounted/data/x").await;
    assert_eq!(status, 404);
    assert!(body["errors"][0].as_str().unwrap().starts_with("no handler for route"), "{body}");
    let (status, body) = bao.request(Some("nope"), &token, Method::GET, "kv/data/x", Value::Null).await;
    assert_eq!((status, body), (404, json!({"errors": ["namespace not found"]})));
    let (status, body) =
        bao.request(None, "root", Method::GET, "kv/orgs/acme/k8s/clusters", Value::Null).await;
    assert_eq!(status, 404);
    assert!(body["warnings"][0].as_str().unwrap().contains("Invalid path for a versioned K/V"), "{body}");
}

#[tokio::test]
async fn the_table_of_403_is_as_the_client_reads_it() {
    let Some(bao) = Bao::start().await else { return };
    let token = bao.member_token("acme").await;
    let get = async |token: &str, path: &str| bao.request(None, token, Method::GET, path, Value::Null).await;
    for dead in ["", "no-such-token"] {
        let (status, body) = get(dead, "kv/data/orgs/acme/k8s/clusters").await;
        assert_eq!((status, body), (403, json!({"errors": ["permission denied"]})), "{dead:?}");
        assert_eq!(get(dead, "auth/token/lookup-self").await.0, 403);
    }
    assert_eq!(
        get(&token, "kv/data/orgs/zoo/k8s/clusters").await.0,
        403,
        "the KMS refuses a foreign org by itself"
    );
    assert_eq!(get(&token, "auth/token/lookup-self").await.0, 200, "and the token lives");
}

#[tokio::test]
async fn the_kms_refuses_every_path_into_another_org_by_itself() {
    let Some(bao) = Bao::start().await else { return };
    let zoo = SecretRef::index(&org("zoo"));
    bao.client("zoo").put(&zoo, b"[]", Expect::Any).await.unwrap();
    let token = bao.member_token("acme").await;
    for path in ["data", "metadata"] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let (status, _) = bao
                .request(None, &token, method.clone(), &format!("kv/{path}/{zoo}"), json!({"data": {}}))
                .await;
            assert_eq!(status, 403, "{method} {path}");
        }
    }
    assert_eq!(bao.readable_versions(&zoo).await, 1);
}

#[tokio::test]
async fn a_denial_of_a_living_token_is_forbidden() {
    let Some(bao) = Bao::start().await else { return };
    let writer = bao.client("acme");
    writer.put(&index(), b"[]", Expect::Any).await.unwrap();
    let reader = with(&bao, VaultConfig { role: "readers-acme".into(), ..bao.config() });
    assert_eq!(reader.get(&index()).await.unwrap().unwrap().bytes.as_slice(), b"[]");
    let denied = reader.put(&index(), b"[1]", Expect::Any).await.unwrap_err();
    assert!(matches!(denied, KmsError::Forbidden { .. }), "{denied}");
    let denied = reader.purge(&index()).await.unwrap_err();
    assert!(matches!(denied, KmsError::Forbidden { .. }), "{denied}");
    assert_eq!(reader.whoami().await.unwrap().can_write, Some(false), "and the person is told beforehand");
    assert_eq!(writer.whoami().await.unwrap().can_write, Some(true));
}

#[tokio::test]
async fn a_document_that_somebody_deleted_softly_is_absent_and_can_be_created_anew() {
    let Some(bao) = Bao::start().await else { return };
    let kms = bao.client("acme");
    for text in ["one", "two"] {
        kms.put(&index(), text.as_bytes(), Expect::Any).await.unwrap();
    }
    bao.operate(Method::DELETE, &format!("kv/data/{}", index()), Value::Null).await;
    assert!(kms.get(&index()).await.unwrap().is_none());
    assert_eq!(kms.put(&index(), b"three", Expect::Absent).await, Ok(Version(3)), "the numbering goes on");
    bao.operate(Method::DELETE, &format!("kv/data/{}", index()), Value::Null).await;
    assert_eq!(kms.purge(&index()).await, Ok(Purged::Gone), "what is only deleted softly is purged");
    assert_eq!(bao.readable_versions(&index()).await, 0);
}

#[tokio::test]
async fn a_mount_that_requires_compare_and_set_takes_every_kind_of_write() {
    let Some(bao) = Bao::start().await else { return };
    bao.operate(Method::POST, "kv/config", json!({"cas_required": true})).await;
    let kms = bao.client("acme");
    assert_eq!(kms.put(&index(), b"one", Expect::Any).await, Ok(Version(1)));
    assert_eq!(kms.put(&index(), b"two", Expect::Any).await, Ok(Version(2)));
    bao.operate(Method::DELETE, &format!("kv/data/{}", index()), Value::Null).await;
    assert_eq!(kms.put(&index(), b"three", Expect::Any).await, Ok(Version(3)));
}

#[tokio::test]
async fn a_mount_that_keeps_one_version_forgets_a_rotated_credential_at_once() {
    let Some(bao) = Bao::start().await else { return };
    bao.operate(Method::POST, "kv/config", json!({"max_versions": 1})).await;
    let kms = bao.client("acme");
    for text in ["one", "two"] {
        kms.put(&index(), text.as_bytes(), Expect::Any).await.unwrap();
    }
    assert_eq!(bao.readable_versions(&index()).await, 1);
}

#[tokio::test]
async fn a_mount_of_version_one_works_without_compare_and_set() {
    let Some(mut bao) = Bao::start().await else { return };
    bao.mount = "kv1".into();
    let kms = bao.client("acme");
    assert_eq!(kms.caps().await.unwrap().cas, Cas::Verify);
    assert!(kms.get(&index()).await.unwrap().is_none());
    let first = kms.put(&index(), b"one", Expect::Absent).await.unwrap();
    let found = kms.get(&index()).await.unwrap().unwrap();
    assert_eq!((found.bytes.as_slice(), found.version), (&b"one"[..], first));
    assert!(matches!(kms.put(&index(), b"x", Expect::Absent).await, Err(KmsError::Conflict { .. })));
    kms.put(&index(), b"two", Expect::Version(first)).await.unwrap();
    assert!(matches!(kms.put(&index(), b"x", Expect::Version(first)).await, Err(KmsError::Conflict { .. })));
    assert_eq!(kms.purge(&index()).await, Ok(Purged::Gone));
    assert_eq!(kms.purge(&index()).await, Ok(Purged::WasAbsent));
    let (status, _) = bao.request(None, "root", Method::GET, &format!("kv1/{}", index()), Value::Null).await;
    assert_eq!(status, 404, "the operator finds nothing at the place of version one");
}

#[tokio::test]
async fn a_namespace_is_another_world() {
    let Some(mut bao) = Bao::start().await else { return };
    bao.operate(Method::POST, "sys/namespaces/team", Value::Null).await;
    bao.set_up(Some("team")).await;
    let outside = bao.client("acme");
    bao.namespace = Some("team".into());
    let inside = bao.client("acme");
    inside.put(&index(), b"inside", Expect::Absent).await.unwrap();
    assert_eq!(inside.get(&index()).await.unwrap().unwrap().bytes.as_slice(), b"inside");
    assert!(outside.get(&index()).await.unwrap().is_none());
    let wrong = with(&bao, VaultConfig { namespace: Some("nope".into()), ..bao.config() });
    let answer = wrong.get(&index()).await.err().unwrap();
    assert!(matches!(answer, KmsError::Misconfigured { .. }), "{answer}");
}

#[tokio::test]
async fn a_wrong_sign_in_method_is_misconfigured() {
    let Some(bao) = Bao::start().await else { return };
    let kms = with(&bao, VaultConfig { auth_mount: "nope".into(), ..bao.config() });
    let answer = kms.get(&index()).await.err().unwrap();
    assert!(matches!(answer, KmsError::Misconfigured { .. }), "{answer}");
}

#[tokio::test]
async fn a_forged_identity_is_not_signed_in() {
    let Some(bao) = Bao::start().await else { return };
    let unsigned = {
        let real = bao.issuer.token("alice", "acme");
        let mut parts = real.split('.');
        let (header, claims) = (parts.next().unwrap(), parts.next().unwrap());
        format!("{header}.{claims}.")
    };
    for forged in [Issuer::new().token("alice", "acme"), unsigned, "not a token".into()] {
        let identity: std::sync::Arc<dyn IdentityTokens> = std::sync::Arc::new(Always(forged));
        let kms = Vault::new(&bao.config(), org("acme"), identity, bao.clock()).unwrap();
        let answer = kms.get(&index()).await.err().unwrap();
        assert!(matches!(answer, KmsError::Unauthenticated { .. }), "{answer}");
    }
}

#[tokio::test]
async fn a_session_that_names_another_org_leaves_no_token_behind() {
    let Some(bao) = Bao::start().await else { return };
    crate::contract::a_login_that_names_another_org_is_refused(&bao).await;
    let accessors =
        bao.operate(Method::from_bytes(b"LIST").unwrap(), "auth/token/accessors", Value::Null).await;
    let left = accessors["data"]["keys"].as_array().unwrap().len();
    assert_eq!(left, 1, "only the operator's: {accessors}");
}

#[tokio::test]
async fn closing_revokes_the_token() {
    let Some(bao) = Bao::start().await else { return };
    let kms = bao.client("acme");
    kms.put(&index(), b"[]", Expect::Any).await.unwrap();
    kms.close().await;
    let accessors =
        bao.operate(Method::from_bytes(b"LIST").unwrap(), "auth/token/accessors", Value::Null).await;
    assert_eq!(accessors["data"]["keys"].as_array().unwrap().len(), 1, "only the operator's: {accessors}");
}

#[tokio::test]
async fn twenty_calls_at_once_log_in_once() {
    let Some(bao) = Bao::start().await else { return };
    let kms = std::sync::Arc::new(bao.client("acme"));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let kms = kms.clone();
            tokio::spawn(async move { kms.get(&index()).await.map(|found| found.is_none()) })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(true));
    }
    let accessors =
        bao.operate(Method::from_bytes(b"LIST").unwrap(), "auth/token/accessors", Value::Null).await;
    assert_eq!(accessors["data"]["keys"].as_array().unwrap().len(), 2, "the operator's and one: {accessors}");
}

#[tokio::test]
async fn only_the_ca_of_the_deployment_is_trusted() {
    let Some((bao, ca)) = Bao::start_with_tls().await else { return };
    let trusting = with(&bao, VaultConfig { ca_pem: Some(ca), ..bao.config() });
    assert!(trusting.get(&index()).await.unwrap().is_none());
    let stranger = rcgen::generate_simple_self_signed(vec!["somebody-else".into()]).unwrap().cert.pem();
    for ca_pem in [None, Some(stranger)] {
        let kms = with(&bao, VaultConfig { ca_pem, ..bao.config() });
        let answer = kms.get(&index()).await.err().unwrap();
        assert!(matches!(answer, KmsError::Tls { .. }), "{answer}");
    }
}

#[tokio::test]
async fn paths_with_dots_or_double_slashes_are_redirected_by_the_server_and_cannot_be_written_by_the_client()
{
    let Some(bao) = Bao::start().await else { return };
    let url = bao.config().url;
    // What makes the guard needed: the server itself answers such a path with the way into the other org. Sent by
    // hand, since no HTTP library keeps `..` in a path.
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut socket =
        tokio::net::TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await.unwrap();
    let request = "GET /v1/kv/data/orgs/acme/k8s/../../zoo/k8s/clusters HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
    assert!(answer.contains("/v1/kv/data/orgs/zoo/k8s/clusters"), "{answer}");
    // What makes it impossible: no name with a dot or a slash becomes a ref.
    for name in ["..", "../..", "a/../../b", "a//b", ".", "a/"] {
        assert!(
            ClusterName::parse(name).is_err() && muster_core::tenant::Org::parse(name).is_err(),
            "{name}"
        );
    }
}
