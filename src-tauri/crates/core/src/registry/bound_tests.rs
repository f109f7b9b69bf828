//! The namespace bound, from the side of who would like to get round it.

use proptest::prelude::*;

use super::*;
use crate::registry::record::Row;
use crate::tenant::Org;

fn bound(namespaces: &[&str]) -> Bound<()> {
    let row: Row =
        serde_json::from_value(serde_json::json!({"name": "prod", "namespaces": namespaces})).expect("a row");
    let record = row.record(&Org::parse("acme").expect("an org")).expect("a record");
    Bound::new(record, ())
}

fn namespace(name: &str) -> Namespace {
    Namespace::parse(name).expect("a namespace")
}

fn refused(namespace: &str) -> Refusal {
    Refusal::Namespace { cluster: "prod".into(), namespace: namespace.into() }
}

#[test]
fn no_namespace_means_all_of_them_for_a_whole_cluster_and_the_bound_for_a_bounded_one() {
    assert_eq!(bound(&[]).scope(""), Ok(NamespaceScope::All));
    assert_eq!(bound(&[]).scope(" \t"), Ok(NamespaceScope::All));
    assert_eq!(bound(&["b", "a"]).scope(" "), Ok(NamespaceScope::Each(vec![namespace("b"), namespace("a")])));
}

#[test]
fn an_operation_on_one_object_needs_its_namespace_named() {
    assert_eq!(bound(&[]).one(""), Err(refused("")));
    assert_eq!(bound(&["a"]).one("  "), Err(refused("")), "not even where the bound has only one");
    assert_eq!(bound(&["a"]).one(" a "), Ok(namespace("a")));
}

#[test]
fn what_belongs_to_the_whole_cluster_is_refused_to_a_bounded_registration() {
    assert_eq!(bound(&[]).whole_cluster(), Ok(()));
    assert_eq!(bound(&["a"]).whole_cluster(), Err(Refusal::Scope { cluster: "prod".into() }));
}

#[test]
fn a_name_that_would_leave_its_segment_of_the_api_path_is_refused_even_for_a_whole_cluster() {
    for name in ["../nodes", "a/b", "a?x", "*", "A", "%2e%2e", "a b", "-"] {
        assert_eq!(bound(&[]).scope(name), Err(refused(name)));
        assert_eq!(bound(&[]).one(name), Err(refused(name)));
    }
}

#[test]
fn a_bound_of_nothing_addresses_nothing() {
    let mut empty = bound(&["a"]);
    empty.record.bound = NamespaceBound::Only(Vec::new());
    assert_eq!(empty.scope(""), Ok(NamespaceScope::Each(Vec::new())));
    assert!(empty.scope("a").is_err() && empty.whole_cluster().is_err());
}

proptest! {
    #[test]
    fn a_bounded_registration_never_resolves_to_more_than_its_bound(
        names in prop::collection::vec("[a-z]([a-z0-9-]{0,3}[a-z0-9])?", 1..5),
        asked in prop_oneof![".{0,12}", "[a-z]{1,2}", "[ \t]{0,3}[a-z]{1,2}[ \t]{0,3}"],
    ) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let bound = bound(&names);
        let inside = names.contains(&asked.trim());
        match bound.scope(&asked) {
            Ok(NamespaceScope::All) => prop_assert!(false, "a bounded registration never gets everything"),
            Ok(NamespaceScope::Each(resolved)) if asked.trim().is_empty() => {
                prop_assert!(resolved.iter().all(|name| names.contains(&name.as_str())));
                prop_assert!(names.iter().all(|name| resolved.iter().any(|got| got.as_str() == *name)));
            }
            Ok(NamespaceScope::Each(resolved)) => {
                prop_assert!(inside, "{asked:?} is outside {names:?}");
                prop_assert_eq!(resolved, vec![namespace(asked.trim())]);
            }
            Err(refusal) => {
                prop_assert!(!inside, "{asked:?} is inside {names:?}");
                prop_assert_eq!(refusal, refused(asked.trim()));
            }
        }
        prop_assert_eq!(bound.one(&asked).is_ok(), inside);
        prop_assert!(bound.whole_cluster().is_err());
    }

    #[test]
    fn a_whole_cluster_resolves_every_namespace_to_itself(asked in "[a-z]([a-z0-9-]{0,61}[a-z0-9])?") {
        let bound = bound(&[]);
        prop_assert_eq!(bound.scope(&asked), Ok(NamespaceScope::Each(vec![namespace(&asked)])));
        prop_assert_eq!(bound.one(&asked), Ok(namespace(&asked)));
    }
}
