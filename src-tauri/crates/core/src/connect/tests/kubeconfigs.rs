//! What the kubeconfig gate accepts, a client can be built from: no fault of a credential waits for the first dial.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::connect::{Dialer, connect};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::inspect;

#[tokio::test]
async fn a_client_can_be_built_from_every_kubeconfig_that_the_gate_accepts() {
    let now: Timestamp = "2026-12-01T12:00:00Z".parse().expect("a date");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/kubeconfig-cases");
    let mut built = 0;
    for file in std::fs::read_dir(folder).expect("the cases are there") {
        let path = file.expect("a file").path();
        let bytes = std::fs::read(&path).expect("it can be read");
        let Ok(inspection) = inspect(&bytes, EndpointPolicy::Any, now) else { continue };
        for context in inspection.contexts() {
            let Ok(kubeconfig) = inspection.cut(&context.key, now) else { continue };
            let client = connect(&kubeconfig, &Dialer::new(EndpointPolicy::Any)).await;
            assert!(client.is_ok(), "{}: {:?}", path.display(), client.err());
            built += 1;
        }
    }
    assert!(built >= 15, "only {built} of the cases were accepted");
}
