//! The splitter against `serde_json` as the oracle, at every split point, and against bytes that are no list.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

type Outcome = Result<(Vec<Vec<u8>>, ListHead), SplitError>;

fn split<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    split_within(chunks, SplitLimits::default())
}

fn split_within<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, limits: SplitLimits) -> Outcome {
    let mut items = Vec::new();
    let mut splitter = ListSplitter::new("PodList", limits);
    for chunk in chunks {
        splitter.push(chunk, |item| items.push(item.to_vec()))?;
    }
    splitter.finish().map(|head| (items, head))
}

fn whole(text: &str) -> Outcome {
    split([text.as_bytes()])
}

#[test]
fn items_and_metadata_are_found_wherever_they_stand() {
    let head = ListHead { resource_version: Some("17".into()), next: Some("abc".into()), items: 2 };
    let items = vec![br#"{"a":"]}"}"#.to_vec(), b"{}".to_vec()];
    for text in [
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"17","continue":"abc"},"items":[{"a":"]}"},{}]}"#,
        r#"{"items":[{"a":"]}"},{}],"metadata":{"continue":"abc","resourceVersion":"17"},"kind":"PodList"}"#,
        " {\n \"items\" : [ {\"a\":\"]}\"} ,\n{} ] , \"x\": [1, {\"items\": [null]}], \"metadata\":\t{\"resourceVersion\":\"17\",\"continue\":\"abc\"}, \"kind\" : \"PodList\" } \n",
        r#"{"\u0069tems":[{"a":"]}"},{}],"metadata":{"continue":"abc","resourceVersion":"17"},"k\u0069nd":"PodList"}"#,
    ] {
        assert_eq!(whole(text), Ok((items.clone(), head.clone())), "{text}");
    }
}

