//! The cluster registry: the only way from a name to a Kubernetes client.

use std::fmt;

/// A cluster's name: a DNS label (RFC 1123), so that it is one safe segment of a KMS path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterName(String);

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
