//! Every file under `tests/fixtures/kubeconfig-cases` gets the verdict that `expect.json` gives it, and nothing secret
//! of any file is ever printed. A new case is one file and one entry.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use muster_core::endpoint::EndpointPolicy;
use muster_core::kubeconfig::{self, SafeKubeconfig};
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    accepted: bool,
    policy: EndpointPolicy,
    context: Option<String>,
    #[serde(default)]
    codes: Vec<String>,
    #[serde(default)]
    contexts: BTreeMap<String, (bool, Vec<String>)>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/kubeconfig-cases")
}

fn cases() -> BTreeMap<String, Expected> {
    let text = std::fs::read_to_string(folder().join("expect.json")).expect("the table is there");
    serde_json::from_str(&text).expect("the table is well formed")
}

fn now() -> Timestamp {
    "2026-12-01T12:00:00Z".parse().expect("a date")
}

#[test]
fn every_case_gets_its_verdict() {
    let mut wrong = Vec::new();
    for (file, expected) in cases() {
        let bytes = std::fs::read(folder().join(&file)).expect("the case is there");
        let (accepted, codes) = match kubeconfig::inspect(&bytes, expected.policy, now()) {
            Err(refusal) => (false, vec![refusal.code()]),
            Ok(inspection) => {
                let judged: Vec<_> = inspection
                    .contexts()
                    .iter()
                    .filter(|context| expected.context.as_ref().is_none_or(|wanted| *wanted == context.key))
                    .collect();
                for (name, (good, codes)) in &expected.contexts {
                    let context =
                        judged.iter().find(|context| context.key == *name).expect("the context is listed");
                    let found: Vec<_> = context.refusals.iter().map(|refusal| refusal.code()).collect();
                    if context.refusals.is_empty() != *good
                        || !codes.iter().all(|code| found.contains(&code.as_str()))
                    {
                        wrong.push(format!("{file} [{name}]: {found:?}"));
                    }
                }
                for context in &judged {
                    assert!(
                        is_label(&context.suggested_name),
                        "{file}: {} is not a DNS label",
                        context.suggested_name
                    );
                    // A context that may be registered can be cut, and the cut passes the gate and loads in kube.
                    match inspection.cut(&context.key, now()) {
                        Ok(cut) => {
                            assert!(context.refusals.is_empty(), "{file}: a refused context was cut");
                            SafeKubeconfig::admit(cut.text().as_bytes(), expected.policy, now())
                                .unwrap_or_else(|refusals| {
                                    panic!("{file}: its own cut is refused: {refusals}")
                                });
                            kube::config::Kubeconfig::from_yaml(cut.text()).expect("kube reads the cut");
                        }
                        Err(refusals) => assert_eq!(refusals.0, context.refusals, "{file}"),
                    }
                }
                let codes = judged.iter().flat_map(|c| c.refusals.iter().map(|r| r.code())).collect();
                (judged.iter().any(|c| c.refusals.is_empty()), codes)
            }
        };
        assert!(!everything_said(&bytes).contains("canary-"), "{file}: a secret was printed");
        if accepted != expected.accepted || !expected.codes.iter().all(|code| codes.contains(&code.as_str()))
        {
            wrong.push(format!("{file}: accepted {accepted}, codes {codes:?}, wanted {:?}", expected.codes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_label(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Everything that the gate can say about these bytes.
fn everything_said(bytes: &[u8]) -> String {
    match kubeconfig::inspect(bytes, EndpointPolicy::Private, now()) {
        Err(refusal) => format!("{refusal:?} {refusal} {} {:?}", refusal.way_out(), refusal.command(None)),
        Ok(inspection) => {
            let mut said =
                format!("{inspection:?} {:?}", SafeKubeconfig::admit(bytes, EndpointPolicy::Private, now()));
            for context in inspection.contexts() {
                said += &format!("{context:?} {:?}", inspection.cut(&context.key, now()));
                for refusal in &context.refusals {
                    said +=
                        &format!("{refusal} {} {:?}", refusal.way_out(), refusal.command(Some(&context.key)));
                }
                context.warnings.iter().for_each(|warning| said += &warning.to_string());
            }
            said
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(192))]

    #[test]
    fn no_bytes_make_the_gate_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..600)) {
        everything_said(&bytes);
    }

    #[test]
    fn no_yaml_like_text_makes_the_gate_panic(
        parts in proptest::collection::vec("[-\\[\\]{}:,&*!|>?#'\"%@<~ \n]{1,3}|kind: Config|contexts|clusters|users|name|user|cluster|null|&a|\\*a|<<", 0..60),
    ) {
        everything_said(parts.concat().as_bytes());
    }

    #[test]
    fn no_edit_of_any_case_makes_the_gate_panic_or_print_a_secret(
        case in proptest::sample::select(cases().into_keys().filter(|name| name != "58-oversize.yaml").collect::<Vec<_>>()),
        edits in proptest::collection::vec((proptest::num::usize::ANY, 0u8..128), 1..4),
        cut in 0usize..20,
    ) {
        let mut bytes = std::fs::read(folder().join(&case)).expect("the case is there");
        let len = bytes.len();
        for (at, byte) in edits {
            if let Some(place) = bytes.get_mut(at % len.max(1)) {
                *place = byte;
            }
        }
        bytes.truncate(len - len * cut.saturating_sub(10) / 20);
        let said = everything_said(&bytes);
        proptest::prop_assert!(!said.contains("canary-"), "{case}: {said}");
    }
}
