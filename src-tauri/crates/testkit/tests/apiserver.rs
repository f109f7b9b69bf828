//! The demo's API servers answer as real ones do: pages, rights, statuses, and every fault that can be switched on.

use std::time::Duration;

use jiff::Timestamp;
use muster_testkit::apiserver::{ApiServer, Authority, Fault, Proof, Rights, User, World};
use muster_testkit::scenario::scale::Scale;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

const NODES: &str = "/api/v1/nodes";

struct Caller {
    server: ApiServer,
    client: Client,
}

fn users() -> Vec<User> {
    let user = |name: &str, token: &str, rights| User {
        name: name.into(),
        proof: Proof::Token(token.into()),
        rights,
    };
    vec![
        user("reader", "all", Rights::ReadAll),
        user("bounded", "some", Rights::Namespaces(vec!["team-0001".into()])),
    ]
}

fn scale() -> Scale {
    Scale { namespaces: 3, ..Scale::real(7, 10, Timestamp::UNIX_EPOCH) }
}

impl Caller {
    async fn large() -> Self {
        let authority = Authority::new("large authority").expect("an authority");
        let server = ApiServer::start_large(authority, "v1.34.2", scale(), users()).await.expect("it starts");
        Self::of(server)
    }

    async fn small(world: World) -> Self {
        let authority = Authority::new("small authority").expect("an authority");
        Self::of(ApiServer::start(authority, "v1.34.2", world, users()).await.expect("it starts"))
    }

    fn of(server: ApiServer) -> Self {
        let root =
            reqwest::Certificate::from_pem(server.authority().pem().as_bytes()).expect("a certificate");
        let client = Client::builder()
            .tls_certs_only([root])
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .expect("a client");
        Self { server, client }
    }

