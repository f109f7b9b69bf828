//! A kubeconfig as it is written, read leniently: a scalar of any kind counts as text, `null` as absent, unknown keys
//! are passed over. One odd entry never hides the others.
//!
//! Invariant: every scalar is wiped when dropped, and none has a `Debug` form. Deliberately absent: any judgement.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Options};
use zeroize::Zeroizing;

use super::refusal::Refusal;

/// A scalar's text.
pub struct Text(pub Zeroizing<String>);

impl Text {
    /// The text without surrounding white space, or `None` where nothing is left.
    pub fn get(&self) -> Option<&str> {
        let trimmed = self.0.trim();
        (!trimmed.is_empty()).then_some(trimmed)
    }
}

/// `Option<Text>`'s text, where there is any.
pub fn text(value: &Option<Text>) -> Option<&str> {
    value.as_ref().and_then(Text::get)
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyScalar;
        impl Visitor<'_> for AnyScalar {
            type Value = Text;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a scalar")
            }
            fn visit_str<E>(self, value: &str) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value.to_owned())))
            }
            fn visit_string<E>(self, value: String) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value)))
            }
            fn visit_bytes<E>(self, value: &[u8]) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(String::from_utf8_lossy(value).into_owned())))
            }
            fn visit_bool<E>(self, value: bool) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value.to_string())))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value.to_string())))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value.to_string())))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(value.to_string())))
            }
            fn visit_unit<E>(self) -> Result<Text, E> {
                Ok(Text(Zeroizing::new(String::new())))
            }
        }
        deserializer.deserialize_any(AnyScalar)
    }
}

/// Whether a key is there with anything but `null`; what it holds is passed over.
#[derive(Default)]
pub struct Present(pub bool);

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Option::<IgnoredAny>::deserialize(deserializer)?.is_some()))
    }
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// The document.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Document {
    #[serde(default)]
    pub kind: Option<Text>,
    #[serde(default)]
    pub current_context: Option<Text>,
    #[serde(default)]
    pub clusters: Option<Vec<NamedCluster>>,
    #[serde(default)]
    pub users: Option<Vec<NamedUser>>,
    #[serde(default)]
    pub contexts: Option<Vec<NamedContext>>,
}

/// An entry of `contexts`.
#[derive(Deserialize)]
pub struct NamedContext {
    #[serde(default)]
    pub name: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    pub context: ContextEntry,
}

/// What a context names.
#[derive(Deserialize, Default)]
pub struct ContextEntry {
    #[serde(default)]
    pub cluster: Option<Text>,
    #[serde(default)]
    pub user: Option<Text>,
    #[serde(default)]
    pub namespace: Option<Text>,
}

/// An entry of `clusters`.
#[derive(Deserialize)]
pub struct NamedCluster {
    #[serde(default)]
    pub name: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    pub cluster: ClusterEntry,
}

/// How a cluster is reached.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterEntry {
    #[serde(default)]
    pub server: Option<Text>,
    #[serde(default)]
    pub certificate_authority: Option<Text>,
    #[serde(default)]
    pub certificate_authority_data: Option<Text>,
    #[serde(default)]
    pub insecure_skip_tls_verify: Option<Text>,
    #[serde(default)]
    pub tls_server_name: Option<Text>,
    #[serde(default)]
    pub proxy_url: Option<Text>,
}

/// An entry of `users`.
#[derive(Deserialize)]
pub struct NamedUser {
    #[serde(default)]
    pub name: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    pub user: UserEntry,
}

/// What a user authenticates with.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub struct UserEntry {
    #[serde(default)]
    pub token: Option<Text>,
    // Spelled in camel case in the kubeconfig format, unlike its neighbours.
    #[serde(default, rename = "tokenFile")]
    pub token_file: Option<Text>,
    #[serde(default)]
    pub client_certificate: Option<Text>,
    #[serde(default)]
    pub client_certificate_data: Option<Text>,
    #[serde(default)]
    pub client_key: Option<Text>,
    #[serde(default)]
    pub client_key_data: Option<Text>,
    #[serde(default)]
    pub username: Option<Text>,
    #[serde(default)]
    pub password: Option<Text>,
    #[serde(default, rename = "as")]
    pub impersonate: Option<Text>,
    #[serde(default)]
    pub as_uid: Option<Text>,
    #[serde(default)]
    pub as_groups: Present,
    #[serde(default)]
    pub exec: Option<ExecEntry>,
    #[serde(default)]
    pub auth_provider: Option<AuthProviderEntry>,
}

/// An exec plugin: only its command's name is read.
#[derive(Deserialize)]
pub struct ExecEntry {
    #[serde(default)]
    pub command: Option<Text>,
}

/// An auth-provider plugin: only its name is read.
#[derive(Deserialize)]
pub struct AuthProviderEntry {
    #[serde(default)]
    pub name: Option<Text>,
}

/// Reads YAML (and so JSON) within a budget that no honest kubeconfig comes near.
pub fn parse(text: &str) -> Result<Document, Refusal> {
    let options =
        serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins, with_snippet: false };
    let document: Document = read(text, options)?;
    let kind = document.kind.as_ref().and_then(Text::get);
    let is_list_of_things =
        document.clusters.is_some() || document.users.is_some() || document.contexts.is_some();
    match kind {
        Some("Config") => Ok(document),
        None if is_list_of_things => Ok(document),
        Some(other) => Err(Refusal::NotAKubeconfig {
            found: format!("it is a Kubernetes object of kind “{}”", super::refusal::printable(other)),
        }),
        None => Err(Refusal::NotAKubeconfig { found: "it has neither contexts nor clusters".into() }),
    }
}

fn read(text: &str, options: Options) -> Result<Document, Refusal> {
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        if is_bomb(&error) {
            return Refusal::YamlBomb;
        }
        // The parser's own text may quote the file, so only the place is told.
        let found = match error.location() {
            Some(at) => format!("line {} is not valid YAML of a kubeconfig", at.line()),
            None => "it is not valid YAML of a kubeconfig".into(),
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
        | E::AliasReplayStackDepthExceeded { .. } => true,
        _ => false,
    }
}
