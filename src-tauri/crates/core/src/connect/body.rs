//! Reading a body: in pieces, decompressed, within limits.
//!
//! Invariant: no more than one network read and its decompressed form (at most a few MiB) are held; a body that is too
//! long, too slow, or grows too much when decompressed is cut there and then.
//!
//! Deliberately absent: any parsing.

use std::io::Write as _;
use std::time::Duration;

use bytes::Bytes;
use flate2::write::GzDecoder;
use http::Response;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::client::Shared;
use super::{ReadError, Stage, client};

/// How much of the network's bytes is decompressed at once. At gzip's largest ratio (1032:1) this makes 4 MiB.
const GZIP_STEP: usize = 4 * 1024;
/// Decompressed output is handed on once there is this much of it.
const GZIP_OUTPUT: usize = 128 * 1024;
/// Up to here any ratio is allowed: short answers may well be one letter over and over.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// API objects shrink 4 to 40 times; nothing honest reaches this.
const MAX_RATIO: u64 = 200;

/// A body being read.
pub struct Body {
    incoming: Incoming,
    server: String,
    /// What was read and is not decompressed yet; without compression, what was handed out last.
    compressed: Bytes,
    gzip: Option<GzDecoder<Vec<u8>>>,
    idle: Duration,
    page: Duration,
    deadline: Instant,
    limit: u64,
    /// Bytes over the network.
    read: u64,
    /// Bytes after decompression.
    decoded: u64,
    ended: bool,
}

impl Body {
    /// Starts reading; the page budget counts from now, `limit` is in decompressed bytes.
    pub fn new(shared: &Shared, response: Response<Incoming>, limit: u64) -> Result<Self, ReadError> {
        let server = shared.server.clone();
        let encoding =
            response.headers().get(CONTENT_ENCODING).map(|value| value.as_bytes().to_ascii_lowercase());
        let gzip = match encoding.as_deref() {
            None | Some(b"" | b"identity") => None,
            Some(b"gzip" | b"x-gzip") => Some(GzDecoder::new(Vec::with_capacity(GZIP_OUTPUT))),
            Some(_) => {
                return Err(ReadError::Decode {
                    server,
                    what: "a compression that was not asked for",
                    offset: 0,
                });
            }
        };
        Ok(Self {
            incoming: response.into_body(),
            server,
            compressed: Bytes::new(),
            gzip,
            idle: shared.budgets.idle,
            page: shared.budgets.page,
            deadline: Instant::now() + shared.budgets.page,
            limit,
            read: 0,
            decoded: 0,
            ended: false,
        })
    }

    /// The next piece; `None` where the body ended as it should.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        let had = match &mut self.gzip {
            None => {
                self.compressed = Bytes::new();
                self.fill().await?.then_some(self.compressed.len())
            }
            Some(_) => self.inflate().await?,
        };
        let Some(len) = had else { return Ok(None) };
        self.decoded += len as u64;
        if self.decoded > self.limit {
            return Err(self.too_large("one answer", self.limit));
        }
        Ok(Some(match &self.gzip {
            None => &self.compressed,
            Some(decoder) => decoder.get_ref(),
        }))
    }

    /// The whole body, for answers of one object.
    pub async fn collect(mut self) -> Result<Vec<u8>, ReadError> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            whole.extend_from_slice(piece);
        }
        Ok(whole)
    }

    /// Decompressed bytes so far.
    pub fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Reads from the network into `compressed`; false at the end.
    async fn fill(&mut self) -> Result<bool, ReadError> {
        while self.compressed.is_empty() {
            if self.ended {
                return Ok(false);
            }
            let idle_end = Instant::now() + self.idle;
            let (until, stage, after) = if idle_end < self.deadline {
                (idle_end, Stage::Idle, self.idle)
            } else {
                (self.deadline, Stage::Page, self.page)
            };
            let frame = timeout_at(until, self.incoming.frame()).await.map_err(|_| ReadError::Timeout {
                server: self.server.clone(),
                stage,
                after,
            })?;
            match frame {
                None => self.ended = true,
                Some(Ok(frame)) => self.compressed = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Err(client::broken(&self.server, &error)),
            }
        }
        self.read += self.compressed.len() as u64;
        Ok(true)
    }

    async fn inflate(&mut self) -> Result<Option<usize>, ReadError> {
        if let Some(decoder) = &mut self.gzip {
            decoder.get_mut().clear();
        }
        loop {
            if self.compressed.is_empty() && !self.fill().await? {
                return self.finish_gzip();
            }
            let step = self.compressed.split_to(GZIP_STEP.min(self.compressed.len()));
            let used = self.read - self.compressed.len() as u64;
            let Some(decoder) = &mut self.gzip else { return Ok(None) };
            let written = decoder.write_all(&step);
            let len = decoder.get_ref().len();
            if written.is_err() {
                return Err(self.decode("compressed data that is damaged"));
            }
            let total = self.decoded + len as u64;
            if total > RATIO_FREE_BYTES && total > used.saturating_mul(MAX_RATIO) {
                return Err(self.too_large("the growth of compressed data", MAX_RATIO));
            }
            if len >= GZIP_OUTPUT {
                return Ok(Some(len));
            }
        }
    }

    fn finish_gzip(&mut self) -> Result<Option<usize>, ReadError> {
        let Some(decoder) = &mut self.gzip else { return Ok(None) };
        if decoder.try_finish().is_err() {
            return Err(self.decode("compressed data that ends too early"));
        }
        let len = decoder.get_ref().len();
        Ok((len > 0).then_some(len))
    }

    fn decode(&self, what: &'static str) -> ReadError {
        ReadError::Decode { server: self.server.clone(), what, offset: self.decoded }
    }

    fn too_large(&self, what: &'static str, limit: u64) -> ReadError {
        ReadError::TooLarge { server: self.server.clone(), what, limit }
    }
}
