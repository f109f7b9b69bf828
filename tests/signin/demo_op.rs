//! The demo org's provider, under the same contract as the real one.

use muster_testkit::{DemoOptions, DemoOrg};

use crate::contract::{self, ProviderUnderTest};
use crate::contract_raw;

contract_tests!(super::demo_op::running);

/// A demo org of one test: it ends with the test's runtime.
pub struct DemoOp(DemoOrg);

/// A running one; starting it cannot fail for lack of anything.
pub async fn running() -> Option<&'static DemoOp> {
    let demo = DemoOrg::start(DemoOptions::default()).await.expect("loopback is there");
    Some(Box::leak(Box::new(DemoOp(demo))))
}

impl ProviderUnderTest for DemoOp {
    fn issuer(&self) -> String {
        self.0.issuer()
    }
    fn scopes(&self) -> &'static str {
        "[\"openid\", \"profile\", \"offline_access\"]"
    }
}
