//! The KMS answers as OpenBao does: what is absent, deleted, destroyed, denied and misrouted are told apart.

use muster_testkit::kms::KmsFault;
use muster_testkit::{DemoOptions, DemoOrg};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

const PATH: &str = "orgs/orchard/k8s/clusters/oak/kubeconfig";

struct Caller {
    demo: DemoOrg,
    client: Client,
    token: String,
}

impl Caller {
    async fn of(org: &str) -> Self {
        let demo = DemoOrg::start(DemoOptions::default()).await.expect("the demo starts");
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client");
        let mut caller = Self { demo, client, token: String::new() };
        let jwt = caller.jwt(&json!({"aud": "kms", "sub": "ada", "exp": 4_000_000_000_i64, "orgs": [org]}));
        let (status, body) = caller.login(&format!("muster-{org}"), &jwt).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        caller.token = body["auth"]["client_token"].as_str().expect("a token").to_owned();
        caller
    }

    fn jwt(&self, claims: &Value) -> String {
        self.demo.sign(claims.as_object().expect("claims")).expect("it signs")
    }

    async fn login(&self, role: &str, jwt: &str) -> (StatusCode, Value) {
        self.ask(Method::POST, "auth/jwt/login", Some(json!({"role": role, "jwt": jwt}))).await
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let url = format!("{}/v1/{path}", self.demo.kms_url());
        let mut request = self.client.request(method, url).header("x-vault-token", &self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.expect("an answer");
        (answer.status(), answer.json().await.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.ask(Method::GET, path, None).await
    }

    async fn put(&self, value: &str, cas: u64) -> (StatusCode, Value) {
        let body = json!({"data": {"value": value}, "options": {"cas": cas}});
        self.ask(Method::POST, &format!("kv/data/{PATH}"), Some(body)).await
    }
}

#[tokio::test]
async fn an_absent_secret_is_a_404_without_errors_and_a_deleted_one_carries_its_metadata() {
    let kms = Caller::of("orchard").await;
    let data = format!("kv/data/{PATH}");
    assert_eq!(kms.get(&data).await, (StatusCode::NOT_FOUND, json!({"errors": []})));
    assert_eq!(kms.put("one", 0).await.0, StatusCode::OK);
    assert_eq!(kms.ask(Method::DELETE, &data, None).await.0, StatusCode::NO_CONTENT);
    let (status, body) = kms.get(&data).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(body["data"]["data"].is_null() && body["errors"].is_null(), "{body}");
    assert_ne!(body["data"]["metadata"]["deletion_time"], "", "{body}");
    assert_eq!(kms.demo.kms().versions(PATH), 1, "a soft delete leaves the value where undelete finds it");
    let undelete =
        kms.ask(Method::POST, &format!("kv/undelete/{PATH}"), Some(json!({"versions": [1]}))).await;
    assert_eq!(undelete.0, StatusCode::NO_CONTENT);
    assert_eq!(kms.get(&data).await.1["data"]["data"]["value"], "one");
}

#[tokio::test]
async fn a_purge_leaves_no_version_and_is_idempotent() {
    let kms = Caller::of("orchard").await;
    kms.put("one", 0).await;
    kms.put("two", 1).await;
    assert_eq!(kms.get(&format!("kv/data/{PATH}?version=1")).await.1["data"]["data"]["value"], "one");
    for time in ["first", "second"] {
        let (status, _) = kms.ask(Method::DELETE, &format!("kv/metadata/{PATH}"), None).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "the {time} time");
    }
    assert_eq!(kms.demo.kms().versions(PATH), 0);
    assert_eq!(kms.get(&format!("kv/data/{PATH}?version=1")).await.1, json!({"errors": []}));
}

#[tokio::test]
async fn a_destroyed_version_is_gone_and_the_other_stays() {
    let kms = Caller::of("orchard").await;
    kms.put("one", 0).await;
    kms.put("two", 1).await;
    kms.ask(Method::PUT, &format!("kv/destroy/{PATH}"), Some(json!({"versions": [1]}))).await;
    assert_eq!(kms.get(&format!("kv/data/{PATH}?version=1")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(kms.get(&format!("kv/data/{PATH}")).await.1["data"]["data"]["value"], "two");
    assert_eq!(kms.demo.kms().versions(PATH), 1);
}

#[tokio::test]
async fn a_write_against_another_version_is_refused_also_after_a_soft_delete() {
    let kms = Caller::of("orchard").await;
    let mismatch = json!({"errors": ["check-and-set parameter did not match the current version"]});
    assert_eq!(kms.put("one", 0).await.1["data"]["version"], 1);
    assert_eq!(kms.put("again", 0).await, (StatusCode::BAD_REQUEST, mismatch.clone()));
    kms.ask(Method::DELETE, &format!("kv/data/{PATH}"), None).await;
    assert_eq!(kms.put("two", 0).await, (StatusCode::BAD_REQUEST, mismatch), "0 is not right after a delete");
    assert_eq!(kms.put("two", 1).await.1["data"]["version"], 2);
}

#[tokio::test]
async fn another_orgs_paths_are_denied_by_policy_and_a_dead_token_by_its_own_words() {
    let mut kms = Caller::of("harbor").await;
    let by_policy = json!({"errors": ["1 error occurred:\n\t* permission denied\n\n"]});
    for path in ["kv/data/orgs/orchard/k8s/clusters", "kv/metadata/orgs/orchard/k8s?list=true"] {
        assert_eq!(kms.get(path).await, (StatusCode::FORBIDDEN, by_policy.clone()), "{path}");
    }
    assert_eq!(kms.ask(Method::POST, "auth/token/revoke-self", None).await.0, StatusCode::NO_CONTENT);
    let dead = json!({"errors": ["permission denied"]});
    assert_eq!(
        kms.get("kv/data/orgs/harbor/k8s/clusters").await,
        (StatusCode::FORBIDDEN, dead.clone()),
        "a revoked token"
    );
    kms.token = "hvs.never-issued".into();
    assert_eq!(kms.get("auth/token/lookup-self").await, (StatusCode::FORBIDDEN, dead));
}

#[tokio::test]
async fn an_odd_path_is_answered_with_a_redirect_that_a_client_must_not_follow() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let kms = Caller::of("harbor").await;
    let address = kms.demo.kms_url().trim_start_matches("http://").to_owned();
    for path in ["/v1/kv/data/orgs/harbor/k8s/../../orchard/k8s/clusters", "/v1/kv/data//orgs/orchard"] {
        // Written by hand: an HTTP client would clean the path before it left.
        let mut stream = tokio::net::TcpStream::connect(&address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("it is answered");
        assert!(answer.starts_with("HTTP/1.1 307 "), "{path}: {answer}");
        assert!(answer.contains("location: /v1/kv/data/orgs/orchard"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_login_is_refused_for_another_org_another_audience_and_a_forged_token() {
    let kms = Caller::of("orchard").await;
    let claims =
        |aud: &str, exp: i64| kms.jwt(&json!({"aud": aud, "sub": "ada", "exp": exp, "orgs": ["orchard"]}));
    let good = claims("kms", 4_000_000_000);
    let forged = format!("{}x", &good[..good.len() - 1]);
    for (role, jwt, word) in [
        ("muster-harbor", good.as_str(), "bound claim"),
        ("muster-orchard", &claims("muster-demo", 4_000_000_000), "audience"),
        ("muster-orchard", &claims("kms", 1), "expired"),
        ("muster-orchard", &forged, "signature"),
        ("root", &good, "could not be found"),
    ] {
        let (status, body) = kms.login(role, jwt).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{role}: {body}");
        assert!(body["errors"][0].as_str().is_some_and(|text| text.contains(word)), "{role}: {body}");
    }
}

#[tokio::test]
async fn a_directory_is_listed_and_an_empty_one_is_absent() {
    let kms = Caller::of("orchard").await;
    let (status, body) = kms.get("kv/metadata/orgs/orchard/k8s/clusters?list=true").await;
    assert_eq!(status, StatusCode::OK);
    let keys = body["data"]["keys"].as_array().expect("keys");
    assert!(keys.contains(&json!("lattice/")) && keys.contains(&json!("faraway/")), "{body}");
    let (status, body) = kms.get("kv/metadata/orgs/orchard/k8s/nothing?list=true").await;
    assert_eq!((status, body), (StatusCode::NOT_FOUND, json!({"errors": []})));
}

#[tokio::test]
async fn faults_answer_as_servers_that_are_ill_and_writes_may_have_been_applied() {
    let kms = Caller::of("orchard").await;
    let data = format!("kv/data/{PATH}");
    kms.demo.set_kms_fault(KmsFault::Sealed);
    assert_eq!(
        kms.get(&data).await,
        (StatusCode::SERVICE_UNAVAILABLE, json!({"errors": ["Vault is sealed"]}))
    );
    assert_eq!(kms.get("sys/health").await.1["sealed"], true, "health answers while sealed");
    kms.demo.set_kms_fault(KmsFault::LostAnswers);
    assert_eq!(kms.put("one", 0).await.0, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(kms.demo.kms().versions(PATH), 1, "the write was applied");
    kms.demo.set_kms_fault(KmsFault::Silent);
    let applied = async {
        while kms.demo.kms().versions(PATH) < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        answer = kms.put("two", 1) => panic!("a silent server answered {answer:?}"),
        () = applied => {}
    }
    kms.demo.set_kms_fault(KmsFault::None);
    assert_eq!(kms.get(&data).await.1["data"]["data"]["value"], "two", "and yet it was applied");
}
