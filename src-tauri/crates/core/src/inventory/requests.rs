//! What a pod effectively asks for: the formula of the scheduler.
//!
//! Source: k8s.io/component-helpers `resource/helpers.go` (KEP-753 for sidecars). Main containers and sidecars run
//! together; plain init containers run one after the other before them, each beside the sidecars declared earlier; the
//! devices of an init container are used again by the mains. The pod asks for the larger of the two, plus its overhead.
//! Pod-level `spec.resources` covers only cpu, memory and hugepages, and in-place resize does not apply to extended
//! resources, so neither is read.

use super::input::Resources;
use super::name::Name;
use super::quantity::Count;

/// The request of one container.
#[derive(Clone, Debug, Default)]
pub struct Container {
    /// An init container with `restartPolicy: Always`, which keeps running beside the mains.
    pub sidecar: bool,
    /// What it asks for, see [`of_container`].
    pub requests: Resources,
}

/// Requests of a container, resource by resource: the request, else the limit. The API server copies limits of extended
/// resources into requests, but templates, mirror pods and dumps have only the limit. An explicit request of 0 stays 0.
pub fn of_container(requests: Resources, limits: Resources) -> Resources {
    if limits.is_empty() {
        return requests;
    }
    let only_limited = limits.iter().filter(|(resource, _)| requests.get(resource).is_none());
    requests.iter().chain(only_limited).map(|(resource, count)| (resource.clone(), count)).collect()
}

/// Effective request of a pod from its main containers, its init containers in order, and its overhead.
pub fn effective(mains: &[Container], init: &[Container], overhead: &Resources) -> Resources {
    let mut names: Vec<&Name> = mains
        .iter()
        .chain(init)
        .map(|container| &container.requests)
        .chain([overhead])
        .flat_map(|requests| requests.iter().map(|(name, _)| name))
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name.clone(), effective_of(name, mains, init, overhead))).collect()
}

fn effective_of(resource: &str, mains: &[Container], init: &[Container], overhead: &Resources) -> Count {
    let of = |requests: &Resources| requests.get(resource).unwrap_or(Count::ZERO);
    let mut sidecars = Count::ZERO;
    let mut peak = Count::ZERO;
    for container in init {
        let beside = sidecars.plus(of(&container.requests));
        if container.sidecar {
            sidecars = beside;
        }
        peak = peak.max(beside);
    }
    let running = mains.iter().fold(sidecars, |sum, container| sum.plus(of(&container.requests)));
    running.max(peak).plus(of(overhead))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: &str = "nvidia.com/gpu";

    fn asks(text: &str) -> Resources {
        [(GPU.into(), Count::parse(text))].into_iter().collect()
    }

    fn plain(text: &str) -> Container {
        Container { sidecar: false, requests: asks(text) }
    }

    fn sidecar(text: &str) -> Container {
        Container { sidecar: true, requests: asks(text) }
    }

    fn units(mains: &[Container], init: &[Container], overhead: &Resources) -> Option<i64> {
        effective(mains, init, overhead).get(GPU).and_then(|count| count.units)
    }

    #[test]
    fn init_containers_count_as_their_maximum_not_their_sum() {
        assert_eq!(units(&[plain("2")], &[plain("4"), plain("3")], &Resources::default()), Some(4));
        assert_eq!(units(&[plain("1"), plain("2")], &[plain("1")], &Resources::default()), Some(3));
    }

    #[test]
    fn a_sidecar_is_added_to_the_mains_and_to_the_init_containers_after_it() {
        let none = Resources::default();
        assert_eq!(units(&[plain("2")], &[sidecar("1")], &none), Some(3), "sidecars run beside the mains");
        assert_eq!(
            units(&[plain("1")], &[sidecar("1"), plain("4")], &none),
            Some(5),
            "init after the sidecar"
        );
        assert_eq!(
            units(&[plain("1")], &[plain("4"), sidecar("1")], &none),
            Some(4),
            "init before the sidecar"
        );
        assert_eq!(
            units(&[plain("0")], &[sidecar("2"), sidecar("3")], &none),
            Some(5),
            "sidecars run together"
        );
    }

    #[test]
    fn overhead_is_added_after_the_maximum() {
        assert_eq!(units(&[plain("2")], &[plain("4")], &asks("1")), Some(5));
    }

    #[test]
    fn limits_stand_in_only_for_missing_requests() {
        assert_eq!(of_container(Resources::default(), asks("2")), asks("2"));
        assert_eq!(of_container(asks("0"), asks("2")), asks("0"));
    }

    #[test]
    fn one_unreadable_container_makes_the_pod_unknown_not_zero() {
        assert_eq!(units(&[plain("two"), plain("1")], &[], &Resources::default()), None);
    }
}
