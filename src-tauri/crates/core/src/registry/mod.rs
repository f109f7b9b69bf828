//! The cluster registry: the only way from a name to a Kubernetes client.

mod error;
mod name;
mod namespaces;
mod record;
mod refusal;

pub use error::{ClusterFailure, RegistryError};
pub(crate) use name::is_dns_label;
pub use name::{ClusterName, MAX_NAME_LEN};
pub use namespaces::{BoundRefused, Namespace, NamespaceBound, NamespaceScope};
pub use record::{Counts, DEFAULT_PROVIDER, Record};
pub use refusal::Refusal;
