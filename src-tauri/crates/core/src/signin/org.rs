//! Which orgs a verified token carries.
//!
//! Invariant: only claims of a [`VerifiedIdToken`] are read, and a choice counts only where the token carries it.
//! Deliberately absent: any fallback. A token without an org is a sign-in without an org.

use serde_json::Value;

use super::error::SignInError;
use super::id_token::VerifiedIdToken;
use crate::deployment::{OrgClaim, OrgShape};
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
            collect(value, rule, &mut names);
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

/// Takes the names out of what a pointer led to, as far as it has the shape that the deployment says. Anything else is
/// no name: an object's keys, above all, are names only where the deployment says so.
fn collect(value: &Value, rule: &OrgClaim, names: &mut Vec<String>) {
    use OrgShape::{List, MapKeys, Names, NamesOrMapKeys, String as One};
    match (value, rule.shape) {
        (Value::String(name), Names | One | NamesOrMapKeys) => names.push(name.clone()),
        (Value::Array(items), Names | List | NamesOrMapKeys) => {
            names.extend(items.iter().filter_map(|item| match (item, &rule.item_key) {
                (Value::String(name), _) => Some(name.clone()),
                (Value::Object(object), Some(key)) => object.get(key)?.as_str().map(str::to_owned),
                _ => None,
            }));
        }
        (Value::Object(map), MapKeys | NamesOrMapKeys) => names.extend(map.keys().cloned()),
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