#[test]
fn no_items_and_null_items_are_an_empty_list() {
    for items in ["[]", "null", " [ ] "] {
        let (found, head) = whole(&format!(r#"{{"kind":"PodList","items":{items}}}"#)).expect(items);
        assert!(found.is_empty() && head == ListHead::default(), "{items}");
    }
    let text = r#"{"kind":"PodList","metadata":{"continue":"","resourceVersion":""},"items":[]}"#;
    assert_eq!(whole(text).expect("a list").1, ListHead::default(), "an empty token is no token");
}

#[test]
fn another_kind_is_refused_and_so_is_none() {
    for text in [
        r#"{"kind":"NodeList","items":[]}"#,
        r#"{"kind":"Status","status":"Failure"}"#,
        r#"{"kind":null,"items":[]}"#,
        r#"{"items":[]}"#,
    ] {
        assert_eq!(whole(text), Err(SplitError::WrongKind), "{text}");
    }
    let early = split([&br#"{"kind":"NodeList","items":[{"#[..]]);
    assert_eq!(early, Err(SplitError::WrongKind), "said before the items are read");
}

#[test]
fn what_is_no_list_is_malformed_at_its_place() {
    for (text, offset) in [
        ("<html>", 0),
        ("[]", 0),
        (r#"{"kind" "PodList"}"#, 8),
        (r#"{"kind":"PodList","items":{}}"#, 26),
        (r#"{"kind":"PodList","items":[{}{}]}"#, 29),
        (r#"{"kind":"PodList","items":[,]}"#, 27),
        (r#"{"kind":"PodList","items":[]} x"#, 30),
        (r#"{"kind":"PodList","items":[]}{}"#, 29),
        (r#"{"kind":"PodList",}"#, 18),
        (r#"{"kind":"PodList","items":[],"items":[]}"#, 36),
        (r#"{"kind":"PodList","items":nil}"#, 29),
        (r#"{"kind":"PodList","metadata":{"continue":7},"items":[]}"#, 43),
    ] {
        match whole(text) {
            Err(SplitError::Malformed { offset: found, .. }) => assert_eq!(found, offset, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn every_prefix_of_a_list_is_truncated_and_never_whole() {
    let text =
        r#"{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"a":"\\\""},{"b":[1]}],"z":12}"#;
    for end in 0..text.len() {
        let outcome = split([&text.as_bytes()[..end]]);
        assert_eq!(outcome, Err(SplitError::Truncated { offset: end as u64 }), "cut after {end} bytes");
    }
}

#[test]
fn an_item_over_the_limit_stops_the_list_however_it_arrives() {
    let limits = SplitLimits { item: 100, ..SplitLimits::default() };
    let list = |len: usize| format!(r#"{{"kind":"PodList","items":[{{}},"{}"]}}"#, "a".repeat(len - 2));
    let (fits, over) = (list(100), list(101));
    assert!(split_within([fits.as_bytes()], limits).is_ok());
    for size in [1, 7, 64, 4096] {
        let outcome = split_within(over.as_bytes().chunks(size), limits);
        assert_eq!(outcome, Err(SplitError::TooLarge { what: "an item", limit: 100 }), "in chunks of {size}");
    }
}

#[test]
fn a_depth_bomb_is_cut_without_recursion() {
    let bomb = format!(r#"{{"kind":"PodList","items":[{}"#, "[".repeat(2_000_000));
    assert!(matches!(whole(&bomb), Err(SplitError::TooLarge { what: "the nesting of an item", .. })));
    let skipped = format!(r#"{{"x":{}"#, "{\"a\":".repeat(1_000_000));
    assert!(matches!(whole(&skipped), Err(SplitError::TooLarge { .. })), "in a part that is skipped as well");
}

#[test]
fn an_endless_key_or_head_is_cut() {
    let key = format!(r#"{{"{}"#, "k".repeat(100_000));
    let head = format!(r#"{{"kind":"PodList","metadata":{{"x":"{}"#, "m".repeat(100_000));
    for text in [key, head] {
        assert!(matches!(whole(&text), Err(SplitError::TooLarge { what: "the head of the list", .. })));
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z]{0,8}",
        Just("\"\\{}[],:".to_owned()),
        Just("\\\\\\\"".to_owned()),
        any::<String>().prop_map(|s| s.chars().take(12).collect()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map("[a-z\"\\\\]{0,5}", inner, 0..5).prop_map(Value::from_iter),
        ]
    })
}

prop_compose! {
    fn list()(
        items in prop::collection::vec(tree(), 0..5),
        extra in tree(),
        pretty in any::<bool>(),
        items_first in any::<bool>(),
        token in prop::option::of("[A-Za-z0-9=]{1,9}"),
    ) -> (Vec<Value>, Option<String>, String) {
        let mut fields = [
            ("kind", json!("PodList")),
            ("extra", extra),
            ("metadata", json!({"resourceVersion": "9", "continue": token})),
            ("items", Value::from(items.clone())),
        ];
        if items_first {
            fields.reverse();
        }
        let write = |value: &Value| {
            if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.expect("JSON")
        };
        let body = fields.iter().map(|(key, value)| format!("\"{key}\":{}", write(value))).collect::<Vec<_>>();
        (items, token, format!("{{{}}}", body.join(if pretty { " ,\n" } else { "," })))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn items_are_the_oracles_at_every_split_point((items, token, text) in list()) {
        let bytes = text.as_bytes();
        let expected = split([bytes]).expect("a list");
        let parsed: Vec<Value> =
            expected.0.iter().map(|item| serde_json::from_slice(item).expect("an item")).collect();
        prop_assert_eq!(&parsed, &items);
        prop_assert_eq!(&expected.1.next, &token);
        prop_assert_eq!(expected.1.items, items.len() as u64);
        for at in 0..=bytes.len() {
            let (left, right) = bytes.split_at(at);
            prop_assert_eq!(&split([left, right]), &Ok(expected.clone()), "split at {}", at);
        }
        prop_assert_eq!(&split(bytes.chunks(1)), &Ok(expected), "byte by byte");
    }

    #[test]
    fn damage_has_the_same_outcome_however_the_bytes_arrive(
        (_, _, text) in list(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        size in 1_usize..17,
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        prop_assert_eq!(split([&bytes[..]]), split(bytes.chunks(size)));
    }

    #[test]
    fn arbitrary_bytes_end_in_an_outcome(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1_usize..9) {
        prop_assert_eq!(split([&bytes[..]]), split(bytes.chunks(size)));
    }

    #[test]
    fn json_like_bytes_end_in_the_same_outcome(text in "[{}\\[\\],:\"\\\\a0n ]{0,60}", size in 1_usize..9) {
        let bytes = format!("{{\"kind\":\"PodList\",\"items\":[{text}");
        prop_assert_eq!(split([bytes.as_bytes()]), split(bytes.as_bytes().chunks(size)));
    }
}
