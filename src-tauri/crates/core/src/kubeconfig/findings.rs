//! What was found out about a context, so that one fault does not hide the next.

use super::Warning;
use super::lenient::{Lenient, Text};
use super::refusal::Refusal;

/// Verdicts as they come up.
#[derive(Default, Clone)]
pub struct Findings {
    pub refusals: Vec<Refusal>,
    pub warnings: Vec<Warning>,
}

impl Findings {
    /// The value, or its refusal noted.
    pub fn take<T>(&mut self, result: Result<T, Refusal>) -> Option<T> {
        result.map_err(|refusal| self.refuse(refusal)).ok()
    }

    /// The value, or each of its refusals noted.
    pub fn take_all<T>(&mut self, result: Result<T, Vec<Refusal>>) -> Option<T> {
        result.map_err(|refusals| refusals.into_iter().for_each(|refusal| self.refuse(refusal))).ok()
    }

    /// Notes a refusal once.
    pub fn refuse(&mut self, refusal: Refusal) {
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    /// The text of a field, or that something else stands there noted.
    pub fn text<'a>(&mut self, field: &'static str, value: &'a Text) -> Option<&'a str> {
        self.expect(field, "text", value);
        value.text()
    }

    /// Notes where something else stands than what belongs there.
    pub fn expect<T>(&mut self, field: &'static str, wanted: &'static str, value: &Lenient<T>) {
        if let Lenient::Odd(found) = value {
            self.refuse(Refusal::Malformed { field, found, wanted });
        }
    }

    /// Notes everything that another found.
    pub fn add(&mut self, other: &Self) {
        other.refusals.iter().cloned().for_each(|refusal| self.refuse(refusal));
        self.warnings.extend(other.warnings.iter().cloned());
    }
}
