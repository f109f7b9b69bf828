//! Opening the TCP connection: one look-up, every address judged, and only judged addresses dialled.
//!
//! Invariant: [`dial`] is the only place in the program's way to a cluster where a socket is opened, and it opens none
//! unless *every* address of the name is within the policy. A name that leads to an allowed and a forbidden address at
//! once is being used to get around the policy, so nothing of it is dialled.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout_at};

use super::material::Target;
use super::{ConnectError, Dialer, Stage};

/// An open connection, whatever carries it.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open connection.
pub type Wire = Box<dyn Duplex>;

/// Opens a connection to an address that was judged. Passed in, so that tests can stand on the other side.
#[async_trait]
pub trait OpenTcp: Send + Sync {
    /// Connects.
    async fn open(&self, address: SocketAddr) -> io::Result<Wire>;
}

/// The operating system's sockets.
pub struct SystemTcp;

#[async_trait]
impl OpenTcp for SystemTcp {
    async fn open(&self, address: SocketAddr) -> io::Result<Wire> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // A VPN that drops or a computer that sleeps leaves a connection half open; the probes notice within 30 s.
        let keepalive =
            TcpKeepalive::new().with_time(Duration::from_secs(15)).with_interval(Duration::from_secs(5));
        let socket = SockRef::from(&stream);
        socket.set_tcp_keepalive(&keepalive)?;
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(Duration::from_secs(20)))?;
        Ok(Box::new(stream))
    }
}

/// Dials `target`.
pub async fn dial(dialer: &Dialer, target: &Target) -> Result<Wire, ConnectError> {
    let deadline = Instant::now() + dialer.budgets.connect;
    let too_slow =
        |stage| ConnectError::Timeout { server: target.label(), stage, after: dialer.budgets.connect };
    let addresses = timeout_at(deadline, addresses(dialer, &target.host))
        .await
        .map_err(|_| too_slow(Stage::Resolve))??;
    judge(dialer, &target.host, &addresses)?;
    let judged = alternate(addresses).into_iter().map(|ip| SocketAddr::new(ip, target.port)).collect();
    timeout_at(deadline, race(dialer, judged))
        .await
        .map_err(|_| too_slow(Stage::Connect))?
        .map_err(|error| io_fault(target, &error))
}

/// Judges a host that is a literal address; a name has to be resolved first.
pub fn judge_literal(dialer: &Dialer, host: &str) -> Result<(), ConnectError> {
    host.parse::<IpAddr>().map_or(Ok(()), |address| judge(dialer, host, &[address]))
}

fn judge(dialer: &Dialer, host: &str, addresses: &[IpAddr]) -> Result<(), ConnectError> {
    for &address in addresses {
        dialer
            .policy
            .permit(address)
            .map_err(|refused| ConnectError::AddressRefused { host: host.to_owned(), refused })?;
    }
    Ok(())
}

async fn addresses(dialer: &Dialer, host: &str) -> Result<Vec<IpAddr>, ConnectError> {
    if let Ok(literal) = host.parse() {
        return Ok(vec![literal]);
    }
    let fault = |detail: String| ConnectError::Dns { host: host.to_owned(), detail };
    match dialer.resolver.resolve(host).await {
        Ok(addresses) if addresses.is_empty() => Err(fault("it has no address".into())),
        Ok(addresses) => Ok(addresses),
        Err(error) => Err(fault(error.to_string())),
    }
}

/// Alternates the address families, beginning with the family that the resolver put first (RFC 8305, section 4).
fn alternate(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let first_is_v6 = addresses.first().is_some_and(IpAddr::is_ipv6);
    let (preferred, other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut out = Vec::with_capacity(preferred.len() + other.len());
    let (mut preferred, mut other) = (preferred.into_iter(), other.into_iter());
    loop {
        let before = out.len();
        out.extend(preferred.next());
        out.extend(other.next());
        if out.len() == before {
            return out;
        }
    }
}

/// Tries the addresses one after the other, each a little later than the one before, and keeps the first that answers
/// (RFC 8305, section 5). What lost is closed by being dropped.
async fn race(dialer: &Dialer, addresses: Vec<SocketAddr>) -> io::Result<Wire> {
    let mut waiting = addresses.into_iter();
    let mut attempts = FuturesUnordered::new();
    let mut fault: Option<io::Error> = None;
    attempts.extend(waiting.next().map(|address| dialer.tcp.open(address)));
    loop {
        tokio::select! {
            outcome = attempts.next() => match outcome {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => {
                    // "Refused" tells more than "no route", which only says that one family is not there.
                    if fault.as_ref().is_none_or(|old| old.kind() != io::ErrorKind::ConnectionRefused) {
                        fault = Some(error);
                    }
                    attempts.extend(waiting.next().map(|address| dialer.tcp.open(address)));
                }
                None => return Err(fault.unwrap_or_else(|| io::ErrorKind::NotFound.into())),
            },
            () = sleep(dialer.budgets.stagger), if waiting.len() > 0 => {
                attempts.extend(waiting.next().map(|address| dialer.tcp.open(address)));
            }
        }
    }
}

fn io_fault(target: &Target, error: &io::Error) -> ConnectError {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectError::Refused { server: target.label() },
        io::ErrorKind::TimedOut => ConnectError::Unreachable {
            server: target.label(),
            detail: "the operating system gave up waiting".into(),
        },
        _ => ConnectError::Unreachable { server: target.label(), detail: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate_and_the_resolvers_first_choice_stays_first() {
        let parse =
            |all: &[&str]| all.iter().map(|a| a.parse().expect("an address")).collect::<Vec<IpAddr>>();
        let mixed = parse(&["2001:db8::1", "2001:db8::2", "192.0.2.1", "192.0.2.2", "192.0.2.3"]);
        let wanted = parse(&["2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "192.0.2.3"]);
        assert_eq!(alternate(mixed), wanted);
        assert_eq!(alternate(parse(&["192.0.2.1"])), parse(&["192.0.2.1"]));
    }
}
