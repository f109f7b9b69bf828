//! Reading, changing and writing an index.

use serde_json::json;

use super::*;
use crate::registry::NamespaceBound;
use crate::registry::record::{Counts, Generation};

fn org() -> Org {
    Org::parse("acme").expect("a plain org")
}

fn name(text: &str) -> ClusterName {
    ClusterName::parse(text).expect("a plain name")
}

fn parse(document: &serde_json::Value) -> Result<Index, Fault> {
    Index::parse(document.to_string().as_bytes())
}

fn record(cluster: &str, rev: u64) -> Record {
    Record {
        name: name(cluster),
        org: org(),
        provider: "eks".into(),
        endpoint: "https://api.example.com:6443".into(),
        counts: Some(Counts { nodes: 3, nvidia_gpu: 16, amd_gpu: 0 }),
        bound: NamespaceBound::WholeCluster,
        registered: "2026-03-01T10:00:00Z".into(),
        default: false,
        generation: Generation::new("2026-03-01T10:00:00Z", rev),
        sealed: Some(crate::kms::Version(1)),
    }
}

/// An index as the original service writes it.
fn written_by_the_source() -> serde_json::Value {
    json!([
        {"name": "prod", "org": "acme", "provider": "byo", "endpoint": "https://1.2.3.4:6443", "nodes": 17,
         "nvidiaGpu": 136, "amdGpu": 8, "registered": "2025-11-02T09:00:00Z", "default": true},
        {"name": "shared", "org": "acme", "provider": "eks", "nodes": 40, "nvidiaGpu": 0, "amdGpu": 0,
         "namespaces": ["team-a", "team-b"], "registered": "2025-12-02T09:00:00Z", "default": false}
    ])
}

#[test]
fn an_index_of_the_source_is_read() {
    let records = parse(&written_by_the_source()).expect("the source's own format").records(&org());
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].counts, Some(Counts { nodes: 17, nvidia_gpu: 136, amd_gpu: 8 }));
    assert_eq!(records[0].bound, NamespaceBound::WholeCluster);
    assert!(records[0].default);
    assert_eq!(records[0].host_and_port(), "1.2.3.4:6443");
    assert_eq!(records[1].bound, NamespaceBound::only(["team-a", "team-b"]).expect("two names"));
    assert_eq!(
        records[1].counts.map(|counts| counts.nodes),
        Some(40),
        "the source counted it, so it is known"
    );
}

#[test]
fn a_row_is_written_with_exactly_the_field_names_of_the_source() {
    let mut index = Index::default();
    index.upsert(&Row::of(&record("prod", 7)));
    let mut bounded = record("shared", 8);
    bounded.bound = NamespaceBound::only(["team-a"]).expect("a name");
    bounded.counts = None;
    bounded.default = true;
    index.upsert(&Row::of(&bounded));
    let written: serde_json::Value = serde_json::from_slice(&index.to_json()).expect("JSON");
    assert_eq!(
        written,
        json!([
            {"name": "prod", "org": "acme", "provider": "eks", "endpoint": "https://api.example.com:6443", "nodes": 3,
             "nvidiaGpu": 16, "amdGpu": 0, "registered": "2026-03-01T10:00:00Z", "default": false,
             "rev": "0000000000000007", "sealed": 1},
            {"name": "shared", "org": "acme", "provider": "eks", "endpoint": "https://api.example.com:6443", "nodes": 0,
             "nvidiaGpu": 0, "amdGpu": 0, "namespaces": ["team-a"], "registered": "2026-03-01T10:00:00Z",
             "default": true, "rev": "0000000000000008", "sealed": 1, "countsUnknown": true}
        ])
    );
}

#[test]
fn what_was_written_is_read_back_the_same() {
    let mut index = Index::default();
    let mut bounded = record("shared", 8);
    bounded.bound = NamespaceBound::only(["team-a"]).expect("a name");
    bounded.counts = None;
    for wanted in [record("prod", 7), bounded] {
        index.upsert(&Row::of(&wanted));
        let read = Index::parse(&index.to_json()).expect("our own format");
        assert_eq!(read.record(&org(), &wanted.name), Some(wanted));
    }
}

#[test]
fn unknown_is_not_zero_even_after_the_source_dropped_the_mark() {
    let index = parse(&json!([{"name": "shared", "nodes": 0, "namespaces": ["team-a"]}])).expect("an index");
    assert_eq!(index.records(&org())[0].counts, None, "a bounded registration counts nothing");
    let index = parse(&json!([{"name": "empty", "nodes": 0}])).expect("an index");
    assert_eq!(
        index.records(&org())[0].counts,
        Some(Counts::default()),
        "a whole cluster without nodes has none"
    );
}

