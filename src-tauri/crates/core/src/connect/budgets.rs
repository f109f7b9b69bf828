//! How long each step of a request may take.
//!
//! Every step has its own limit, so that an error can say which one was too slow and a stalled server costs seconds.

use std::time::Duration;

/// The limits. The defaults fit an API server on another continent behind a VPN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Looking the name up and opening the TCP connection.
    pub connect: Duration,
    /// How long the next address is held back while an earlier one is still being tried (RFC 8305).
    pub stagger: Duration,
    /// Opening a tunnel through a proxy.
    pub proxy: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// From the request to the head of the answer, once connected.
    pub first_byte: Duration,
    /// Between two reads of a body.
    pub idle: Duration,
    /// One whole answer with its body, once its head is there.
    pub page: Duration,
    /// A whole list, over all of its pages and tries.
    pub list: Duration,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            stagger: Duration::from_millis(300),
            proxy: Duration::from_secs(5),
            tls: Duration::from_secs(5),
            first_byte: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            page: Duration::from_secs(15),
            list: Duration::from_secs(60),
        }
    }
}
