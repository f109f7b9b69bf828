//! The kubeconfig gate: what may be sealed and dialled, judged before anything is dialled, run or read from disk.

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
