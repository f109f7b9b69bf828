//! Whole lists: paging, restarts, limits, and that nothing partial passes for whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::{failure, list, node};
use crate::connect::scripted::{Seen, Step, client_of, json, reply};
use crate::connect::{ClusterClient, ReadError, Resource, ResourcePath, Stage};
use crate::reads::list::{ItemError, ListLimits, Listed, list_fold};
use crate::reads::splitter::SplitLimits;

type Names = Vec<String>;

fn take_name(names: &mut Names, item: &[u8]) -> Result<(), ItemError> {
    let value: serde_json::Value = serde_json::from_slice(item)?;
    names.push(value.pointer("/metadata/name").and_then(|name| name.as_str()).ok_or(ItemError)?.to_owned());
    Ok(())
}

async fn read_within(client: &ClusterClient, limits: ListLimits) -> Result<Listed<Names>, ReadError> {
    list_fold(client, &ResourcePath::all(Resource::Nodes), &limits, take_name).await
}

async fn read(client: &ClusterClient) -> Result<Listed<Names>, ReadError> {
    read_within(client, ListLimits::default()).await
}

/// Three pages, two nodes each; the tokens need escaping in a query.
fn three_pages(seen: &Seen) -> Vec<Step> {
    let (names, next) = match seen.line.as_str() {
        "GET /api/v1/nodes?limit=500" => (["a", "b"], Some("t&1=/+")),
        "GET /api/v1/nodes?limit=500&continue=t%261%3D%2F%2B" => (["c", "d"], Some("t2")),
        "GET /api/v1/nodes?limit=500&continue=t2" => (["e", "f"], None),
        other => panic!("unexpected request {other}"),
    };
    json(200, &list("NodeList", &names.map(node), next))
}

/// The number of this call, counted from 0.
fn counter() -> impl Fn() -> usize + Send + Sync + Clone {
    let calls = Arc::new(AtomicUsize::new(0));
    move || calls.fetch_add(1, Ordering::SeqCst)
}

