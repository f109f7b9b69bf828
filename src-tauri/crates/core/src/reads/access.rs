//! What the credential of a registration may do, asked of the cluster itself.

use crate::connect::{AccessAnswer, AccessQuestion, ReadError};
use crate::registry::Bound;

/// Asks one question. A namespace in it needs no check here: the answer tells about the credential, and shows nothing
/// of what lies there.
///
/// # Errors
/// Where the cluster did not answer.
pub async fn read_access(bound: &Bound, question: &AccessQuestion) -> Result<AccessAnswer, ReadError> {
    bound.client().access(question).await
}