#[test]
fn fields_that_are_not_known_come_through_a_change_of_their_row_and_of_others() {
    let mut document = written_by_the_source();
    document[0]["costCentre"] = json!({"id": 4711, "tags": ["a", null]});
    document[1]["note"] = json!("kept");
    let mut index = parse(&document).expect("an index");
    index.upsert(&Row::of(&record("prod", 9)));
    let written: serde_json::Value = serde_json::from_slice(&index.to_json()).expect("JSON");
    assert_eq!(written[0]["costCentre"], document[0]["costCentre"], "of the row that was replaced");
    assert_eq!(written[0]["nodes"], json!(3));
    assert_eq!(written[1], document[1], "of the row that was not touched");
}

#[test]
fn the_org_of_a_record_is_the_org_of_the_index_whatever_the_row_claims() {
    let mut document = written_by_the_source();
    document[0]["org"] = json!("zoo");
    let records = parse(&document).expect("an index").records(&org());
    assert!(records.iter().all(|record| record.org == org()), "{records:?}");
}

#[test]
fn nothing_and_null_and_an_empty_list_are_an_empty_index() {
    for text in ["", "  \n", "null", "[]"] {
        assert_eq!(Index::parse(text.as_bytes()), Ok(Index::default()), "{text:?}");
    }
}

#[test]
fn nulls_are_read_as_the_source_reads_them() {
    let index = parse(&json!([{"name": "a", "org": null, "provider": null, "endpoint": null, "nodes": null,
        "nvidiaGpu": null, "amdGpu": null, "namespaces": null, "registered": null, "default": null}]));
    let records = index.expect("an index").records(&org());
    assert_eq!(records[0].provider, "byo");
    assert_eq!(records[0].bound, NamespaceBound::WholeCluster);
}

#[test]
fn a_document_that_is_no_index_is_corrupt_and_its_text_is_not_told() {
    let canary = "canary-77aa";
    for text in [
        "{",
        "[1]",
        "[null]",
        "[[]]",
        r#"{"canary-77aa":1}"#,
        r#""canary-77aa""#,
        "7",
        "true",
        r#"[{"name":"canary-77aa","nodes":"many"}]"#,
        r#"[{"name":"a","namespaces":"canary-77aa"}]"#,
        r#"[{"name":"canary-77aa/x"}]"#,
        r#"[{"org":"acme"}]"#,
        r#"[{"name":" a"}]"#,
        r#"[{"name":"../canary-77aa"}]"#,
        r#"[{"name":"a"}] canary-77aa"#,
        "[{\"name\":\"a\"",
        "\u{feff}[]",
    ] {
        match Index::parse(text.as_bytes()) {
            Err(Fault::Corrupt(what)) => assert!(!what.contains(canary), "{text}: {what}"),
            other => panic!("{text} must be corrupt, not {other:?}"),
        }
    }
}

#[test]
fn a_row_bounded_to_blanks_or_to_what_is_no_namespace_is_corrupt_and_never_the_whole_cluster() {
    for namespaces in [json!([""]), json!([" ", "\t"]), json!(["a", "../b"]), json!(["*"])] {
        let parsed = parse(&json!([{"name": "shared", "namespaces": namespaces}]));
        assert!(matches!(parsed, Err(Fault::Corrupt(_))), "{namespaces}: {parsed:?}");
    }
}

#[test]
fn an_index_of_a_later_format_is_told_apart_from_a_corrupt_one() {
    for document in [
        json!({"schema": 2, "clusters": []}),
        json!([{"name": "a"}, {"name": {"new": "shape"}, "schema": 3}]),
    ] {
        assert!(matches!(parse(&document), Err(Fault::Newer(2 | 3))), "{document}");
    }
}

#[test]
fn registering_a_default_takes_it_from_the_others_in_the_same_write() {
    let mut index = parse(&written_by_the_source()).expect("an index");
    let mut new = record("shared", 5);
    new.default = true;
    index.upsert(&Row::of(&new));
    let defaults: Vec<_> = index.rows.iter().filter(|row| row.default).map(|row| row.name.as_str()).collect();
    assert_eq!(defaults, ["shared"]);
}

#[test]
fn of_several_defaults_that_were_left_behind_one_counts() {
    let index =
        parse(&json!([{"name": "a", "default": true}, {"name": "b", "default": true}])).expect("an index");
    let defaults: Vec<_> = index.records(&org()).into_iter().map(|record| record.default).collect();
    assert_eq!(defaults, [true, false]);
}

#[test]
fn a_name_that_was_left_twice_is_shown_once_and_mended_by_the_next_registration() {
    let mut index = parse(&json!([{"name": "a", "nodes": 1}, {"name": "b"}, {"name": "a", "nodes": 2}]))
        .expect("an index");
    let shown: Vec<_> = index.records(&org()).into_iter().map(|record| record.name.to_string()).collect();
    assert_eq!(shown, ["a", "b"]);
    index.upsert(&Row::of(&record("a", 1)));
    assert_eq!(index.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(index.remove(&name("a")), "and a removal takes what is left");
    assert!(!index.has(&name("a")));
}
