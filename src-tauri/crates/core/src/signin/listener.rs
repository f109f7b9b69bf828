//! The loopback listener that the browser comes back to (RFC 8252, section 7.3).
//!
//! Invariants: bound to a loopback address only; serves one path; answers every connection (browsers open idle ones);
//! a request whose `Host` is not ours is refused (DNS rebinding); a wrong `state` is told and the wait goes on, since a
//! forged request must not be able to end an attempt, and neither must a flood of connections; the first answer that
//! counts closes the listener before anything else happens.
//!
//! Deliberately absent: a general HTTP server. One request line and the `Host` header are all that is read.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;
use zeroize::Zeroizing;

use super::error::SignInError;
use super::pages::{DONE_PAGE, FAILED_PAGE, NOTHING_PAGE, STALE_PAGE, STYLE_HASH};
use super::words::words;

/// The path in the redirect URI.
pub const PATH: &str = "/callback";

const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_HEADER_BYTES: usize = 8 * 1024;
/// Connections read at once; more wait in the system's queue. Well below what a process may open.
const MAX_CONNECTIONS: usize = 64;
/// How long to wait where a connection could not be accepted: descriptors may have run out for a moment.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// What a callback has to carry.
pub struct Awaited {
    /// The attempt's `state`.
    pub state: String,
    /// The provider's issuer.
    pub issuer: String,
    /// Whether `iss` has to be there (RFC 9207).
    pub issuer_required: bool,
}

/// What the browser brought.
pub enum Callback {
    /// The authorization code.
    Code(Zeroizing<String>),
    /// The provider's refusal.
    Refused {
        /// The OAuth error code.
        error: String,
        /// The provider's words.
        description: Option<String>,
    },
}

/// A bound listener.
pub struct Listener {
    sockets: Vec<TcpListener>,
    redirect: Url,
    authority: String,
}

impl Listener {
    /// Binds before the browser is opened, so that the port in the redirect URI is the port that answers.
    ///
    /// # Errors
    /// [`SignInError::NoPort`].
    pub async fn bind(host: &str, ports: &[u16]) -> Result<Self, SignInError> {
        let any = [0];
        let ports = if ports.is_empty() { &any[..] } else { ports };
        let mut last = String::new();
        for port in ports {
            match Self::bind_port(host, *port).await {
                Ok(listener) => return Ok(listener),
                Err(error) => last = error.to_string(),
            }
        }
        Err(SignInError::NoPort { why: last })
    }

    async fn bind_port(host: &str, port: u16) -> std::io::Result<Self> {
        let first = match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(socket) => socket,
            Err(_) if host != "localhost" => TcpListener::bind(("::1", port)).await?,
            Err(error) => return Err(error),
        };
        let local = first.local_addr()?;
        let mut sockets = vec![first];
        let authority = if host == "localhost" {
            // A browser may try ::1 first for this name: where another program has that port there, it would get the
            // code. A system without IPv6 has nobody there.
            match TcpListener::bind(("::1", local.port())).await {
                Ok(socket) => sockets.push(socket),
                Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => return Err(error),
                Err(_) => {}
            }
            format!("localhost:{}", local.port())
        } else {
            SocketAddr::to_string(&local)
        };
        let redirect = Url::parse(&format!("http://{authority}{PATH}")).map_err(std::io::Error::other)?;
        Ok(Self { sockets, redirect, authority })
    }

    /// The redirect URI: used in the authorization request and, letter for letter, in the token request.
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Where it listens.
    #[cfg(test)]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().filter_map(|socket| socket.local_addr().ok()).collect()
    }

    /// Waits for the browser. `on_stale` is told of each request that belongs to another attempt.
    ///
    /// Never ends by itself: the caller bounds the wait.
    ///
    /// # Errors
    /// [`SignInError::Untrusted`] where a callback with our state is malformed or comes from another issuer.
    pub async fn wait(
        self,
        awaited: &Awaited,
        on_stale: impl Fn() + Send + Sync,
    ) -> Result<Callback, SignInError> {
        let (found, mut requests) = mpsc::channel(1);
        let authority: Arc<str> = self.authority.into();
        let mut accepting = JoinSet::new();
        for socket in self.sockets {
            accepting.spawn(accept(socket, Arc::clone(&authority), found.clone()));
        }
        drop(found);
        while let Some((stream, query)) = requests.recv().await {
            let (page, status, outcome) = match judge(&query, awaited) {
                Judged::Stale => {
                    on_stale();
                    respond(stream, 400, STALE_PAGE).await;
                    continue;
                }
                Judged::Bad(why) => (FAILED_PAGE, 400, Err(SignInError::Untrusted { why: why.into() })),
                Judged::Good(Callback::Code(code)) => (DONE_PAGE, 200, Ok(Callback::Code(code))),
                Judged::Good(refused) => (FAILED_PAGE, 200, Ok(refused)),
            };
            // The ports are free again before the page is seen.
            accepting.shutdown().await;
            respond(stream, status, page).await;
            return outcome;
        }
        Err(SignInError::NoPort { why: "the listener closed".into() })
    }
}

