//! An org's index: the list of its registered clusters, as one JSON document.
//!
//! Invariants: what cannot be read whole is not written; every field and every row that a change does not touch comes
//! through it unchanged; a name is in the index once after it was written; at most one row is the default.
//!
//! The document is a JSON array of rows (see [`super::record`]). A later format announces itself by a number `schema`
//! above [`KNOWN_SCHEMA`], in a row or in an object around them. `null`, which the original service may write for an
//! empty list, is an empty list.

use serde_json::Value;

use super::documents::{Change, Document, Fault};
use super::record::{Row, RowFault};
use super::{ClusterName, Record, RegistryError};
use crate::tenant::Org;

/// The latest format that this version reads and writes.
pub(super) const KNOWN_SCHEMA: u64 = 1;

/// The rows of an index, each of which is known to stand for a record.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Index {
    rows: Vec<Row>,
}

impl Document for Index {
    fn parse(text: &[u8]) -> Result<Self, Fault> {
        let rows = elements(text)?
            .into_iter()
            .enumerate()
            .map(|(at, element)| row(at + 1, element))
            .collect::<Result<_, _>>()?;
        Ok(Self { rows })
    }

    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(&self.rows).unwrap_or_default()
    }
}

impl Index {
    /// The records, of the org whose index this is. Where the original service left a name or a default twice, the
    /// first counts.
    pub fn records(&self, org: &Org) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::with_capacity(self.rows.len());
        let mut default_seen = false;
        for mut record in self.rows.iter().filter_map(|row| row.record(org).ok()) {
            if records.iter().any(|earlier| earlier.name == record.name) {
                continue;
            }
            record.default &= !default_seen;
            default_seen |= record.default;
            records.push(record);
        }
        records
    }

    /// One record.
    pub fn record(&self, org: &Org, name: &ClusterName) -> Option<Record> {
        self.records(org).into_iter().find(|record| record.name == *name)
    }

    /// Whether a cluster of this name is registered.
    pub fn has(&self, name: &ClusterName) -> bool {
        self.rows.iter().any(|row| row.name == name.as_str())
    }

    /// Puts the row in, in place of any of the same name. Says whether that changed anything.
    pub fn upsert(&mut self, new: &Row) -> bool {
        let at = self.rows.iter().position(|row| row.name == new.name);
        let mut row = new.clone();
        if let Some(old) = at.and_then(|at| self.rows.get(at)) {
            for (field, value) in &old.others {
                row.others.entry(field.clone()).or_insert_with(|| value.clone());
            }
        }
        let before = self.rows.clone();
        if row.default {
            self.rows.iter_mut().for_each(|other| other.default = false);
        }
        match at {
            Some(at) => {
                self.rows[at] = row;
                let mut position = 0;
                self.rows.retain(|other| {
                    position += 1;
                    other.name != new.name || position == at + 1
                });
            }
            None => self.rows.push(row),
        }
        self.rows != before
    }

    /// Takes the row out. Says whether there was one.
    pub fn remove(&mut self, name: &ClusterName) -> bool {
        let before = self.rows.len();
        self.rows.retain(|row| row.name != name.as_str());
        self.rows.len() != before
    }

    /// Whether exactly this registration is in the index.
    pub fn holds(&self, row: &Row) -> bool {
        self.rows.iter().any(|other| other.name == row.name && other.rev == row.rev)
    }
}

/// A registration.
pub(super) struct Upsert<'a>(pub &'a Row);

impl Change<Index> for Upsert<'_> {
    fn apply(&self, index: &mut Index) -> Result<bool, RegistryError> {
        Ok(!index.holds(self.0) && index.upsert(self.0))
    }

    fn holds(&self, index: &Index) -> bool {
        index.holds(self.0)
    }
}

/// The end of a registration. Written even where there is no such row: after this write, one that is still on its way
/// from an earlier try meets a conflict, so that the row cannot come back.
pub(super) struct Remove<'a>(pub &'a ClusterName);

impl Change<Index> for Remove<'_> {
    fn apply(&self, index: &mut Index) -> Result<bool, RegistryError> {
        index.remove(self.0);
        Ok(true)
    }

    fn holds(&self, index: &Index) -> bool {
        !index.has(self.0)
    }
}

/// Makes sure that there is no row and none is on its way, or finds the one that there is.
pub(super) struct Fence<'a>(pub &'a ClusterName);

impl Change<Index> for Fence<'_> {
    fn apply(&self, index: &mut Index) -> Result<bool, RegistryError> {
        Ok(!index.has(self.0))
    }

    /// A fence cannot be seen: where its answer was lost, it is put up again.
    fn holds(&self, index: &Index) -> bool {
        index.has(self.0)
    }
}

/// The elements of a document that is a JSON array.
pub(super) fn elements(text: &[u8]) -> Result<Vec<Value>, Fault> {
    // A store that cannot hold "nothing" may hold an empty text.
    if text.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let document: Value = serde_json::from_slice(text).map_err(|error| {
        Fault::Corrupt(format!("no JSON from line {}, column {} on", error.line(), error.column()))
    })?;
    match document {
        Value::Null => Ok(Vec::new()),
        Value::Array(elements) => Ok(elements),
        Value::Object(object) => match object.get("schema").and_then(Value::as_u64) {
            Some(found) if found > KNOWN_SCHEMA => Err(Fault::Newer(found)),
            _ => Err(Fault::Corrupt("an object where a list should be".into())),
        },
        _ => Err(Fault::Corrupt("it is not a list".into())),
    }
}

fn row(number: usize, element: Value) -> Result<Row, Fault> {
    // Asked first: a later format may have given other fields other types.
    if let Some(found) = element.get("schema").and_then(Value::as_u64).filter(|found| *found > KNOWN_SCHEMA) {
        return Err(Fault::Newer(found));
    }
    // serde's own text may quote the element.
    let row: Row = serde_json::from_value(element)
        .map_err(|_| Fault::Corrupt(format!("row {number} is not a registered cluster")))?;
    match row.key() {
        Ok(_) => Ok(row),
        Err(RowFault::Name) => {
            Err(Fault::Corrupt(format!("row {number} has a name that no cluster can have")))
        }
        Err(RowFault::Namespaces) => {
            Err(Fault::Corrupt(format!("row {number} is bounded to namespaces that cannot exist")))
        }
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
