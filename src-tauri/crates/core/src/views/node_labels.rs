//! The labels of a node that a row keeps. A node has some 200 of them, so the rest is skipped while parsing.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::text::Text;

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";

/// What the labels say. Current names of labels win over the beta names that old clusters still write.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NodeLabels {
    pub roles: BTreeSet<Box<str>>,
    pub instance_type: Option<Box<str>>,
    pub region: Option<Box<str>>,
    pub zone: Option<Box<str>>,
}

impl<'de> Deserialize<'de> for NodeLabels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Labels)
    }
}

struct Labels;

impl<'de> Visitor<'de> for Labels {
    type Value = NodeLabels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeLabels, A::Error> {
        let mut labels = NodeLabels::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let key = key.0.as_ref();
            if let Some(role) = key.strip_prefix(ROLE_PREFIX) {
                if !role.is_empty() {
                    labels.roles.insert(role.into());
                }
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let (slot, is_current) = match key {
                "kubernetes.io/role" => {
                    let role = map.next_value::<Text<'de>>()?;
                    if !role.0.is_empty() {
                        labels.roles.insert(role.boxed());
                    }
                    continue;
                }
                "node.kubernetes.io/instance-type" => (&mut labels.instance_type, true),
                "beta.kubernetes.io/instance-type" => (&mut labels.instance_type, false),
                "topology.kubernetes.io/region" => (&mut labels.region, true),
                "failure-domain.beta.kubernetes.io/region" => (&mut labels.region, false),
                "topology.kubernetes.io/zone" => (&mut labels.zone, true),
                "failure-domain.beta.kubernetes.io/zone" => (&mut labels.zone, false),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value = map.next_value::<Text<'de>>()?;
            if !value.0.is_empty() && (is_current || slot.is_none()) {
                *slot = Some(value.boxed());
            }
        }
        Ok(labels)
    }
}
