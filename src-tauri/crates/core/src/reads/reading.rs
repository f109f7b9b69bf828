//! What a read came to. Absent, forbidden, outside the bound, failed and empty are different answers, and stay so.

use super::list::{ListMeta, Listed};
use crate::connect::ReadError;
use crate::registry::Namespace;

/// The outcome of one read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading<T> {
    /// Read in full; there may be nothing in it.
    Ok(T),
    /// Not asked: the registration is bounded to namespaces, and this belongs to the whole cluster.
    OutsideBound,
    /// The credential may not read it.
    Forbidden {
        /// The server's message.
        message: String,
    },
    /// The cluster does not have it: the API is not served, or the object is gone.
    Absent,
    /// It could not be read; unreachable clusters are here, with the error that says so.
    Failed(ReadError),
}

impl<T> Reading<T> {
    /// Sorts an outcome.
    pub(crate) fn of(outcome: Result<T, ReadError>) -> Self {
        match outcome {
            Ok(value) => Self::Ok(value),
            Err(ReadError::Forbidden { message, .. }) => Self::Forbidden { message },
            Err(ReadError::NotFound { .. }) => Self::Absent,
            Err(error) => Self::Failed(error),
        }
    }

    /// What was read, where it was.
    pub fn ok(&self) -> Option<&T> {
        match self {
            Self::Ok(value) => Some(value),
            _ => None,
        }
    }

    /// The error, where it failed.
    pub fn error(&self) -> Option<&ReadError> {
        match self {
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// The stable word of the outcome.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::OutsideBound => "outside_bound",
            Self::Forbidden { .. } => "forbidden",
            Self::Absent => "absent",
            Self::Failed(error) => error.code(),
        }
    }

    /// Turns what was read into something else.
    pub fn map<U>(self, turn: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Ok(value) => Reading::Ok(turn(value)),
            Self::OutsideBound => Reading::OutsideBound,
            Self::Forbidden { message } => Reading::Forbidden { message },
            Self::Absent => Reading::Absent,
            Self::Failed(error) => Reading::Failed(error),
        }
    }
}

/// The read of one namespace, or of all of them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The namespace; `None` for one read across the cluster.
    pub namespace: Option<Namespace>,
    /// What it came to.
    pub outcome: Reading<ListMeta>,
}

/// The rows of several namespaces, each read by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerNamespace<Row> {
    /// The rows of every namespace that was read in full.
    pub rows: Vec<Row>,
    /// Every namespace that was asked for, in order. At least one.
    pub parts: Vec<Part>,
}

/// The list of one namespace, or of all of them at once.
pub(super) type NamespaceList<Row> = (Option<Namespace>, Reading<Listed<Vec<Row>>>);

impl<Row> PerNamespace<Row> {
    pub(super) fn gather(parts: Vec<NamespaceList<Row>>) -> Self {
        let mut all = Self { rows: Vec::new(), parts: Vec::with_capacity(parts.len()) };
        for (namespace, outcome) in parts {
            let outcome = outcome.map(|mut listed| {
                if all.rows.is_empty() {
                    all.rows = std::mem::take(&mut listed.rows);
                } else {
                    all.rows.append(&mut listed.rows);
                }
                listed.meta
            });
            all.parts.push(Part { namespace, outcome });
        }
        all
    }

    /// Whether every part was read in full and every item was good; only then is a sum over the rows a sum over the
    /// whole.
    pub fn is_complete(&self) -> bool {
        self.parts.iter().all(|part| part.outcome.ok().is_some_and(|meta| meta.bad_items == 0))
    }

    /// Whether at least one part was read.
    pub fn is_anything_read(&self) -> bool {
        self.parts.iter().any(|part| part.outcome.ok().is_some())
    }

    /// The parts that were not read.
    pub fn unread(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| part.outcome.ok().is_none())
    }
}