/// Accepts connections for ever, and sends on those that are callbacks.
async fn accept(
    socket: TcpListener,
    authority: Arc<str>,
    found: mpsc::Sender<(TcpStream, Zeroizing<String>)>,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let Ok((stream, _)) = socket.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let (authority, found) = (Arc::clone(&authority), found.clone());
        connections.spawn(async move {
            let _slot = slot;
            if let Some(request) = read_request(stream, &authority).await {
                // Where the wait is over, nobody receives it.
                let _ = found.send(request).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

enum Judged {
    Stale,
    Bad(&'static str),
    Good(Callback),
}

fn judge(query: &str, awaited: &Awaited) -> Judged {
    let values = |name: &str| {
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect::<Vec<_>>()
    };
    if values("state") != [awaited.state.as_str()] {
        return Judged::Stale;
    }
    match values("iss").as_slice() {
        [] if awaited.issuer_required => {
            return Judged::Bad("the browser came back without naming the identity provider");
        }
        [] => {}
        [issuer] if *issuer == awaited.issuer => {}
        _ => return Judged::Bad("the browser came back from another identity provider"),
    }
    let (mut codes, mut errors) = (values("code"), values("error"));
    match (codes.len(), errors.len()) {
        (1, 0) => Judged::Good(Callback::Code(Zeroizing::new(codes.remove(0)))),
        (0, 1) => Judged::Good(Callback::Refused {
            error: words(&errors.remove(0)),
            description: values("error_description").first().map(|text| words(text)),
        }),
        _ => Judged::Bad("the browser came back with neither a code nor a reason"),
    }
}

/// Reads one request head; answers and drops everything that is not a callback.
async fn read_request(mut stream: TcpStream, authority: &str) -> Option<(TcpStream, Zeroizing<String>)> {
    // A connection that says nothing in time is closed without an answer: browsers open such in advance.
    let refusal = match timeout(HEADER_TIMEOUT, read_head(&mut stream)).await.ok()? {
        Head::Closed => return None,
        Head::TooLarge => 431,
        Head::Read(head) => match callback_query(&head, authority) {
            Ok(query) => return Some((stream, query)),
            Err(status) => status,
        },
    };
    respond(stream, refusal, NOTHING_PAGE).await;
    None
}

/// The query of a callback, or the status that refuses the request.
fn callback_query(head: &[u8], authority: &str) -> Result<Zeroizing<String>, u16> {
    let head = std::str::from_utf8(head).map_err(|_| 400_u16)?;
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(_)) = (request.next(), request.next(), request.next()) else {
        return Err(400);
    };
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim())
        .collect();
    if hosts != [authority] {
        return Err(421);
    }
    match target.split_once('?').unwrap_or((target, "")) {
        (PATH, query) if method == "GET" => Ok(Zeroizing::new(query.to_owned())),
        (PATH, _) => Err(405),
        _ => Err(404),
    }
}

enum Head {
    Read(Zeroizing<Vec<u8>>),
    TooLarge,
    Closed,
}

async fn read_head(stream: &mut TcpStream) -> Head {
    let mut head = Zeroizing::new(Vec::with_capacity(MAX_HEADER_BYTES));
    let mut chunk = Zeroizing::new([0_u8; 1024]);
    loop {
        let read = match stream.read(&mut chunk[..]).await {
            Ok(0) | Err(_) => return Head::Closed,
            Ok(read) => read,
        };
        if head.len() + read > MAX_HEADER_BYTES {
            return Head::TooLarge;
        }
        head.extend_from_slice(&chunk[..read]);
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return Head::Read(head);
        }
    }
}

async fn respond(mut stream: TcpStream, status: u16, body: &str) {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        _ => "Not Found",
    };
    let response = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'; style-src 'sha256-{STYLE_HASH}'\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    // The browser may have gone; the attempt does not depend on its seeing the page.
    let _ = timeout(HEADER_TIMEOUT, async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
