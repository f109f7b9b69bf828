//! What counts as a proof.

use std::sync::{Arc, Mutex};

use super::*;

/// A cluster that answers as told.
#[derive(Clone, Default)]
struct Told {
    pages: Vec<CountedPage>,
    /// Pages from this one on never come.
    stalls_from: Option<usize>,
    silent: bool,
    forbidden: Option<&'static str>,
    asked: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Cluster for Told {
    fn server(&self) -> String {
        "api.test:6443".into()
    }

    async fn git_version(&self) -> Result<String, ReadError> {
        if self.silent {
            std::future::pending::<()>().await;
        }
        Ok("v1.36.2".into())
    }

    async fn count_page(&self, after: Option<&str>) -> Result<CountedPage, ReadError> {
        self.asked.lock().expect("a lock").push("nodes".into());
        let at: usize = after.map_or(0, |mark| mark.parse().expect("a mark of ours"));
        if self.stalls_from.is_some_and(|from| at >= from) {
            std::future::pending::<()>().await;
        }
        Ok(self.pages[at].clone())
    }

    async fn prove_pods(&self, namespace: &Namespace) -> Result<(), ReadError> {
        self.asked.lock().expect("a lock").push(namespace.to_string());
        if self.forbidden == Some(namespace.as_str()) {
            return Err(ReadError::Forbidden { server: self.server(), message: "no".into() });
        }
        Ok(())
    }
}

fn page(nodes: u64, nvidia_gpu: u64, next: Option<&str>) -> CountedPage {
    CountedPage { counts: Counts { nodes, nvidia_gpu, amd_gpu: 1 }, next: next.map(str::to_owned) }
}

fn only(names: &[&str]) -> NamespaceBound {
    NamespaceBound::only(names).expect("namespaces")
}

#[tokio::test(start_paused = true)]
async fn a_whole_cluster_is_counted_over_all_pages() {
    let cluster = Told {
        pages: vec![page(2, 16, Some("1")), page(3, 8, Some("2")), page(1, 0, None)],
        ..Told::default()
    };
    let proof = prove(&cluster, &NamespaceBound::WholeCluster).await.expect("a proof");
    assert_eq!(proof.counts, Some(Counts { nodes: 6, nvidia_gpu: 24, amd_gpu: 3 }));
    assert_eq!(proof.version, "v1.36.2");
}

#[tokio::test(start_paused = true)]
async fn a_bounded_registration_asks_its_namespaces_and_never_the_nodes() {
    let cluster = Told::default();
    let proof = prove(&cluster, &only(&["a", "b"])).await.expect("a proof");
    assert_eq!(proof.counts, None, "unknown, which is not zero");
    let mut asked = cluster.asked.lock().expect("a lock").clone();
    asked.sort();
    assert_eq!(asked, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn one_namespace_that_is_denied_fails_the_proof() {
    let cluster = Told { forbidden: Some("b"), ..Told::default() };
    let failure = prove(&cluster, &only(&["a", "b", "c"])).await.expect_err("a denial");
    assert_eq!(failure.code(), "forbidden");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_does_not_answer_fails_after_fifteen_seconds() {
    let began = tokio::time::Instant::now();
    for cluster in [
        Told { silent: true, ..Told::default() },
        Told { pages: vec![page(1, 1, None)], stalls_from: Some(0), ..Told::default() },
    ] {
        let failure = prove(&cluster, &NamespaceBound::WholeCluster).await.expect_err("silence");
        assert_eq!(failure.code(), "timeout");
    }
    assert_eq!(began.elapsed(), 2 * PROOF_DEADLINE);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_too_large_to_count_in_time_is_proven_with_its_counts_unknown() {
    let cluster = Told {
        pages: vec![page(500, 1, Some("1")), page(500, 1, None)],
        stalls_from: Some(1),
        ..Told::default()
    };
    let proof = prove(&cluster, &NamespaceBound::WholeCluster).await.expect("the first page is the proof");
    assert_eq!(proof.counts, None, "a part of the nodes is not the number of nodes");
}

#[test]
fn a_count_is_digits_and_anything_else_is_none() {
    for (quantity, count) in [
        ("8", 8),
        ("0", 0),
        (" 16\n", 16),
        ("007", 7),
        ("", 0),
        ("-1", 0),
        ("+1", 0),
        ("1.5", 0),
        ("8k", 0),
        ("1e3", 0),
        ("eight", 0),
        ("<nil>", 0),
        ("8 8", 0),
        ("٨", 0),
        ("18446744073709551615", u64::MAX),
        ("18446744073709551616", u64::MAX),
        ("99999999999999999999999999", u64::MAX),
    ] {
        assert_eq!(plain_count(quantity), count, "{quantity:?}");
    }
}

#[test]
fn sums_stop_at_the_largest_number_instead_of_wrapping() {
    let much = Counts { nodes: 1, nvidia_gpu: u64::MAX, amd_gpu: u64::MAX - 1 };
    assert_eq!(much + much, Counts { nodes: 2, nvidia_gpu: u64::MAX, amd_gpu: u64::MAX });
}
