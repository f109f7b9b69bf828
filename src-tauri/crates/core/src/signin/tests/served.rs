//! A server on loopback that answers what a closure says: just enough HTTP to script a provider and its faults.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One request.
pub struct Request {
    pub path: String,
    pub body: String,
}

/// What becomes of it.
#[derive(Clone)]
pub enum Reply {
    /// Status, headers (each ended by CRLF), body.
    Says(u16, String, Vec<u8>),
    /// The connection is closed without a word.
    Closes,
    /// Nothing ever comes.
    Hangs,
    /// The reply, once one permit was given.
    After(Arc<tokio::sync::Semaphore>, Box<Reply>),
}

impl Reply {
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::Says(status, "Content-Type: application/json\r\n".into(), body.to_string().into_bytes())
    }
}

/// Stopped when dropped.
pub struct Served {
    pub url: String,
    task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Served {
    pub async fn new(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", socket.local_addr().expect("an address"));
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = socket.accept().await {
                let answer = Arc::clone(&answer);
                connections.spawn(async move { serve(stream, &*answer).await });
            }
        });
        Self { url, task }
    }
}

async fn serve(mut stream: TcpStream, answer: &(impl Fn(&Request) -> Reply + Send + Sync)) -> Option<()> {
    let request = read(&mut stream).await?;
    let mut reply = answer(&request);
    while let Reply::After(gate, then) = reply {
        gate.acquire().await.ok()?.forget();
        reply = *then;
    }
    match reply {
        Reply::Says(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await.ok()?;
            stream.write_all(&body).await.ok()?;
            stream.shutdown().await.ok()
        }
        Reply::Hangs => std::future::pending().await,
        Reply::Closes | Reply::After(..) => None,
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            let path = head.split(' ').nth(1)?.to_owned();
            return Some(Request { path, body: body.to_owned() });
        }
    }
}
