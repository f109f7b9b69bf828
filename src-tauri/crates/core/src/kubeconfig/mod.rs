//! The kubeconfig gate: what may be sealed and dialled, judged before anything is dialled, run or read from disk.

#[allow(dead_code, missing_docs)]
mod document;
mod encoding;
mod refusal;

pub use encoding::MAX_FILE_BYTES;
pub use refusal::{Refusal, Refusals};

use zeroize::Zeroizing;

/// A kubeconfig cut to one context that passed the gate. The only input from which a client is built.
pub struct SafeKubeconfig {
    text: Zeroizing<String>,
}

impl SafeKubeconfig {
    /// The kubeconfig text to seal: one cluster, one user, one context.
    pub fn text(&self) -> &Zeroizing<String> {
        &self.text
    }
}
