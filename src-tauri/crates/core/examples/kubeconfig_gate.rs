//! Judges a kubeconfig and prints the verdict as one JSON object, with nothing secret in it:
//! `cargo run -q -p muster-core --example kubeconfig_gate -- FILE [--context NAME] [--policy public|private|any]`.
//!
//! Exit code 0 where at least one context (or the named one) is accepted, 1 where none is, 2 where the file or the
//! arguments cannot be read. It reads this one file, makes no network call and starts no process.

use std::io::Read as _;
use std::process::ExitCode;

use jiff::Timestamp;
use muster_core::endpoint::EndpointPolicy;
use muster_core::kubeconfig::{self, Context, MAX_FILE_BYTES, Refusal};
use serde_json::{Value, json};

const USAGE: &str = "usage: kubeconfig_gate FILE [--context NAME] [--policy public|private|any]";

struct Arguments {
    file: std::ffi::OsString,
    context: Option<String>,
    policy: EndpointPolicy,
}

fn arguments() -> Result<Arguments, String> {
    let mut given = std::env::args_os().skip(1);
    let (mut file, mut context, mut policy) = (None, None, EndpointPolicy::default());
    while let Some(argument) = given.next() {
        let value = |given: &mut dyn Iterator<Item = std::ffi::OsString>| {
            given.next().and_then(|value| value.into_string().ok()).ok_or(USAGE)
        };
        match argument.to_str() {
            Some("--context") => context = Some(value(&mut given)?),
            Some("--policy") => {
                policy = serde_json::from_value(Value::String(value(&mut given)?))
                    .map_err(|_| USAGE.to_owned())?;
            }
            _ if file.is_none() => file = Some(argument),
            _ => return Err(USAGE.into()),
        }
    }
    Ok(Arguments { file: file.ok_or(USAGE)?, context, policy })
}

fn main() -> ExitCode {
    let read = arguments().and_then(|arguments| {
        let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(MAX_FILE_BYTES + 64));
        // One byte over the limit is enough to know that the file is too large.
        let opened = std::fs::File::open(&arguments.file)
            .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes));
        opened.map_err(|error| format!("{}: {error}", arguments.file.display()))?;
        Ok((arguments, bytes))
    });
    let (arguments, bytes) = match read {
        Ok(read) => read,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    let verdict = verdict(&bytes, &arguments);
    println!("{verdict}");
    if verdict["accepted"] == true { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn verdict(bytes: &[u8], arguments: &Arguments) -> Value {
    let inspection = match kubeconfig::inspect(bytes, arguments.policy, Timestamp::now()) {
        Ok(inspection) => inspection,
        Err(refusal) => {
            return json!({"accepted": false, "refusals": [refused(&refusal)], "contexts": []});
        }
    };
    let judged: Vec<&Context> = inspection
        .contexts()
        .iter()
        .filter(|context| arguments.context.as_ref().is_none_or(|wanted| *wanted == context.key))
        .collect();
    let mut refusals: Vec<Value> = Vec::new();
    if judged.is_empty() {
        let text = "The file has no context of that name. Name one of its own, as `kubectl config get-contexts` \
                    prints them.";
        refusals.push(json!({"code": "no_context", "field": "contexts", "text": text}));
    }
    // What speaks against every context speaks against the file.
    let accepted = judged.iter().any(|context| context.refusals.is_empty());
    if !accepted {
        for refusal in judged.iter().flat_map(|context| &context.refusals).map(refused) {
            if !refusals.contains(&refusal) {
                refusals.push(refusal);
            }
        }
    }
    let contexts: Vec<Value> = judged.into_iter().map(context).collect();
    json!({"accepted": accepted, "refusals": refusals, "contexts": contexts})
}

fn context(context: &Context) -> Value {
    json!({
        "name": context.name,
        "suggested": context.suggested_name,
        "accepted": context.refusals.is_empty(),
        "endpoint": context.endpoint,
        "credential": context.credential.map(|kind| kind.label()),
        "expires": context.expires.map(|at| at.to_string()),
        "refusals": context.refusals.iter().map(refused).collect::<Vec<_>>(),
    })
}

fn refused(refusal: &Refusal) -> Value {
    let text = format!("{refusal} {}", refusal.way_out());
    json!({"code": refusal.code(), "field": refusal.field(), "text": text})
}
