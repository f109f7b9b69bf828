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

/// Writes a kubeconfig of one context.
pub fn write(
    name: &str,
    server: &str,
    ca_pem: &str,
    credential: &Credential,
    namespace: Option<&str>,
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
         certificate-authority-data: {ca}\nusers:\n- name: {name}-muster\n  user:\n{user}contexts:\n- name: {name}\n  \
         context:\n    cluster: {name}\n    user: {name}-muster\n{namespace}current-context: {name}\n"
    )
}
