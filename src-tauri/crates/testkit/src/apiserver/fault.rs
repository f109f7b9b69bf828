//! What goes wrong on purpose, per server and per route.

use std::io::Write as _;
use std::pin::Pin;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::State;
use super::answer::{self, Answer};

/// What goes wrong on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Connections are taken and never answered.
    BlackHole,
    /// Every answer is late by this much.
    Slow(Duration),
    /// Every answer has this status.
    Status(u16),
    /// A proxy's login page instead of Kubernetes.
    Html,
    /// A redirect to here.
    Redirect(String),
    /// JSON that ends in the middle, in a body of the announced length.
    Truncated,
    /// 429 with this `Retry-After`.
    RateLimited(String),
    /// Every other answer is a 500, the first one too.
    Flapping,
    /// The true answer up to its middle, then the connection is cut.
    CutShort,
    /// The true answer, this many bytes at a time with this pause between.
    Dripping {
        /// Bytes at a time, at least 1.
        bytes: usize,
        /// Between them.
        pause: Duration,
    },
    /// A list whose body goes on for this many bytes.
    Oversized(u64),
    /// A list that unpacks to this many bytes from about a thousandth of them.
    GzipBomb(usize),
}

/// The faults of a server.
#[derive(Default)]
pub(crate) struct Faults {
    pub everywhere: Fault,
    /// By the beginning of the path.
    pub below: Vec<(String, Fault)>,
}

/// The fault of a path; that of connections where none is known yet.
pub(super) fn of(state: &State, path: Option<&str>) -> Fault {
    let faults = state.faults.lock().unwrap_or_else(PoisonError::into_inner);
    let below = path.and_then(|path| faults.below.iter().find(|(prefix, _)| path.starts_with(prefix)));
    below.map_or(&faults.everywhere, |(_, fault)| fault).clone()
}

/// Before anything is read: the answer that the fault gives instead, or `None` where the request goes on.
pub(super) async fn before(fault: &Fault, state: &State) -> Option<Response<Body>> {
    let instead = match fault {
        Fault::BlackHole => std::future::pending().await,
        Fault::Slow(by) => {
            tokio::time::sleep(*by).await;
            return None;
        }
        Fault::Status(code) => {
            let code = StatusCode::from_u16(*code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            answer::status(code, "InternalError", "the server is not well")
        }
        Fault::Flapping if state.flaps.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) => {
            answer::status(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "the server is not well")
        }
        Fault::Html => {
            let page = Bytes::from_static(b"<!doctype html><title>Sign in to the guest network</title>");
            answer::raw(StatusCode::OK, "text/html", page)
        }
        Fault::Redirect(to) => {
            with(answer::raw(StatusCode::FOUND, "text/plain", Bytes::new()), header::LOCATION, to)
        }
        Fault::Truncated => {
            let cut = b"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[{\"meta";
            answer::raw(StatusCode::OK, "application/json", Bytes::from_static(cut))
        }
        Fault::RateLimited(after) => {
            let answer =
                answer::status(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", "too many requests");
            with(answer, header::RETRY_AFTER, after)
        }
        Fault::Oversized(bytes) => return Some(endless(*bytes)),
        Fault::GzipBomb(bytes) => bomb(*bytes),
        Fault::None | Fault::Flapping | Fault::CutShort | Fault::Dripping { .. } => return None,
    };
    Some(whole(instead))
}

/// What is done to the true answer on its way out.
pub(super) async fn after(fault: &Fault, answer: Answer) -> Response<Body> {
    if !matches!(fault, Fault::CutShort | Fault::Dripping { .. }) {
        return whole(answer);
    }
    let (parts, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes();
    let (sender, frames) = mpsc::channel(1);
    let fault = fault.clone();
    // The task ends when the body is dropped: nobody receives.
    tokio::spawn(async move {
        if let Fault::Dripping { bytes, pause } = fault {
            for piece in body.chunks(bytes.max(1)) {
                if sender.send(Ok(Bytes::copy_from_slice(piece))).await.is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        } else {
            let _ = sender.send(Ok(body.slice(..body.len() / 2))).await;
            let _ = sender.send(Err(std::io::ErrorKind::ConnectionReset.into())).await;
        }
    });
    Response::from_parts(parts, Body::Frames(frames))
}

fn with(mut answer: Answer, name: header::HeaderName, value: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

const LIST: &[u8] =
    b"{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[";

fn endless(bytes: u64) -> Response<Body> {
    let (sender, frames) = mpsc::channel(1);
    tokio::spawn(async move {
        const CHUNK: u64 = 64 * 1024;
        let blank = Bytes::from(vec![b' '; 64 * 1024]);
        if sender.send(Ok(Bytes::from_static(LIST))).await.is_err() {
            return;
        }
        for _ in 0..bytes.div_ceil(CHUNK) {
            if sender.send(Ok(blank.clone())).await.is_err() {
                return;
            }
        }
        let _ = sender.send(Ok(Bytes::from_static(b"]}"))).await;
    });
    let mut answer = Response::new(Body::Frames(frames));
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn bomb(bytes: usize) -> Answer {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let blank = vec![b' '; 64 * 1024];
    let packed = encoder
        .write_all(LIST)
        .and_then(|()| (0..bytes.div_ceil(blank.len())).try_for_each(|_| encoder.write_all(&blank)))
        .and_then(|()| encoder.write_all(b"]}"))
        .and_then(|()| encoder.finish())
        .unwrap_or_default();
    let answer = answer::raw(StatusCode::OK, "application/json", packed.into());
    with(answer, header::CONTENT_ENCODING, "gzip")
}

/// A body: whole, or in the frames that a fault sends.
pub(super) enum Body {
    Whole(http_body_util::Full<Bytes>),
    Frames(mpsc::Receiver<std::io::Result<Bytes>>),
}

fn whole(answer: Answer) -> Response<Body> {
    answer.map(Body::Whole)
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body)
                .poll_frame(context)
                .map(|frame| frame.map(|frame| frame.map_err(|never| match never {}))),
            Self::Frames(frames) => {
                frames.poll_recv(context).map(|frame| frame.map(|frame| frame.map(Frame::data)))
            }
        }
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Frames(_) => hyper::body::SizeHint::default(),
        }
    }
}
