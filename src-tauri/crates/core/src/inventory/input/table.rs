//! The two kinds of string-keyed maps of a row: labels (and annotations) and resource counts.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde::de::{MapAccess, SeqAccess};

use super::lenient::{Keep, Shape, Table};
use crate::inventory::name::Name;
use crate::inventory::quantity::Count;

/// Labels or annotations, sorted by key. An empty value is as good as an absent label: clouds write empty accelerator
/// labels on CPU nodes (skypilot#6274).
///
/// A node has a hundred labels and the rules ask for as many keys, most of which are not there and begin alike; so keys
/// are found by a hash, and compared only where it matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    entries: Box<[(Name, Box<str>)]>,
    /// Hash of every key with its place in `entries`, sorted.
    places: Box<[(u32, u32)]>,
}

fn hash(key: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(key.as_bytes());
    // The upper half of this hash is the better one.
    (hasher.finish() >> 32) as u32
}

impl Labels {
    pub(super) fn from_table<K>(table: Table<K, Box<str>>) -> Self {
        Self::of(table.entries)
    }

    fn of(entries: Box<[(Name, Box<str>)]>) -> Self {
        let mut places: Box<[(u32, u32)]> =
            (0..).zip(&entries).map(|(at, (key, _))| (hash(key), at)).collect();
        places.sort_unstable();
        Self { entries, places }
    }

    /// The value of a label that is present and not blank.
    pub fn get(&self, key: &str) -> Option<&str> {
        let wanted = hash(key);
        let first = self.places.partition_point(|(hash, _)| *hash < wanted);
        let candidates = self.places[first..].iter().take_while(|(hash, _)| *hash == wanted);
        let mut entries = candidates.map(|(_, at)| &self.entries[*at as usize]);
        let (_, value) = entries.find(|(known, _)| *known == *key)?;
        Some(value.trim()).filter(|value| !value.is_empty())
    }

    /// Whether the label says `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// The labels whose key begins with `prefix`, blank values included.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let start = self.entries.partition_point(|(key, _)| key.as_ref() < prefix);
        self.entries[start..]
            .iter()
            .map(|(key, value)| (key.as_ref(), value.trim()))
            .take_while(move |(key, _)| key.starts_with(prefix))
    }

    /// All labels in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_ref(), value.as_ref()))
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(labels: I) -> Self {
        let mut entries: Vec<(Name, Box<str>)> =
            labels.into_iter().map(|(key, value)| (key.as_ref().into(), value.as_ref().into())).collect();
        entries.sort();
        Self::of(entries.into())
    }
}

/// Counts of extended resources (names with a domain), sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources(Box<[(Name, Count)]>);

impl Resources {
    pub(super) fn from_table<K>(table: Table<K, Count>) -> Self {
        Self(table.entries)
    }

    /// The count under a name, where the name is present.
    pub fn get(&self, name: &str) -> Option<Count> {
        let index = self.0.binary_search_by(|(n, _)| n.as_ref().cmp(name)).ok()?;
        Some(self.0[index].1)
    }

    /// All counts in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, Count)> {
        self.0.iter().map(|(name, count)| (name, *count))
    }

    /// Whether no extended resource is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Name, Count)> for Resources {
    /// Collects counts; of two with the same name the sum is kept.
    fn from_iter<I: IntoIterator<Item = (Name, Count)>>(counts: I) -> Self {
        let mut entries: Vec<(Name, Count)> = Vec::new();
        for (name, count) in counts {
            match entries.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum = sum.plus(count),
                None => entries.push((name, count)),
            }
        }
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(entries.into())
    }
}

/// Keeps the names of extended resources: those with a domain that is not Kubernetes' own.
pub(super) struct ExtendedNames;

impl Keep for ExtendedNames {
    fn keep(key: &str) -> bool {
        key.split_once('/').is_some_and(|(domain, _)| domain != "kubernetes.io")
    }
}

impl<'de> Shape<'de> for Count {
    fn text(value: &str) -> Option<Self> {
        Some(Self::parse(value))
    }
    fn integer(value: i64) -> Option<Self> {
        Some(Self::parse_number(&value.to_string()))
    }
    fn number(value: &str) -> Option<Self> {
        Some(Self::parse_number(value))
    }
    fn boolean(_: bool) -> Option<Self> {
        Some(Self::UNREADABLE)
    }
    fn list<A: SeqAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        bool::list(items)?;
        Ok(Some(Self::UNREADABLE))
    }
    fn object<A: MapAccess<'de>>(fields: A) -> Result<Option<Self>, A::Error> {
        bool::object(fields)?;
        Ok(Some(Self::UNREADABLE))
    }
}