    async fn ask(&self, path: &str, token: &str) -> Response {
        let url = format!("{}{path}", self.server.url());
        self.client.get(url).bearer_auth(token).send().await.expect("an answer")
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let answer = self.ask(path, "all").await;
        (answer.status(), answer.json().await.expect("JSON"))
    }
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_large_list_comes_in_pages_that_together_are_every_object_once() {
    let caller = Caller::large().await;
    let (mut seen, mut token, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let (status, page) = caller.get(&format!("{NODES}?limit=3&continue={token}")).await;
        assert_eq!(status, StatusCode::OK);
        seen.extend(names(&page));
        pages += 1;
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    let expected: Vec<String> = (0..7).map(|at| format!("node-{at:06}")).collect();
    assert_eq!((seen, pages), (expected, 3));
}

#[tokio::test]
async fn a_continue_token_expires_when_the_cluster_has_changed() {
    let caller = Caller::large().await;
    let (_, page) = caller.get(&format!("{NODES}?limit=3")).await;
    let token = page["metadata"]["continue"].as_str().expect("a token");
    caller.server.change(|_| {});
    let (status, body) = caller.get(&format!("{NODES}?limit=3&continue={token}")).await;
    assert_eq!((status, &body["reason"]), (StatusCode::GONE, &json!("Expired")));
}

#[tokio::test]
async fn the_namespaces_of_a_large_cluster_share_its_pods_without_overlap() {
    let caller = Caller::large().await;
    let (_, all) = caller.get("/api/v1/pods").await;
    let mut parts = Vec::new();
    for at in 0..3 {
        let (_, part) = caller.get(&format!("/api/v1/namespaces/team-{at:04}/pods")).await;
        for item in part["items"].as_array().expect("items") {
            assert_eq!(item["metadata"]["namespace"], format!("team-{at:04}"));
        }
        parts.extend(names(&part));
    }
    assert_eq!(names(&all), parts, "pods are listed namespace by namespace");
    assert_eq!(parts.len(), 10);
}

#[test]
fn objects_of_a_large_cluster_are_as_large_as_asked_and_the_same_every_time() {
    let scale = scale();
    for (object, again, least) in
        [(scale.node(2), scale.node(2), scale.node_bytes), (scale.pod(4), scale.pod(4), scale.pod_bytes)]
    {
        let size = object.to_string().len();
        assert!((least..least + 400).contains(&size), "{size} bytes where {least} were asked");
        assert_eq!(object, again);
    }
    assert_ne!(scale.node(1)["metadata"]["uid"], scale.node(2)["metadata"]["uid"]);
}

#[tokio::test]
async fn gzip_is_sent_to_those_who_ask_and_unpacks_to_the_same_list() {
    use std::io::Read as _;
    let caller = Caller::large().await;
    let plain = caller.ask(NODES, "all").await.bytes().await.expect("a body");
    let url = format!("{}{NODES}", caller.server.url());
    let request = caller.client.get(url).bearer_auth("all").header("accept-encoding", "gzip");
    let packed = request.send().await.expect("an answer");
    assert_eq!(packed.headers()["content-encoding"], "gzip");
    let packed = packed.bytes().await.expect("a body");
    assert!(packed.len() < plain.len() / 2, "{} of {}", packed.len(), plain.len());
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text).expect("gzip");
    assert!(text == plain, "the same bytes");
}

#[tokio::test]
async fn rights_end_where_the_user_s_namespaces_end_in_the_words_of_kubernetes() {
    let caller = Caller::large().await;
    assert_eq!(caller.ask("/api/v1/namespaces/team-0001/pods", "some").await.status(), StatusCode::OK);
    let denied = caller.ask(NODES, "some").await;
    assert_eq!(denied.status(), StatusCode::FORBIDDEN);
    let body: Value = denied.json().await.expect("a Status");
    assert_eq!(
        body["message"],
        "nodes is forbidden: User \"bounded\" cannot list resource \"nodes\" in API group \"\" at the cluster scope"
    );
    assert_eq!(caller.ask("/api/v1/namespaces/team-0000/pods", "some").await.status(), StatusCode::FORBIDDEN);
    assert_eq!(caller.ask("/api/v1/secrets", "all").await.status(), StatusCode::FORBIDDEN, "secrets: nobody");
    assert_eq!(caller.ask(NODES, "guessed").await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn selectors_narrow_a_list_and_a_missing_object_is_a_not_found_status() {
    let mut world = World::default();
    let pod = |name: &str, node: &str, app: &str| json!({"metadata": {"name": name, "namespace": "a", "labels": {"app": app}}, "spec": {"nodeName": node}});
    world.add("pods", [pod("b", "n1", "web"), pod("a", "n1", "db"), pod("c", "n2", "web")]);
    let caller = Caller::small(world).await;
    for (query, expected) in [
        ("", &["a", "b", "c"][..]),
        ("fieldSelector=spec.nodeName%3Dn1", &["a", "b"]),
        ("fieldSelector=spec.nodeName!%3Dn1", &["c"]),
        ("labelSelector=app%3Dweb", &["b", "c"]),
        ("labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dn1", &["b"]),
    ] {
        assert_eq!(names(&caller.get(&format!("/api/v1/pods?{query}")).await.1), expected, "{query}");
    }
    let (status, body) = caller.get("/api/v1/namespaces/a/pods/zebra").await;
    assert_eq!((status, &body["reason"]), (StatusCode::NOT_FOUND, &json!("NotFound")));
}

#[tokio::test]
async fn a_fault_below_a_path_leaves_the_other_routes_well() {
    let caller = Caller::large().await;
    caller.server.set_fault_below(NODES, Fault::Status(503));
    assert_eq!(caller.ask(NODES, "all").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(caller.ask("/api/v1/pods", "all").await.status(), StatusCode::OK);
    caller.server.set_fault_below(NODES, Fault::None);
    assert_eq!(caller.ask(NODES, "all").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_flapping_server_fails_every_other_time() {
    let caller = Caller::large().await;
    caller.server.set_fault(Fault::Flapping);
    for expected in [500, 200, 500, 200] {
        assert_eq!(caller.ask("/version", "all").await.status().as_u16(), expected);
    }
}

#[tokio::test]
async fn a_body_that_is_cut_short_is_an_error_of_the_transfer_and_not_a_shorter_list() {
    let caller = Caller::large().await;
    caller.server.set_fault(Fault::CutShort);
    let answer = caller.ask(NODES, "all").await;
    assert_eq!(answer.status(), StatusCode::OK, "the head came through");
    assert!(answer.bytes().await.is_err(), "the end never did");
}

#[tokio::test]
async fn a_dripping_body_arrives_whole_though_in_many_pieces() {
    let caller = Caller::large().await;
    let whole = caller.ask("/version", "all").await.bytes().await.expect("a body");
    caller.server.set_fault(Fault::Dripping { bytes: 1, pause: Duration::ZERO });
    let dripped = caller.ask("/version", "all").await;
    assert_eq!(dripped.content_length(), None, "its length is not announced");
    assert_eq!(dripped.bytes().await.expect("a body"), whole);
}

#[tokio::test]
async fn an_oversized_list_and_a_bomb_are_as_large_as_they_were_asked_to_be() {
    use std::io::Read as _;
    const SIZE: usize = 4 << 20;
    let caller = Caller::large().await;
    caller.server.set_fault(Fault::Oversized(SIZE as u64));
    let body = caller.ask(NODES, "all").await.bytes().await.expect("a body");
    assert!(body.len() > SIZE);
    caller.server.set_fault(Fault::GzipBomb(SIZE));
    let packed = caller.ask(NODES, "all").await.bytes().await.expect("a body");
    assert!(packed.len() < SIZE / 500, "{} bytes that unpack to {SIZE}", packed.len());
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut text).expect("gzip");
    assert!(text.len() > SIZE);
}

#[tokio::test]
async fn a_stopped_server_refuses_connections() {
    let mut caller = Caller::large().await;
    assert_eq!(caller.ask("/version", "all").await.status(), StatusCode::OK);
    caller.server.stop();
    let url = format!("{}/version", caller.server.url());
    // The listener goes with its task, which ends as soon as the runtime comes to it.
    tokio::task::yield_now().await;
    let error = caller.client.get(url).send().await.expect_err("nobody listens");
    assert!(error.is_connect() || error.is_request(), "{error}");
}
