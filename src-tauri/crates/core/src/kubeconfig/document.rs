//! A kubeconfig as it is written (k8s.io/client-go/tools/clientcmd/api/v1), read leniently; unknown keys are passed over.
//!
//! Invariant: it takes a bounded amount of work and stack, whatever the bytes are. Deliberately absent: any judgement of
//! a context.

use base64::Engine as _;
use serde_saphyr::{DuplicateKeyPolicy, Options};
use zeroize::Zeroizing;

use super::lenient::{Filled, Lenient, Switch, Text, mapping};
use super::printable::printable;
use super::refusal::Refusal;

/// More contexts are not judged. The largest fleets known have some 6,000, and a file within the size limit cannot hold
/// many more that are whole.
pub const MAX_CONTEXTS: usize = 10_000;

mapping! {
    /// The document.
    Document {
        kind: Text = "kind",
        current_context: Text = "current-context",
        clusters: Lenient<Vec<Lenient<NamedCluster>>> = "clusters",
        users: Lenient<Vec<Lenient<NamedUser>>> = "users",
        contexts: Lenient<Vec<Lenient<NamedContext>>> = "contexts",
    }
}

mapping! {
    /// An entry of `contexts`.
    NamedContext { name: Text = "name", context: Lenient<ContextEntry> = "context" }
}

mapping! {
    /// What a context names.
    ContextEntry { cluster: Text = "cluster", user: Text = "user", namespace: Text = "namespace" }
}

mapping! {
    /// An entry of `clusters`.
    NamedCluster { name: Text = "name", cluster: Lenient<ClusterEntry> = "cluster" }
}

mapping! {
    /// How a cluster is reached.
    ClusterEntry {
        server: Text = "server",
        certificate_authority: Text = "certificate-authority",
        certificate_authority_data: Text = "certificate-authority-data",
        insecure_skip_tls_verify: Lenient<Switch> = "insecure-skip-tls-verify",
        tls_server_name: Text = "tls-server-name",
        proxy_url: Text = "proxy-url",
    }
}

mapping! {
    /// An entry of `users`.
    NamedUser { name: Text = "name", user: Lenient<UserEntry> = "user" }
}

mapping! {
    /// What a user authenticates with. `tokenFile` is spelled unlike its neighbours in the format itself.
    UserEntry {
        token: Text = "token",
        token_file: Text = "tokenFile",
        client_certificate: Text = "client-certificate",
        client_certificate_data: Text = "client-certificate-data",
        client_key: Text = "client-key",
        client_key_data: Text = "client-key-data",
        username: Text = "username",
        password: Text = "password",
        act_as: Text = "as",
        act_as_uid: Text = "as-uid",
        act_as_groups: Lenient<Filled> = "as-groups",
        act_as_extra: Lenient<Filled> = "as-user-extra",
        exec: Lenient<ExecEntry> = "exec",
        auth_provider: Lenient<AuthProviderEntry> = "auth-provider",
    }
}

mapping! {
    /// An exec plugin: only its command's name is read.
    ExecEntry { command: Text = "command" }
}

mapping! {
    /// An auth-provider plugin: only its name is read.
    AuthProviderEntry { name: Text = "name" }
}

/// Reads YAML (and so JSON) within a budget that no honest kubeconfig comes near.
pub fn parse(text: &str) -> Result<Document, Refusal> {
    let other = |found: &str| Err(Refusal::NotAKubeconfig { found: found.to_owned() });
    if let Some(found) = known_mistake(text) {
        return other(found);
    }
    let document = match read(text)? {
        Lenient::Is(document) => document,
        Lenient::Odd(found) => return other(&format!("it holds {found}")),
        Lenient::Absent => return Err(Refusal::Empty),
    };
    let has_lists =
        document.clusters.is_present() || document.users.is_present() || document.contexts.is_present();
    match document.kind.text() {
        Some("Config") => {}
        None if has_lists => {}
        Some(kind) => {
            return other(&format!("it is a Kubernetes object of kind “{}”", printable(kind)));
        }
        None => return other("it has neither contexts nor clusters"),
    }
    if let Lenient::Odd(found) = &document.contexts {
        return other(&format!("its “contexts” is {found}, not a list"));
    }
    match document.contexts.entries().len() {
        0 => Err(Refusal::NoContext),
        count if count > MAX_CONTEXTS => Err(Refusal::TooManyContexts { count, max: MAX_CONTEXTS }),
        _ => Ok(document),
    }
}

/// What people drop in place of a kubeconfig, and what YAML would call a text.
fn known_mistake(text: &str) -> Option<&'static str> {
    let text = text.trim();
    if text.starts_with("-----BEGIN ") {
        return Some("it is a certificate or a key (PEM)");
    }
    // Secrets of Cluster API and of Terraform hold the kubeconfig in base64. Both `apiVersion` and `kind` may come first.
    let is_base64 = |head: &str| {
        let decoded = base64::engine::general_purpose::STANDARD.decode(head).ok().map(Zeroizing::new);
        decoded.is_some_and(|bytes| {
            [b"apiVersi", b"kind: Co", b"clusters"].iter().any(|b| bytes.starts_with(*b))
        })
    };
    text.get(..12).is_some_and(is_base64).then_some("it is a kubeconfig in base64; decode it first")
}

fn read(text: &str) -> Result<Lenient<Document>, Refusal> {
    // Aliases are legal, but no tool that writes kubeconfigs makes more than a handful of them. The scanner's own limit
    // of nesting lies behind what it looks ahead, so that depth is always told as depth (`max_depth`, 64).
    let budget = serde_saphyr::budget! {
        max_aliases: 1_000,
        max_anchors: 1_000,
        max_merge_keys: 1_000,
        max_documents: 2,
        flow_nesting_limit: 4_096,
    };
    let options: Options = serde_saphyr::options! {
        budget: budget,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 100_000 },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        if is_bomb(&error) {
            return Refusal::YamlBomb;
        }
        if let serde_saphyr::Error::MultipleDocuments { .. } = error {
            return Refusal::NotAKubeconfig {
                found: "it holds several documents, set apart by “---”".into(),
            };
        }
        // The parser's own text may quote the file, so only the place is told.
        let found = match error.location() {
            Some(at) => format!("line {} is not valid YAML", at.line()),
            None => "it is not valid YAML".into(),
        };
        Refusal::NotAKubeconfig { found }
    })
}

fn is_bomb(error: &serde_saphyr::Error) -> bool {
    use serde_saphyr::Error as E;
    match error {
        E::WithSnippet { error, .. } | E::AliasError { error, .. } => is_bomb(error),
        E::Budget { .. }
        | E::AliasReplayCounterOverflow { .. }
        | E::AliasReplayLimitExceeded { .. }
        | E::AliasExpansionLimitExceeded { .. }
        | E::AliasReplayStackDepthExceeded { .. }
        | E::RecursiveReferencesRequireWeakTypes { .. } => true,
        _ => false,
    }
}
