//! Test support: a network in memory, with API servers on it that do exactly what a test scripts.
//!
//! Nothing here opens a socket, so that tests can pause tokio's clock and stalls cost no time. The bytes on the wire are
//! the real ones: TLS by rustls, HTTP/1.1 written out by hand, so that a script can also get it wrong.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::tcp::{OpenTcp, Wire};
use super::{Budgets, ClusterClient, Dialer, Resolve};
use crate::endpoint::EndpointPolicy;
use crate::kubeconfig::SafeKubeconfig;

/// A credential that must turn up nowhere but in the `authorization` header.
pub const CANARY: &str = "canary-7f3a91-token";
/// The name that scripted servers have.
pub const HOST: &str = "kube.example";

fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// A certificate authority.
pub struct Authority(pub CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2099, 1, 1);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    /// A certificate for `names`, valid in these years.
    pub fn issue(&self, names: &[&str], years: (i32, i32), key: &KeyPair) -> rcgen::Certificate {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("names");
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        params.signed_by(key, &self.0).expect("a certificate")
    }

    /// A server's TLS settings.
    pub fn server(&self, names: &[&str]) -> ServerTls {
        self.server_valid(names, (2020, 2098))
    }

    pub fn server_valid(&self, names: &[&str], years: (i32, i32)) -> ServerTls {
        let key = KeyPair::generate().expect("a key");
        let chain = vec![self.issue(names, years, &key).der().clone()];
        ServerTls { chain, key: key.serialize_der(), clients: None }
    }
}

/// What a server shows, and whom it lets in.
pub struct ServerTls {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
    clients: Option<CertificateDer<'static>>,
}

impl ServerTls {
    /// Asks for client certificates of this authority.
    pub fn for_clients_of(mut self, authority: &Authority) -> Self {
        self.clients = Some(authority.0.der().clone());
        self
    }

    fn acceptor(self) -> tokio_rustls::TlsAcceptor {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .expect("versions");
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = rustls::RootCertStore::empty();
                roots.add(authority).expect("a root");
                let verifier =
                    rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .build()
                        .expect("a verifier");
                builder.with_client_cert_verifier(verifier)
            }
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key));
        Arc::new(builder.with_single_cert(self.chain, key).expect("a server")).into()
    }
}

/// One step of an answer.
#[derive(Clone)]
pub enum Step {
    /// Write these bytes.
    Send(Vec<u8>),
    /// Wait (in tokio's time).
    Wait(Duration),
    /// Never do anything again, with the connection open.
    Stall,
    /// Close the connection.
    Close,
}

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `GET /version`, with the query.
    pub line: String,
    /// The head and the body.
    pub text: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A whole answer with its length.
pub fn reply(status: u16, headers: &str, body: &[u8]) -> Vec<Step> {
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    vec![Step::Send([head.as_bytes(), body].concat())]
}

/// A JSON answer.
pub fn json(status: u16, body: &str) -> Vec<Step> {
    reply(status, "content-type: application/json\r\n", body.as_bytes())
}

type Script = Arc<dyn Fn(&Seen) -> Vec<Step> + Send + Sync>;
type Peer = Arc<dyn Fn(DuplexStream) + Send + Sync>;

/// What is at an address.
#[derive(Clone)]
enum Host {
    Refuses,
    BlackHole,
    Serves(Peer),
}

/// The network: who is at which address, and who was dialled.
#[derive(Default)]
pub struct Network {
    hosts: Mutex<HashMap<SocketAddr, Host>>,
    dialled: Mutex<Vec<SocketAddr>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Network {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    fn put(&self, address: SocketAddr, host: Host) {
        locked(&self.hosts).insert(address, host);
    }

    /// The connection is refused there (as it is wherever nothing was put).
    pub fn refuses(&self, address: &str) {
        self.put(address.parse().expect("an address"), Host::Refuses);
    }

    /// Nothing ever comes back from there.
    pub fn black_hole(&self, address: &str) {
        self.put(address.parse().expect("an address"), Host::BlackHole);
    }

    /// Raw connections are handed to `peer`.
    pub fn raw(&self, address: &str, peer: impl Fn(DuplexStream) + Send + Sync + 'static) {
        self.put(address.parse().expect("an address"), Host::Serves(Arc::new(peer)));
    }

    /// An API server with this script.
    pub fn serve(
        &self,
        address: &str,
        tls: ServerTls,
        script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    ) {
        let acceptor = tls.acceptor();
        let script: Script = Arc::new(script);
        let seen = self.seen.clone();
        self.raw(address, move |wire| {
            let (acceptor, script, seen) = (acceptor.clone(), script.clone(), seen.clone());
            tokio::spawn(async move {
                // A client that turns the certificate down ends the connection here, which is its good right.
                if let Ok(stream) = acceptor.accept(wire).await {
                    let _ = converse(stream, &script, &seen).await;
                }
            });
        });
    }

    /// Whom the client dialled, in order.
    pub fn dialled(&self) -> Vec<String> {
        locked(&self.dialled).iter().map(SocketAddr::to_string).collect()
    }

    /// The requests that arrived, in order.
    pub fn seen(&self) -> Vec<Seen> {
        locked(&self.seen).clone()
    }

    /// Connects to an address from inside the network, as a proxy does.
    pub fn inner_open(&self, address: &str) -> Option<DuplexStream> {
        let host = locked(&self.hosts).get(&address.parse().expect("an address")).cloned();
        match host {
            Some(Host::Serves(peer)) => {
                let (near, far) = tokio::io::duplex(64 * 1024);
                peer(far);
                Some(near)
            }
            _ => None,
        }
    }
}

#[async_trait]
impl OpenTcp for Network {
    async fn open(&self, address: SocketAddr) -> io::Result<Wire> {
        locked(&self.dialled).push(address);
        let host = locked(&self.hosts).get(&address).cloned();
        match host {
            None | Some(Host::Refuses) => Err(io::ErrorKind::ConnectionRefused.into()),
            Some(Host::BlackHole) => std::future::pending().await,
            Some(Host::Serves(peer)) => {
                let (near, far) = tokio::io::duplex(64 * 1024);
                peer(far);
                Ok(Box::new(near))
            }
        }
    }
}

async fn converse(
    mut stream: tokio_rustls::server::TlsStream<DuplexStream>,
    script: &Script,
    seen: &Mutex<Vec<Seen>>,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let Some(request) = read_request(&mut stream, &mut buffer).await? else { return Ok(()) };
        locked(seen).push(request.clone());
        for step in script(&request) {
            match step {
                Step::Send(bytes) => {
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                }
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Stall => return std::future::pending().await,
                Step::Close => return stream.shutdown().await,
            }
        }
    }
}

