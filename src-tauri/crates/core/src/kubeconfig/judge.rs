//! One context judged: every reason to refuse it, everything worth a warning, and, where nothing speaks against it,
//! the kubeconfig cut to it.
//!
//! Invariants: a cut exists only where there is no refusal; a cluster or user entry is judged once, however many
//! contexts name it, so that a file cannot make the gate work longer than its size warrants.
//!
//! Deliberately absent: stopping at the first fault.

use std::cell::OnceCell;
use std::collections::HashMap;

use jiff::Timestamp;

use super::cluster::{self, ClusterVerdict};
use super::cut::{self, SafeKubeconfig};
use super::document::{ContextEntry, Document, NamedContext};
use super::findings::Findings;
use super::lenient::{Lenient, Text};
use super::printable::printable;
use super::refusal::{Refusal, Refusals};
use super::user::{self, UserVerdict};
use super::{Context, Warning, name, provider, server};
use crate::endpoint::EndpointPolicy;
use crate::registry::is_dns_label;

/// Where, by which rule and when contexts are judged.
pub struct Bench<'a> {
    document: &'a Document,
    policy: EndpointPolicy,
    now: Timestamp,
    contexts: HashMap<&'a str, usize>,
    clusters: Entries<'a, ClusterVerdict>,
    users: Entries<'a, UserVerdict>,
}

/// The entries of a list by name, with the verdict on each, once it was given.
struct Entries<'a, V> {
    by_name: HashMap<&'a str, Vec<usize>>,
    verdicts: Vec<OnceCell<V>>,
}

impl<'a, V> Entries<'a, V> {
    fn new(names: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut entries = Self { by_name: HashMap::new(), verdicts: Vec::new() };
        for (at, name) in names.enumerate() {
            entries.verdicts.push(OnceCell::new());
            entries.by_name.entry(name.unwrap_or_default()).or_default().push(at);
        }
        entries
    }

    /// The one entry that a context means.
    fn find(&self, what: &'static str, reference: &Text, findings: &mut Findings) -> Option<usize> {
        let Some(name) = findings.text(what, reference) else {
            if !matches!(reference, Lenient::Odd(_)) {
                findings.refuse(Refusal::NoReference { what });
            }
            return None;
        };
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([only]) => return Some(*only),
            Some(_) => findings.refuse(Refusal::DuplicateName { what, name: printable(name) }),
            None => findings.refuse(Refusal::DanglingReference { what, name: printable(name) }),
        }
        None
    }
}

impl<'a> Bench<'a> {
    /// Lays the document on the bench.
    pub fn new(document: &'a Document, policy: EndpointPolicy, now: Timestamp) -> Self {
        let mut contexts = HashMap::new();
        for context in document.contexts.entries() {
            *contexts.entry(context.get().and_then(|c| c.name.text()).unwrap_or_default()).or_default() += 1;
        }
        let clusters = document.clusters.entries().iter().map(|c| c.get().and_then(|c| c.name.text()));
        let users = document.users.entries().iter().map(|u| u.get().and_then(|u| u.name.text()));
        Self { document, policy, now, contexts, clusters: Entries::new(clusters), users: Entries::new(users) }
    }

    /// Judges every context.
    pub fn all(&self) -> Vec<Context> {
        (0..self.document.contexts.entries().len()).map(|at| self.judge(at).context).collect()
    }

    /// Cuts the document to the context at this place.
    pub fn cut(&self, at: usize) -> Result<SafeKubeconfig, Refusals> {
        let judged = self.judge(at);
        let endpoint = judged.cluster.and_then(|cluster| cluster.endpoint.as_ref());
        let credential = judged.user.and_then(|user| user.credential.as_ref());
        match (endpoint, credential) {
            (Some(endpoint), Some(credential)) if judged.context.refusals.is_empty() => {
                cut::cut(&judged.context.key, endpoint, credential, judged.context.namespace.as_deref())
            }
            _ => Err(Refusals(judged.context.refusals)),
        }
    }

    fn judge(&self, at: usize) -> Judged<'_> {
        let mut findings = Findings::default();
        let (no_name, no_entry) = (NamedContext::default(), ContextEntry::default());
        let named = self.document.contexts.entries().get(at).unwrap_or(&Lenient::Absent);
        findings.expect("contexts", "a mapping with name and context", named);
        let named = named.get().unwrap_or(&no_name);
        let key = findings.text("name", &named.name).unwrap_or_default();
        if self.contexts.get(key).is_some_and(|count| *count > 1) {
            findings.refuse(Refusal::DuplicateName { what: "context", name: printable(key) });
        }
        findings.expect("context", "a mapping", &named.context);
        let entry = named.context.get().unwrap_or(&no_entry);
        // A context that is no mapping has said enough: what it would have named is not missed as well.
        let odd = findings.refusals.iter().any(|refusal| matches!(refusal, Refusal::Malformed { .. }));
        let cluster = if odd { None } else { self.cluster(entry, &mut findings) };
        let user = if odd { None } else { self.user(entry, &mut findings) };
        if let Some(cluster) = cluster {
            findings.add(&cluster.findings);
        }
        if let Some(user) = user {
            findings.add(&user.findings);
        }
        let mut namespace = findings.text("namespace", &entry.namespace);
        if let Some(odd) = namespace.filter(|namespace| !is_dns_label(namespace)) {
            findings.warnings.push(Warning::BadNamespace { namespace: printable(odd) });
            namespace = None;
        }
        let shown = cluster.and_then(|cluster| cluster.shown.as_ref());
        let authority = cluster.and_then(|cluster| cluster.authority.clone());
        let context = Context {
            name: printable(key),
            key: key.to_owned(),
            current: self.document.current_context.text() == Some(key),
            suggested_name: name::suggest(key, entry.cluster.text().unwrap_or_default(), shown),
            endpoint: shown.map(server::endpoint),
            namespace: namespace.map(str::to_owned),
            credential: user.and_then(|user| user.kind),
            expires: user.and_then(|user| user.expires),
            provider: provider::detect(key, shown, authority.as_ref().map(|a| a.subject.as_str())),
            authority,
            refusals: findings.refusals,
            warnings: findings.warnings,
        };
        Judged { context, cluster, user }
    }

    fn cluster(&self, context: &ContextEntry, findings: &mut Findings) -> Option<&ClusterVerdict> {
        findings.expect("clusters", "a list", &self.document.clusters);
        let at = self.clusters.find("cluster", &context.cluster, findings)?;
        let entry = self.document.clusters.entries().get(at)?.get();
        let judge =
            || cluster::judge(entry.map_or(&Lenient::Absent, |named| &named.cluster), self.policy, self.now);
        Some(self.clusters.verdicts.get(at)?.get_or_init(judge))
    }

    fn user(&self, context: &ContextEntry, findings: &mut Findings) -> Option<&UserVerdict> {
        findings.expect("users", "a list", &self.document.users);
        let at = self.users.find("user", &context.user, findings)?;
        let entry = self.document.users.entries().get(at)?.get();
        let judge = || user::judge(entry.map_or(&Lenient::Absent, |named| &named.user), self.now);
        Some(self.users.verdicts.get(at)?.get_or_init(judge))
    }
}

/// A context with what it was judged by.
struct Judged<'b> {
    context: Context,
    cluster: Option<&'b ClusterVerdict>,
    user: Option<&'b UserVerdict>,
}
