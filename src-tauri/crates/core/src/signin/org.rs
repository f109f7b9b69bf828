//! Which orgs a verified token carries.
//!
//! Invariant: only claims of a [`VerifiedIdToken`] are read, and a choice counts only where the token carries it.
//! Deliberately absent: any fallback. A token without an org is a sign-in without an org.

use serde_json::Value;

use super::error::SignInError;
use super::id_token::VerifiedIdToken;
use crate::deployment::OrgClaim;
use crate::tenant::{Org, Tenant};

/// Every org that the token carries, in its order, each once.
///
/// # Errors
/// [`SignInError::NoOrg`], or [`SignInError::OrgName`] where none of the names can be used.
pub fn orgs(verified: &VerifiedIdToken, rule: &OrgClaim) -> Result<Vec<Org>, SignInError> {
    let claims = Value::Object(verified.claims().clone());
    let mut names = Vec::new();
    for pointer in &rule.pointers {
        if let Some(value) = claims.pointer(pointer) {
            collect(value, rule.item_key.as_deref(), &mut names);
        }
    }
    let mut orgs: Vec<Org> = Vec::new();
    let mut refused = None;
    for name in names.iter().filter(|name| !name.is_empty()) {
        match Org::parse(name) {
            Ok(org) if !orgs.contains(&org) => orgs.push(org),
            Ok(_) => {}
            Err(error) => refused = Some(error),
        }
    }
    match (orgs.is_empty(), refused) {
        (false, _) => Ok(orgs),
        (true, Some(error)) => Err(error.into()),
        (true, None) => Err(SignInError::NoOrg),
    }
}

/// A string, a list of strings, a list of objects (by `item_key`), or the keys of a map (Keycloak, Zitadel).
fn collect(value: &Value, item_key: Option<&str>, names: &mut Vec<String>) {
    match value {
        Value::String(name) => names.push(name.clone()),
        Value::Array(items) => {
            for item in items {
                match (item, item_key) {
                    (Value::String(name), _) => names.push(name.clone()),
                    (Value::Object(object), Some(key)) => {
                        names.extend(object.get(key).and_then(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
            }
        }
        Value::Object(map) => names.extend(map.keys().cloned()),
        _ => {}
    }
}

/// The tenant of one org that the token carries.
///
/// # Errors
/// [`SignInError::ForeignOrg`] where it does not.
pub fn tenant(verified: &VerifiedIdToken, rule: &OrgClaim, chosen: &str) -> Result<Tenant, SignInError> {
    let org = orgs(verified, rule)?
        .into_iter()
        .find(|org| org.as_str() == chosen)
        .ok_or(SignInError::ForeignOrg)?;
    Ok(Tenant::from_verified(
        org,
        verified.issuer().to_owned(),
        verified.subject().to_owned(),
        verified.display_name().to_owned(),
    ))
}
