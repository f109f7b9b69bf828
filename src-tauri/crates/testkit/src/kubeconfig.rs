//! Kubeconfigs of the demo's clusters, as tools write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::apiserver::ClientIdentity;

/// What a kubeconfig's user authenticates with.
pub enum Credential {
    /// A bearer token.
    Token(String),
    /// A client certificate.
    Certificate(ClientIdentity),
}

/// Writes a kubeconfig of one context. The note is put into an extension of the cluster, where tools such as minikube
/// keep theirs: text of a kubeconfig that is no credential and must not leave it either.
pub fn write(
    name: &str,
    server: &str,
    ca_pem: &str,
    credential: &Credential,
    namespace: Option<&str>,
    note: &str,
) -> String {
    let user = match credential {
        Credential::Token(token) => format!("    token: {token}\n"),
        Credential::Certificate(identity) => format!(
            "    client-certificate-data: {}\n    client-key-data: {}\n",
            STANDARD.encode(&identity.certificate),
            STANDARD.encode(&identity.key)
        ),
    };
    let namespace = namespace.map(|namespace| format!("    namespace: {namespace}\n")).unwrap_or_default();
    let ca = STANDARD.encode(ca_pem);
    format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: {name}\n  cluster:\n    server: {server}\n    \
         certificate-authority-data: {ca}\n    extensions:\n    - name: muster.demo/note\n      extension:\n        \
         note: {note}\nusers:\n- name: {name}-muster\n  user:\n{user}contexts:\n- name: {name}\n  \
         context:\n    cluster: {name}\n    user: {name}-muster\n{namespace}current-context: {name}\n"
    )
}