async fn read_request(
    stream: &mut tokio_rustls::server::TlsStream<DuplexStream>,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Seen>> {
    loop {
        let text = String::from_utf8_lossy(buffer).into_owned();
        if let Some(end) = text.find("\r\n\r\n") {
            let seen = Seen { line: text.lines().next().unwrap_or_default().to_owned(), text };
            let body = seen.header("content-length").and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
            if buffer.len() >= end + 4 + body {
                buffer.drain(..end + 4 + body);
                let line = seen.line.trim_end_matches(" HTTP/1.1").to_owned();
                return Ok(Some(Seen { line, ..seen }));
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await? {
            0 => return Ok(None),
            n => buffer.extend_from_slice(&chunk[..n]),
        }
    }
}

/// A resolver whose answers change from call to call; the last one stays.
pub struct Names(Mutex<Vec<Vec<IpAddr>>>, Mutex<usize>);

impl Names {
    pub fn answering(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |one: &&[&str]| one.iter().map(|a| a.parse().expect("an address")).collect();
        Arc::new(Self(Mutex::new(answers.iter().map(parse).collect()), Mutex::new(0)))
    }

    pub fn asked(&self) -> usize {
        *locked(&self.1)
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = locked(&self.0);
        *locked(&self.1) += 1;
        match answers.len() {
            0 => Err(io::Error::other("no such name")),
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.remove(0)),
        }
    }
}

/// A dialer into the network, under the default policy.
pub fn dialer(network: &Arc<Network>) -> Dialer {
    let mut dialer = Dialer::new(EndpointPolicy::Private)
        .with_resolver(Names::answering(&[&["203.0.113.7"]]))
        .with_budgets(Budgets::default());
    dialer.tcp = network.clone();
    dialer
}

/// What a kubeconfig says beside the server and the authority.
#[derive(Default)]
pub struct Extra<'a> {
    pub cluster: &'a str,
    /// Leaves the authority out, so that the operating system's count.
    pub without_authority: bool,
    /// The user's lines; empty for the canary token.
    pub user: &'a str,
}

/// A kubeconfig that passed the gate.
pub fn kubeconfig(
    server: &str,
    authority: &Authority,
    policy: EndpointPolicy,
    extra: &Extra<'_>,
) -> SafeKubeconfig {
    let ca = STANDARD.encode(authority.0.pem());
    let ca =
        if extra.without_authority { String::new() } else { format!("certificate-authority-data: {ca}") };
    let token = format!("token: {CANARY}");
    let user = if extra.user.is_empty() { &token } else { extra.user };
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         clusters:\n- name: c\n  cluster:\n    server: {server}\n    {ca}\n    {}\n\
         users:\n- name: u\n  user:\n    {user}\n\
         contexts:\n- name: c\n  context: {{cluster: c, user: u}}\n",
        extra.cluster,
    );
    SafeKubeconfig::admit(text.as_bytes(), policy, now()).expect("the gate lets it pass")
}

/// A client of a server at [`HOST`] with this script, and the network it is on.
pub async fn client_of(
    script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
) -> (ClusterClient, Arc<Network>) {
    let network = Network::new();
    let authority = Authority::new("kube-ca");
    network.serve("203.0.113.7:6443", authority.server(&[HOST]), script);
    let text =
        kubeconfig("https://kube.example:6443", &authority, EndpointPolicy::Private, &Extra::default());
    (super::connect(&text, &dialer(&network)).await.expect("a client"), network)
}
