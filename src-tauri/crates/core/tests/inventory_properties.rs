//! What holds for the inventory of any cluster, however odd.

use muster_core::inventory::pool::{Source, Units};
use muster_core::inventory::totals::{Breakdown, Tally};
use muster_core::inventory::{
    Change, ClusterInventory, ClusterRows, FleetMember, LiveInventory, Pool, Reading, fleet, inventory,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

/// The objects of one cluster.
#[derive(Clone, Debug)]
struct Cluster {
    nodes: Vec<Value>,
    pods: Vec<Value>,
    slices: Vec<Value>,
    claims: Vec<Value>,
}

fn rows<T: serde::de::DeserializeOwned>(items: &[Value]) -> Vec<T> {
    items.iter().map(|item| serde_json::from_value(item.clone()).expect("a row never refuses JSON")).collect()
}

impl Cluster {
    fn rows(&self) -> ClusterRows {
        ClusterRows {
            nodes: Ok(rows(&self.nodes)),
            pods: Ok(rows(&self.pods)),
            resource_slices: Ok(rows(&self.slices)),
            resource_claims: Ok(rows(&self.claims)),
            device_classes: Ok(Vec::new()),
            device_taint_rules: Ok(Vec::new()),
        }
    }

    fn inventory(&self) -> ClusterInventory {
        inventory(&self.rows().input())
    }

    fn reversed(mut self) -> Self {
        for list in [&mut self.nodes, &mut self.pods, &mut self.slices, &mut self.claims] {
            list.reverse();
        }
        self
    }

    /// Both clusters in one: their nodes have different names.
    fn joined(mut self, other: Self) -> Self {
        self.nodes.extend(other.nodes);
        self.pods.extend(other.pods);
        self.slices.extend(other.slices);
        self.claims.extend(other.claims);
        self
    }
}

const NAMES: [&str; 9] = [
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.5gb",
    "nvidia.com/mig-3g.20gb",
    "amd.com/gpu",
    "amd.com/cpx_nps4",
    "google.com/tpu",
    "foo.com/gpu",
    "nvidia.com/gpumem",
];

fn quantity() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (0_u32..20).prop_map(|count| json!(count.to_string())),
        1 => (0_u32..20).prop_map(|count| json!(count)),
        1 => select(vec!["1k", "500m", "-3", "x", "", "99999999999999999999", "1e1"]).prop_map(|text| json!(text)),
    ]
}

fn resources() -> impl Strategy<Value = Value> {
    subsequence(NAMES.to_vec(), 0..4).prop_flat_map(|names| {
        proptest::collection::vec(quantity(), names.len()).prop_map(move |counts| {
            Value::Object(names.iter().map(|name| (*name).to_owned()).zip(counts).collect())
        })
    })
}

fn labels() -> impl Strategy<Value = Value> {
    let one = |key: &'static str, values: Vec<&'static str>| {
        proptest::option::of(select(values)).prop_map(move |value| (key, value))
    };
    (
        one(
            "nvidia.com/gpu.product",
            vec!["NVIDIA-A100-SXM4-40GB", "Tesla-T4-SHARED", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"],
        ),
        one("nvidia.com/gpu.count", vec!["0", "1", "8", "many"]),
        one("nvidia.com/gpu.replicas", vec!["0", "1", "4"]),
        one("nvidia.com/gpu.sharing-strategy", vec!["none", "time-slicing"]),
        one("amd.com/gpu.compute-memory-partition", vec!["spx_nps1", "cpx_nps4"]),
        one("type", vec!["virtual-kubelet", "metal"]),
        one("topology.kubernetes.io/zone", vec!["a", "b"]),
    )
        .prop_map(|(a, b, c, d, e, f, g)| {
            [a, b, c, d, e, f, g]
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), json!(value?))))
                .collect()
        })
        .prop_map(Value::Object)
}

fn node(prefix: &'static str, index: usize) -> impl Strategy<Value = Value> {
    let condition = select(vec!["True", "False", "Unknown"]);
    (resources(), resources(), any::<bool>(), labels(), any::<bool>(), condition, any::<bool>()).prop_map(
        move |(capacity, allocatable, is_healthy, labels, cordoned, ready, missing)| {
            let mut status = json!({
                "capacity": capacity,
                "allocatable": if is_healthy { capacity.clone() } else { allocatable },
                "conditions": [{"type": "Ready", "status": ready}, {"type": "GPUMissing", "status": if missing { "True" } else { "False" }}],
            });
            if missing && is_healthy {
                status["allocatable"] = Value::Null;
            }
            json!({
                "metadata": {"name": format!("{prefix}{index}"), "labels": labels},
                "spec": {"unschedulable": cordoned},
                "status": status,
            })
        },
    )
}

fn pod(prefix: &'static str, index: usize, nodes: usize) -> impl Strategy<Value = Value> {
    let phase = select(vec!["Pending", "Running", "Succeeded", "Failed", "Unknown"]);
    let target = proptest::option::weighted(0.8, 0..=nodes);
    (resources(), resources(), phase, target, -1_i32..2).prop_map(
        move |(main, init, phase, target, priority)| {
            json!({
                "metadata": {"name": format!("p{index}"), "namespace": prefix},
                "spec": {
                    "nodeName": target.map(|node| format!("{prefix}{node}")),
                    "priority": priority,
                    "containers": [{"name": "main", "resources": {"requests": main}}],
                    "initContainers": [{"name": "init", "resources": {"limits": init}}],
                },
                "status": {"phase": phase},
            })
        },
    )
}

