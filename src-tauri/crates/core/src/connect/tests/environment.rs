//! Nothing of the environment has a say. The variables are set for a child process, never for this one.

use std::process::Command;

use crate::connect::scripted::{client_of, json};

const CHILD: &str = "connect::tests::environment::the_child_reads_a_cluster_directly";

#[tokio::test]
#[ignore = "run by the test below, in a process with a hostile environment"]
async fn the_child_reads_a_cluster_directly() {
    let (client, network) = client_of(|_| json(200, r#"{"gitVersion":"v1.36.2"}"#)).await;
    client.version().await.expect("an answer");
    assert_eq!(network.dialled(), ["203.0.113.7:6443"], "dialled directly");
    println!("direct-read-done");
}

#[test]
fn proxy_and_kubeconfig_variables_have_no_effect() {
    let this = std::env::current_exe().expect("this test's own program");
    for (proxy, no_proxy) in
        [("http://127.0.0.1:9", ""), ("::not a url::", "::nonsense::/99"), ("socks5://x", "*")]
    {
        let child = Command::new(&this)
            .args(["--exact", CHILD, "--ignored", "--nocapture"])
            .env("HTTPS_PROXY", proxy)
            .env("https_proxy", proxy)
            .env("HTTP_PROXY", proxy)
            .env("ALL_PROXY", proxy)
            .env("NO_PROXY", no_proxy)
            .env("KUBECONFIG", "/nonexistent/kubeconfig")
            .env("KUBERNETES_SERVICE_HOST", "127.0.0.1")
            .env("KUBE_RS_DEBUG_OVERRIDE_URL", "http://127.0.0.1:9")
            .env("KUBE_RS_DEBUG_IMPERSONATE_USER", "system:admin")
            .output()
            .expect("the child runs");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("direct-read-done"), "HTTPS_PROXY={proxy}: {said}");
    }
}
