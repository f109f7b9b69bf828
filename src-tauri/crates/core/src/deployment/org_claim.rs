//! Where a token carries the org.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// What is found at a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrgShape {
    /// One name or a list. An object there is no answer: its keys may be anything.
    #[default]
    Names,
    /// One name only.
    String,
    /// A list only: of names, or of objects that carry a name at `item_key`.
    List,
    /// An object whose keys are the names (Keycloak's `organization`, Zitadel's role maps).
    MapKeys,
    /// A list of names or an object whose keys are the names; Keycloak sends either, by its settings.
    NamesOrMapKeys,
}

/// Where the token carries the org.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrgClaim {
    /// JSON pointers (RFC 6901) into the id token's claims; what they lead to is joined. A `/` inside a claim's name is
    /// spelled `~1`, a `~` `~0`.
    #[serde(deserialize_with = "pointers")]
    pub pointers: Vec<String>,
    /// What is found there.
    #[serde(default)]
    pub shape: OrgShape,
    /// The key that carries the name where a list holds objects (Hanzo IAM: `org`).
    #[serde(default)]
    pub item_key: Option<String>,
}

impl OrgClaim {
    /// One pointer.
    pub(super) fn at(pointer: &str, shape: OrgShape) -> Self {
        Self { pointers: vec![pointer.to_owned()], shape, item_key: None }
    }
}

impl Default for OrgClaim {
    fn default() -> Self {
        Self { pointers: vec!["/org".into(), "/orgs".into()], shape: OrgShape::Names, item_key: None }
    }
}

fn pointers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let pointers = Vec::<String>::deserialize(deserializer)?;
    if pointers.is_empty() {
        return Err(D::Error::custom("at least one JSON pointer is needed"));
    }
    for pointer in &pointers {
        let escapes_well = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if !pointer.starts_with('/') || pointer.len() < 2 || !escapes_well {
            return Err(D::Error::custom(format!(
                "“{pointer}” is not a JSON pointer to a claim; one looks like /org, and a / inside a name is written ~1"
            )));
        }
    }
    Ok(pointers)
}