fn device(index: usize) -> impl Strategy<Value = Value> {
    (0_usize..3, any::<bool>(), any::<bool>(), proptest::option::of(select(vec!["None", "NoSchedule"])))
        .prop_map(move |(card, is_part, has_counters, taint)| {
            let mut device = json!({
                "name": format!("d{index}"),
                "attributes": {"type": {"string": if is_part { "mig" } else { "gpu" }}},
                "capacity": {"memory": {"value": "40Gi"}},
            });
            let key = if is_part { "parentUUID" } else { "uuid" };
            device["attributes"][key] = json!({"string": format!("GPU-{card}")});
            if has_counters {
                device["consumesCounters"] = json!([{"counterSet": format!("card-{card}")}]);
            }
            if let Some(effect) = taint {
                device["taints"] = json!([{"key": "k", "effect": effect}]);
            }
            device
        })
}

fn slice(prefix: &'static str, index: usize) -> impl Strategy<Value = Value> {
    let devices = (0_usize..6).prop_flat_map(|count| (0..count).map(device).collect::<Vec<_>>());
    (devices, 0_i64..2, any::<bool>()).prop_map(move |(devices, generation, is_shared)| {
        let mut spec = json!({
            "driver": "gpu.nvidia.com",
            "pool": {"name": format!("{prefix}{index}"), "generation": generation, "resourceSliceCount": 1},
            "devices": devices,
        });
        if is_shared {
            spec["allNodes"] = json!(true);
        } else {
            spec["nodeName"] = json!(format!("{prefix}{index}"));
        }
        json!({"metadata": {"name": format!("s{index}")}, "spec": spec})
    })
}

fn claim(prefix: &'static str, index: usize, pools: usize) -> impl Strategy<Value = Value> {
    (0..=pools, 0_usize..7, any::<bool>(), any::<bool>()).prop_map(move |(pool, device, admin, is_used)| {
        let result = json!({
            "request": "r", "driver": "gpu.nvidia.com", "pool": format!("{prefix}{pool}"), "device": format!("d{device}"),
            "adminAccess": admin,
        });
        let users = if is_used { json!([{"resource": "pods", "name": "p0"}]) } else { json!([]) };
        json!({
            "metadata": {"name": format!("c{index}"), "namespace": prefix},
            "status": {"allocation": {"devices": {"results": [result]}}, "reservedFor": users},
        })
    })
}

fn cluster(prefix: &'static str) -> impl Strategy<Value = Cluster> {
    (0_usize..4, 0_usize..8, 0_usize..3, 0_usize..4).prop_flat_map(move |(nodes, pods, slices, claims)| {
        (
            (0..nodes).map(|index| node(prefix, index)).collect::<Vec<_>>(),
            (0..pods).map(|index| pod(prefix, index, nodes)).collect::<Vec<_>>(),
            (0..slices).map(|index| slice(prefix, index)).collect::<Vec<_>>(),
            (0..claims).map(|index| claim(prefix, index, slices)).collect::<Vec<_>>(),
        )
            .prop_map(|(nodes, pods, slices, claims)| Cluster { nodes, pods, slices, claims })
    })
}

