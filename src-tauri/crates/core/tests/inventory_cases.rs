//! Every case in `tests/fixtures/gpu-cases` gives the answer that it states. A new case is one more JSON file there.

#[path = "../examples/inventory/case.rs"]
mod case;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/gpu-cases")
}

#[test]
fn every_case_gives_the_answer_that_it_states() {
    let mut files: Vec<PathBuf> = fs::read_dir(fixtures())
        .expect("the cases are in the repository")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(files.len() >= 36, "the cases that came with the rules are all there");
    let mut report = String::new();
    for file in files {
        let text = fs::read(&file).expect("a readable case");
        let stated: Value = serde_json::from_slice(&text).expect("a case is JSON");
        let actual = case::inventory_of(&text).expect("a case has readable lists");
        for difference in differences(&stated, &actual) {
            report += &format!("\n{}: {difference}", file.file_name().unwrap_or_default().to_string_lossy());
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Compares by the rules of the cases' README.
fn differences(case: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let partial = case["partial"] == true;
    let expect = &case["expect"];
    for (key, value) in fields(expect) {
        match key.as_str() {
            "nodes" => compare_nodes("nodes", value, &actual["nodes"], partial, &mut found),
            "clusters" => {
                compare_keys("clusters", value, &actual["clusters"], &mut found);
                for (name, cluster) in fields(value) {
                    let nested = Value::Object(Map::from_iter([("expect".to_owned(), cluster.clone())]));
                    let inner = differences(&nested, &actual["clusters"][name]);
                    found.extend(inner.into_iter().map(|difference| format!("{name}: {difference}")));
                }
            }
            "totals" => {
                for map in ["byResource", "physicalByVendor", "pending"] {
                    if !partial && !value[map].is_null() {
                        compare_keys(map, &value[map], &actual["totals"][map], &mut found);
                    }
                }
                compare("totals", value, &actual["totals"], &mut found);
            }
            "sharedPools" => compare_pools(value, &actual["sharedPools"], &mut found),
            "warnings" => {
                let (expected, actual) = (warnings(value), warnings(&actual["warnings"]));
                found.extend(expected.difference(&actual).map(|warning| format!("no warning {warning}")));
                found.extend(
                    actual.difference(&expected).map(|warning| format!("unexpected warning {warning}")),
                );
            }
            "warningCodes" => {
                let codes: Vec<&Value> =
                    list(&actual["warnings"]).iter().map(|warning| &warning["code"]).collect();
                found.extend(
                    list(value)
                        .iter()
                        .filter(|code| !codes.contains(code))
                        .map(|code| format!("no warning {code}")),
                );
            }
            other => found.push(format!("the case states {other}, which no rule compares")),
        }
    }
    found
}

/// Nodes are found by name, their pools by resource and source. Cards are compared as the sum per vendor.
fn compare_nodes(path: &str, expected: &Value, actual: &Value, partial: bool, found: &mut Vec<String>) {
    if !partial && list(expected).len() != list(actual).len() {
        found.push(format!("{path}: {} nodes stated, {} found", list(expected).len(), list(actual).len()));
    }
    for node in list(expected) {
        let path = format!("{path}.{}", node["name"]);
        let Some(other) = list(actual).iter().find(|other| other["name"] == node["name"]) else {
            found.push(format!("{path} is missing"));
            continue;
        };
        for (key, value) in fields(node).filter(|(key, _)| *key != "accelerators") {
            compare(&format!("{path}.{key}"), value, &other[key], found);
        }
        let Some(pools) = node.get("accelerators").map(list) else { continue };
        if !partial && pools.len() != list(&other["accelerators"]).len() {
            found.push(format!(
                "{path}: {} pools stated, {} found",
                pools.len(),
                list(&other["accelerators"]).len()
            ));
        }
        for pool in pools {
            let same = |other: &&Value| {
                other["resource"] == pool["resource"]
                    && pool.get("source").is_none_or(|source| *source == other["source"])
            };
            let path = format!("{path}.{}", pool["resource"]);
            let Some(other) = list(&other["accelerators"]).iter().find(same) else {
                found.push(format!("{path} is missing"));
                continue;
            };
            for (key, value) in fields(pool).filter(|(key, _)| *key != "physical") {
                compare(&format!("{path}.{key}"), value, &other[key], found);
            }
        }
        if pools.iter().any(|pool| pool.get("physical").is_some()) {
            let found_pools = list(&other["accelerators"]);
            let (expected, actual) = (cards(pools, found_pools), cards(found_pools, found_pools));
            for (vendor, cards) in expected {
                if actual.get(&vendor) != Some(&cards) {
                    found.push(format!(
                        "{path}: {cards:?} cards of {vendor} stated, {:?} found",
                        actual.get(&vendor)
                    ));
                }
            }
        }
    }
}

/// Cards per vendor; unknown when no pool of the vendor knows them. A partial case may leave the vendor of a pool out: it
/// is then the one that was found under the resource.
fn cards(pools: &[Value], found: &[Value]) -> BTreeMap<String, Option<i64>> {
    let mut sums: BTreeMap<String, Option<i64>> = BTreeMap::new();
    for pool in pools {
        let of_resource =
            || found.iter().find(|other| other["resource"] == pool["resource"]).map(|other| &other["vendor"]);
        let vendor = pool.get("vendor").or_else(of_resource).unwrap_or(&Value::Null);
        let sum = sums.entry(vendor.to_string()).or_default();
        if let Some(cards) = pool["physical"].as_i64() {
            *sum = Some(sum.unwrap_or(0) + cards);
        }
    }
    sums
}

fn compare_pools(expected: &Value, actual: &Value, found: &mut Vec<String>) {
    for pool in list(expected) {
        let same = |other: &&Value| other["driver"] == pool["driver"] && other["pool"] == pool["pool"];
        match list(actual).iter().find(same) {
            Some(other) => compare(&format!("sharedPools.{}", pool["pool"]), pool, other, found),
            None => found.push(format!("shared pool {} is missing", pool["pool"])),
        }
    }
}

/// Every stated field must be there with the stated value; others may be there as well.
fn compare(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    match expected {
        Value::Object(_) => {
            for (key, value) in fields(expected) {
                compare(&format!("{path}.{key}"), value, &actual[key], found);
            }
        }
        _ if expected != actual => found.push(format!("{path}: {expected} stated, {actual} found")),
        _ => {}
    }
}

fn compare_keys(path: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    let keys = |value: &Value| fields(value).map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
    if keys(expected) != keys(actual) {
        found.push(format!("{path}: {:?} stated, {:?} found", keys(expected), keys(actual)));
    }
}

fn warnings(list_of: &Value) -> BTreeSet<String> {
    let subject = |warning: &Value, key: &str| {
        warning.get(key).filter(|value| !value.is_null()).map(|value| format!(" {key}={value}"))
    };
    list(list_of)
        .iter()
        .map(|warning| {
            let keys = ["node", "resource", "context", "sameAs"];
            let subjects: String = keys.iter().filter_map(|key| subject(warning, key)).collect();
            format!("{}{subjects}", warning["code"])
        })
        .collect()
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn a_wrong_answer_is_noticed() {
    let text = fs::read(fixtures().join("09-cordoned-node.json")).expect("the case is in the repository");
    let stated: Value = serde_json::from_slice(&text).expect("a case is JSON");
    let actual = case::inventory_of(&text).expect("a case has readable lists");
    assert!(differences(&stated, &actual).is_empty(), "the case itself holds");
    for (pointer, wrong) in [
        ("/nodes/0/accelerators/0/usableFree", Value::from(4)),
        ("/nodes/0/accelerators/0/physical", Value::from(7)),
        ("/nodes/0/accelerators", Value::Array(Vec::new())),
        ("/totals/byResource/nvidia.com~1gpu/requested", Value::Null),
        ("/warnings", Value::Array(Vec::new())),
    ] {
        let mut changed = actual.clone();
        *changed.pointer_mut(pointer).expect("the inventory has this field") = wrong;
        assert!(!differences(&stated, &changed).is_empty(), "{pointer} is compared");
    }
}
