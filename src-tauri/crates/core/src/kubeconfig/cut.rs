//! A kubeconfig cut to one context: what is sealed, and the only thing a client is built from.
//!
//! Invariant: a [`SafeKubeconfig`] is made here only, after every check passed; it holds one cluster, one user, one
//! context, and no key that is not in [`Written`]. Its text is wiped when dropped and never printed.
//!
//! Deliberately absent: extensions, preferences and whatever else a file may carry. They would be sealed unread.

use serde::Serialize;
use url::Url;
use zeroize::Zeroizing;

use super::refusal::{Refusal, Refusals};

/// How the cluster is reached.
pub struct Endpoint {
    pub server: Url,
    pub proxy: Option<Url>,
    pub ca: Option<Zeroizing<String>>,
    pub tls_server_name: Option<String>,
}

/// A client certificate and its key, as the fields hold them.
pub struct Pair {
    pub certificate: Zeroizing<String>,
    pub key: Zeroizing<String>,
}

/// What authenticates.
pub struct Credential {
    pub token: Option<Zeroizing<String>>,
    pub pair: Option<Pair>,
}

/// A kubeconfig cut to one context that passed the gate. The only input from which a client is built.
pub struct SafeKubeconfig {
    text: Zeroizing<String>,
    server: Url,
    proxy: Option<Url>,
    tls_server_name: Option<String>,
}

impl std::fmt::Debug for SafeKubeconfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SafeKubeconfig").field("server", &self.server.as_str()).finish_non_exhaustive()
    }
}

impl SafeKubeconfig {
    /// The kubeconfig text to seal: YAML with one cluster, one user, one context.
    pub fn text(&self) -> &Zeroizing<String> {
        &self.text
    }

    /// The API server.
    pub fn server(&self) -> &Url {
        &self.server
    }

    /// The API server as `host:port`, for people and for the index row.
    pub fn endpoint(&self) -> String {
        super::server::endpoint(&self.server)
    }

    /// The proxy it is reached through.
    pub fn proxy(&self) -> Option<&Url> {
        self.proxy.as_ref()
    }

    /// The name that the server's certificate has to carry, where it is not the host.
    pub fn tls_server_name(&self) -> Option<&str> {
        self.tls_server_name.as_deref()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    api_version: &'a str,
    kind: &'a str,
    clusters: [Named<'a, WrittenCluster<'a>>; 1],
    users: [Named<'a, WrittenUser<'a>>; 1],
    contexts: [Named<'a, WrittenContext<'a>>; 1],
    #[serde(rename = "current-context")]
    current_context: &'a str,
}

#[derive(Serialize)]
struct Named<'a, T> {
    name: &'a str,
    #[serde(flatten)]
    entry: T,
}

#[derive(Serialize)]
struct WrittenCluster<'a> {
    cluster: WrittenEndpoint<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenEndpoint<'a> {
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_authority_data: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_server_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy_url: Option<&'a str>,
}

#[derive(Serialize)]
struct WrittenUser<'a> {
    user: WrittenCredential<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct WrittenCredential<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_certificate_data: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_key_data: Option<&'a str>,
}

#[derive(Serialize)]
struct WrittenContext<'a> {
    context: WrittenNames<'a>,
}

#[derive(Serialize)]
struct WrittenNames<'a> {
    cluster: &'a str,
    user: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
}

/// Writes the cut.
pub fn cut(
    context: &str,
    endpoint: &Endpoint,
    credential: &Credential,
    namespace: Option<&str>,
) -> Result<SafeKubeconfig, Refusals> {
    // A context without a name (kubectl allows it) gets one, since current-context has to name it.
    let name = if context.is_empty() { "context" } else { context };
    let written = Written {
        api_version: "v1",
        kind: "Config",
        clusters: [Named {
            name,
            entry: WrittenCluster {
                cluster: WrittenEndpoint {
                    server: endpoint.server.as_str(),
                    certificate_authority_data: endpoint.ca.as_ref().map(|ca| ca.as_str()),
                    tls_server_name: endpoint.tls_server_name.as_deref(),
                    proxy_url: endpoint.proxy.as_ref().map(Url::as_str),
                },
            },
        }],
        users: [Named {
            name,
            entry: WrittenUser {
                user: WrittenCredential {
                    token: credential.token.as_ref().map(|token| token.as_str()),
                    client_certificate_data: credential.pair.as_ref().map(|pair| pair.certificate.as_str()),
                    client_key_data: credential.pair.as_ref().map(|pair| pair.key.as_str()),
                },
            },
        }],
        contexts: [Named {
            name,
            entry: WrittenContext { context: WrittenNames { cluster: name, user: name, namespace } },
        }],
        current_context: name,
    };
    let text = written_out(&written, room(name, endpoint, credential)).ok_or_else(|| {
        Refusals(vec![Refusal::NotAKubeconfig { found: "it cannot be written out again".into() }])
    })?;
    Ok(SafeKubeconfig {
        text,
        server: endpoint.server.clone(),
        proxy: endpoint.proxy.clone(),
        tls_server_name: endpoint.tls_server_name.clone(),
    })
}

/// Every text in quotes: what YAML 1.1 (which kubectl reads) and YAML 1.2 take for a number or a boolean differs.
fn written_out(written: &Written<'_>, room: usize) -> Option<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::with_capacity(room));
    let options = serde_saphyr::ser_options! { quote_all: true, prefer_block_scalars: false };
    serde_saphyr::to_fmt_writer_with_options(&mut *text, written, options).ok()?;
    Some(text)
}

/// Room for the whole text at once, so that no growth leaves an unwiped copy of a credential behind. A name
/// stands in it six times, and an escape takes at most four characters for each of its bytes.
fn room(name: &str, endpoint: &Endpoint, credential: &Credential) -> usize {
    let material = [
        endpoint.ca.as_ref().map(|ca| ca.len()),
        credential.token.as_ref().map(|token| 2 * token.len()),
        credential.pair.as_ref().map(|pair| pair.certificate.len() + pair.key.len()),
        endpoint.proxy.as_ref().map(|proxy| 2 * proxy.as_str().len()),
        endpoint.tls_server_name.as_ref().map(|name| 2 * name.len()),
    ];
    1024 + 24 * name.len()
        + 2 * endpoint.server.as_str().len()
        + material.into_iter().flatten().sum::<usize>()
}