/// Sum of two counts by the rule of totals: an unknown term adds nothing.
fn plus(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

fn check_pool(pool: &Pool) -> Result<(), TestCaseError> {
    let Units { capacity, allocatable, requested, free, usable_free } = pool.units;
    for count in [capacity, allocatable, requested, free, usable_free, pool.physical, pool.reclaimable]
        .into_iter()
        .flatten()
    {
        prop_assert!(count >= 0, "nothing is negative: {pool:?}");
    }
    let at_most = |a: Option<i64>, b: Option<i64>| a.zip(b).is_none_or(|(a, b)| a <= b);
    prop_assert!(at_most(usable_free, free), "usable are some of the free: {pool:?}");
    prop_assert!(at_most(free, allocatable), "free are some of the allocatable: {pool:?}");
    prop_assert!(at_most(allocatable, capacity), "allocatable are some of the capacity: {pool:?}");
    prop_assert!(at_most(pool.reclaimable, requested), "reclaimable are some of the requested: {pool:?}");
    if let (Source::DevicePlugin, Some(allocatable), Some(requested)) = (pool.source, allocatable, requested)
    {
        let expected = if requested <= allocatable { allocatable - requested } else { 0 };
        prop_assert_eq!(free, Some(expected), "free and requested are the allocatable, unless overcommitted");
    }
    let withheld: i64 = pool.withheld.values().sum();
    if let (Some(free), Some(usable)) = (free, usable_free) {
        prop_assert_eq!(
            withheld,
            free - usable,
            "the reasons make the difference between free and usable: {:?}",
            pool
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_counts_of_a_pool_fit_together(cluster in cluster("n")) {
        let inventory = cluster.inventory();
        for pool in inventory.pools() {
            check_pool(pool)?;
        }
        for pool in inventory.pools().filter(|pool| pool.source == Source::DevicePlugin) {
            let held: Option<i64> = pool.holders.iter().flatten().map(|holder| holder.units).sum();
            prop_assert_eq!(held, pool.units.requested, "the holders hold what is requested");
        }
    }

    #[test]
    fn the_order_of_the_input_is_irrelevant(cluster in cluster("n")) {
        prop_assert_eq!(cluster.inventory(), cluster.reversed().inventory());
    }

    #[test]
    fn merging_clusters_adds(a in cluster("a"), b in cluster("b")) {
        let (left, right) = (a.inventory(), b.inventory());
        let member = |name, inventory| FleetMember { name, uid: Some(name), reading: Reading::Read { inventory, observed_at: None } };
        let merged = fleet(&[member("a", &left), member("b", &right)]);
        let joined = a.joined(b).inventory();

        prop_assert_eq!(merged.totals.nodes, joined.totals.nodes);
        prop_assert_eq!(merged.totals.accelerator_nodes, joined.totals.accelerator_nodes);
        prop_assert_eq!(&merged.totals.by_resource, &joined.totals.by_resource, "a fleet of two is a cluster of both");
        prop_assert_eq!(&merged.totals.physical_by_vendor, &joined.totals.physical_by_vendor);
        prop_assert_eq!(&merged.totals.pending, &joined.totals.pending);
        prop_assert_eq!(&merged.breakdown, &joined.breakdown());
        for (resource, units) in &merged.totals.by_resource {
            let of = |inventory: &ClusterInventory| inventory.totals.by_resource.get(resource).copied().unwrap_or_default();
            prop_assert_eq!(units.requested, plus(of(&left).requested, of(&right).requested));
            prop_assert_eq!(units.usable_free, plus(of(&left).usable_free, of(&right).usable_free));
        }
    }

    #[test]
    fn one_cluster_under_two_names_counts_once(cluster in cluster("n"), other in cluster("o")) {
        let (reading, elsewhere) = (cluster.inventory(), other.inventory());
        let member = |name, uid, inventory| FleetMember { name, uid, reading: Reading::Read { inventory, observed_at: None } };
        let once = fleet(&[member("a", Some("1"), &reading), member("c", None, &elsewhere)]);
        let twice = fleet(&[member("a", Some("1"), &reading), member("b", Some("1"), &reading), member("c", None, &elsewhere)]);
        prop_assert_eq!(&once.totals, &twice.totals);
        prop_assert_eq!(&once.breakdown, &twice.breakdown);
        prop_assert_eq!(twice.warnings.len(), 1, "the second name is named");
    }

    #[test]
    fn every_way_to_group_has_the_same_sums(cluster in cluster("n")) {
        let breakdown = cluster.inventory().breakdown();
        let total = |groups: &std::collections::BTreeMap<_, Tally>| {
            groups.values().fold((0, None, None), |(pools, cards, usable), tally| {
                (pools + tally.pools, plus(cards, tally.physical), plus(usable, tally.units.usable_free))
            })
        };
        let whole = &breakdown.total;
        let all = (whole.pools, whole.physical, whole.units.usable_free);
        let Breakdown { by_model, by_vendor, by_resource, by_region, by_zone, .. } = &breakdown;
        for groups in [by_model, by_vendor, by_resource, by_region, by_zone] {
            prop_assert_eq!(total(groups), all);
        }
    }

    #[test]
    fn a_live_inventory_equals_one_computed_anew(before in cluster("n"), after in cluster("n"), uses_claim in any::<bool>()) {
        let mut live = LiveInventory::new(before.rows());
        let mut after = after;
        if let Some(pod) = after.pods.first_mut().filter(|_| uses_claim) {
            pod["spec"]["resourceClaims"] = json!([{"name": "r", "resourceClaimName": "c0"}]);
        }
        let rows = after.rows();
        // From one cluster to the other, change by change: what is there is put, then what is not there goes.
        let mut changes: Vec<Change> = Vec::new();
        changes.extend(rows.pods.iter().flatten().cloned().map(|pod| Change::Pod(Box::new(pod))));
        changes.extend(rows.nodes.iter().flatten().cloned().map(|node| Change::Node(Box::new(node))));
        let gone_pods = before.pods.len() > after.pods.len();
        for pod in before.rows().pods.into_iter().flatten().skip(after.pods.len()).filter(|_| gone_pods) {
            changes.push(Change::PodGone { namespace: pod.namespace, name: pod.name });
        }
        for node in before.rows().nodes.into_iter().flatten().skip(after.nodes.len()) {
            changes.push(Change::NodeGone(node.name));
        }
        for change in changes {
            live.apply(change);
            prop_assert_eq!(live.inventory(), &inventory(&live.rows().input()), "after every change");
        }
        let expected = ClusterRows { resource_slices: before.rows().resource_slices, resource_claims: before.rows().resource_claims, ..rows };
        prop_assert_eq!(live.inventory(), &inventory(&expected.input()), "all changes together");
    }
}