#[tokio::test]
async fn all_pages_are_read_in_order_over_one_connection() {
    let (client, network) = client_of(three_pages).await;
    let listed = read(&client).await.expect("a list");
    assert_eq!(listed.rows, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!((listed.meta.items, listed.meta.bad_items, listed.meta.pages), (6, 0, 3));
    assert_eq!(listed.meta.resource_version.as_deref(), Some("77"));
    assert!(listed.meta.bytes > 400, "{}", listed.meta.bytes);
    assert_eq!(network.dialled().len(), 1);
    let accept = network.seen()[0].header("accept").map(str::to_owned);
    assert_eq!(accept.as_deref(), Some("application/json;drop=metadata.managedFields, application/json"));
}

#[tokio::test]
async fn items_are_found_wherever_the_network_cuts_the_body() {
    let body = list("NodeList", &["a", "b", "c"].map(node), None);
    for size in [1, 7, 64] {
        let body = body.clone();
        let (client, _) = client_of(move |_| {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let mut steps = vec![Step::Send(head.into_bytes())];
            steps.extend(body.as_bytes().chunks(size).map(|piece| Step::Send(piece.to_vec())));
            steps
        })
        .await;
        assert_eq!(read(&client).await.expect("a list").rows, ["a", "b", "c"], "in pieces of {size}");
    }
}

#[tokio::test]
async fn an_empty_list_is_a_list() {
    for items in ["[]", "null"] {
        let body = format!(r#"{{"kind":"NodeList","metadata":{{}},"items":{items}}}"#);
        let (client, _) = client_of(move |_| json(200, &body)).await;
        let listed = read(&client).await.expect(items);
        assert_eq!((listed.rows.len(), listed.meta.pages), (0, 1));
    }
}

#[tokio::test]
async fn bad_items_are_counted_and_the_others_kept() {
    let items = [node("a"), "null".into(), "{}".into(), r#"{"metadata":{"name":bad}}"#.into(), node("b")];
    let body = list("NodeList", &items, None);
    let (client, _) = client_of(move |_| json(200, &body)).await;
    let listed = read(&client).await.expect("a list");
    assert_eq!(listed.rows, ["a", "b"]);
    assert_eq!((listed.meta.items, listed.meta.bad_items), (5, 3));
}

#[tokio::test]
async fn a_version_that_expires_restarts_the_list_from_its_first_page_twice_at_most() {
    let call = counter();
    let (client, network) = client_of(move |seen| match call() {
        1 | 3 => failure(410, "The provided continue parameter is too old"),
        _ => three_pages(seen),
    })
    .await;
    let listed = read(&client).await.expect("the third pass");
    assert_eq!(listed.rows, ["a", "b", "c", "d", "e", "f"], "no row of an earlier pass is left");
    assert_eq!(listed.meta.items, 6);
    let starts = network.seen().iter().filter(|seen| seen.line.ends_with("limit=500")).count();
    assert_eq!(starts, 3);

    let (client, network) =
        client_of(
            |seen| {
                if seen.line.contains("continue") { failure(410, "too old") } else { three_pages(seen) }
            },
        )
        .await;
    assert_eq!(read(&client).await.expect_err("always expired").code(), "gone");
    assert_eq!(network.seen().len(), 6, "three passes of two requests, and no more");
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_page_restarts_the_list_once() {
    let cut = |seen: &Seen| {
        let Step::Send(whole) = three_pages(seen).remove(0) else { panic!("one piece") };
        vec![Step::Send(whole[..whole.len() - 20].to_vec()), Step::Close]
    };
    let call = counter();
    let (client, _) = client_of(move |seen| if call() == 1 { cut(seen) } else { three_pages(seen) }).await;
    let listed = read(&client).await.expect("the second pass");
    assert_eq!(
        listed.rows,
        ["a", "b", "c", "d", "e", "f"],
        "the rows of the broken page are not there twice"
    );

    let (client, network) =
        client_of(move |seen| if seen.line.contains("t2") { cut(seen) } else { three_pages(seen) }).await;
    let error = read(&client).await.expect_err("never whole");
    assert_eq!(error.code(), "connection_broken", "four good rows and a broken page are no list");
    assert_eq!(network.seen().len(), 6, "two passes of three requests, and no more");
}

#[tokio::test]
async fn pages_that_lead_in_a_circle_are_noticed() {
    let (client, network) = client_of(|seen| {
        let next = if seen.line.contains("continue=one") { "two" } else { "one" };
        json(200, &list("NodeList", &[node("a")], Some(next)))
    })
    .await;
    assert_eq!(read(&client).await.expect_err("a circle").code(), "continue_loop");
    assert_eq!(network.seen().len(), 3, "noticed when the first token comes back");
}

#[tokio::test]
async fn a_server_that_ignores_the_page_size_is_read_all_the_same() {
    let items: Vec<String> = (0..3000).map(|n| node(&format!("n{n}"))).collect();
    let body = list("NodeList", &items, None);
    let (client, _) = client_of(move |_| json(200, &body)).await;
    let listed = read(&client).await.expect("a list");
    assert_eq!((listed.rows.len(), listed.meta.pages), (3000, 1));
}

#[tokio::test]
async fn another_kind_is_refused() {
    let body = list("PodList", &[node("a")], None);
    let (client, _) = client_of(move |_| json(200, &body)).await;
    assert_eq!(read(&client).await.expect_err("pods for nodes").code(), "wrong_kind");
    let (client, _) = client_of(|_| json(200, r#"{"kind":"Status","status":"Success"}"#)).await;
    assert_eq!(read(&client).await.expect_err("a status for nodes").code(), "wrong_kind");
}

#[tokio::test]
async fn json_that_ends_too_early_is_a_decode_error_with_its_place() {
    let whole = list("NodeList", &["a", "b"].map(node), None);
    let cut = whole[..whole.len() - 3].to_owned();
    let len = cut.len() as u64;
    let (client, _) = client_of(move |_| json(200, &cut)).await;
    match read(&client).await.expect_err("cut") {
        ReadError::Decode { offset, .. } => assert_eq!(offset, len),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn every_cap_cuts_with_its_name() {
    let three = list("NodeList", &["a", "b", "c"].map(node), Some("t"));
    let size = three.len() as u64;
    let cases = [
        (
            "an item",
            ListLimits { split: SplitLimits { item: 40, ..SplitLimits::default() }, ..ListLimits::default() },
        ),
        (
            "the nesting of an item",
            ListLimits { split: SplitLimits { depth: 2, ..SplitLimits::default() }, ..ListLimits::default() },
        ),
        ("the number of items", ListLimits { list_items: 2, ..ListLimits::default() }),
        ("one answer", ListLimits { page_bytes: size - 1, ..ListLimits::default() }),
        ("the whole list", ListLimits { list_bytes: size + 10, ..ListLimits::default() }),
    ];
    for (wanted, limits) in cases {
        let body = three.clone();
        let (client, _) = client_of(move |_| json(200, &body)).await;
        match read_within(&client, limits).await.expect_err(wanted) {
            ReadError::TooLarge { what, .. } => assert_eq!(what, wanted),
            other => panic!("{wanted}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn nothing_is_folded_beyond_the_cap_of_items() {
    let body = list("NodeList", &vec![node("a"); 1000], None);
    let (client, _) = client_of(move |_| json(200, &body)).await;
    let mut folded = 0;
    let limits = ListLimits { list_items: 10, ..ListLimits::default() };
    let count = |_: &mut Names, _: &[u8]| {
        folded += 1;
        Ok(())
    };
    let outcome = list_fold(&client, &ResourcePath::all(Resource::Nodes), &limits, count).await;
    assert_eq!(outcome.expect_err("over the cap").code(), "too_large");
    assert_eq!(folded, 10);
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_given_the_time_it_asks_for_up_to_half_a_minute() {
    let busy = |after: &str| {
        let head = format!("content-type: text/plain\r\nretry-after: {after}\r\n");
        reply(429, &head, b"Too many requests, please try again later.")
    };
    for (after, waited) in [("3", 3), ("86400", 30), ("soon", 1)] {
        let call = counter();
        let (client, _) =
            client_of(move |seen| if call() == 1 { busy(after) } else { three_pages(seen) }).await;
        let start = Instant::now();
        assert_eq!(read(&client).await.expect("a list").rows.len(), 6, "pages before and after are kept");
        assert_eq!(start.elapsed().as_secs(), waited, "Retry-After: {after}");
    }
    let (client, network) = client_of(move |_| busy("1")).await;
    assert_eq!(read(&client).await.expect_err("always busy").code(), "rate_limited");
    assert_eq!(network.seen().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_pages_are_each_in_time_still_ends_after_a_minute() {
    let call = counter();
    let (client, _) = client_of(move |_| {
        let mut steps = vec![Step::Wait(Duration::from_secs(9))];
        steps.extend(json(200, &list("NodeList", &[node("a")], Some(&format!("t{}", call())))));
        steps
    })
    .await;
    let start = Instant::now();
    match read(&client).await.expect_err("without end") {
        ReadError::Timeout { stage, .. } => assert_eq!(stage, Stage::List),
        other => panic!("{other:?}"),
    }
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_nobody_waits_for_any_more_asks_for_no_further_page() {
    let (client, network) = client_of(|_| {
        let mut steps = vec![Step::Wait(Duration::from_secs(1))];
        steps.extend(json(200, &list("NodeList", &[node("a")], Some("t"))));
        steps
    })
    .await;
    let reading = tokio::spawn(async move { read(&client).await });
    while network.seen().is_empty() {
        assert!(!reading.is_finished(), "the request never arrived");
        tokio::task::yield_now().await;
    }
    reading.abort();
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::task::yield_now().await;
    assert_eq!(network.seen().len(), 1);
}

#[tokio::test]
async fn a_compressed_list_is_read_and_a_bomb_in_one_is_cut() {
    use std::io::Write as _;
    let gzipped = |body: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(body).expect("in memory");
        encoder.finish().expect("in memory")
    };
    let head = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let items: Vec<String> = (0..5000).map(|n| node(&format!("node-{n}"))).collect();
    let good = gzipped(list("NodeList", &items, None).as_bytes());
    let (client, _) = client_of(move |_| reply(200, head, &good)).await;
    let listed = read(&client).await.expect("a list");
    assert_eq!((listed.rows.len(), listed.rows[4999].as_str()), (5000, "node-4999"));

    let bomb =
        gzipped(&[br#"{"kind":"NodeList","items":["#.as_slice(), &vec![b' '; 50 * 1024 * 1024]].concat());
    let (client, _) = client_of(move |_| reply(200, head, &bomb)).await;
    match read(&client).await.expect_err("a bomb") {
        ReadError::TooLarge { what, .. } => assert_eq!(what, "the growth of compressed data"),
        other => panic!("{other:?}"),
    }
}
