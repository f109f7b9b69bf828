//! Whole lists, folded into rows page by page while the bytes arrive.
//!
//! Invariants: a page's body is never held; rows are handed out only when the last page is complete, so nothing partial
//! is ever taken for whole; one bad item is counted and costs nothing else; every list ends, by its budget if by nothing
//! else. Dropping the future closes its connection.
//!
//! Deliberately absent: following changes after the list, and rate limits over several lists (they belong to whoever
//! reads many clusters).

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::splitter::{ListSplitter, SplitError, SplitLimits};
use crate::connect::{ClusterClient, ReadError, ResourcePath, Stage};

/// What one list may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLimits {
    /// Items asked for per page. A server may send more; it is the other limits that hold.
    pub page_items: u32,
    /// Decompressed bytes of one page.
    pub page_bytes: u64,
    /// Decompressed bytes of the whole list.
    pub list_bytes: u64,
    /// Items of the whole list.
    pub list_items: u64,
    /// Limits inside a page.
    pub split: SplitLimits,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self {
            page_items: 500,
            page_bytes: 64 * 1024 * 1024,
            list_bytes: 1024 * 1024 * 1024,
            list_items: 400_000,
            split: SplitLimits::default(),
        }
    }
}

/// An item that could not be turned into a row. Why is not kept: a parser's text may quote the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an item could not be read")]
pub struct ItemError;

impl From<serde_json::Error> for ItemError {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// What a whole list was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListMeta {
    /// The version that the list shows, where the server says; a watch begins from here.
    pub resource_version: Option<String>,
    /// Items, bad ones included.
    pub items: u64,
    /// Items that could not be read.
    pub bad_items: u64,
    /// Decompressed bytes.
    pub bytes: u64,
    /// Pages.
    pub pages: u32,
}

/// The rows of a whole list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed<Rows> {
    /// The rows.
    pub rows: Rows,
    /// What the list was.
    pub meta: ListMeta,
}

/// How often a list begins anew because the server no longer keeps the version that was being read.
const EXPIRED_RESTARTS: u32 = 2;
/// How often it begins anew because a connection broke in the middle of a page.
const BROKEN_RESTARTS: u32 = 1;
/// How often a page is asked for again because the server is busy.
const BUSY_TRIES: u32 = 3;
/// The longest wait that a busy server is granted at a time.
const BUSY_LONGEST: Duration = Duration::from_secs(30);
/// The wait where a busy server names none.
const BUSY_DEFAULT: Duration = Duration::from_secs(1);

/// Reads a whole list. `fold` takes each item's bytes (one JSON value) into the rows.
///
/// # Errors
/// [`ReadError`]; there are no rows then.
pub(crate) async fn list_fold<Rows, Fold>(
    client: &ClusterClient,
    path: &ResourcePath,
    limits: &ListLimits,
    mut fold: Fold,
) -> Result<Listed<Rows>, ReadError>
where
    Rows: Default,
    Fold: FnMut(&mut Rows, &[u8]) -> Result<(), ItemError>,
{
    let budget = client.budgets().list;
    let whole = async {
        let (mut expired, mut broken) = (0, 0);
        loop {
            match one_pass(client, path, limits, &mut fold).await {
                Err(ReadError::Gone { .. }) if expired < EXPIRED_RESTARTS => expired += 1,
                // What was folded of the page that broke cannot be taken back out of the rows, so all of it goes.
                Err(ReadError::Broken { .. }) if broken < BROKEN_RESTARTS => broken += 1,
                outcome => return outcome,
            }
        }
    };
    timeout(budget, whole).await.unwrap_or_else(|_| {
        Err(ReadError::Timeout { server: client.server().to_owned(), stage: Stage::List, after: budget })
    })
}

async fn one_pass<Rows: Default>(
    client: &ClusterClient,
    path: &ResourcePath,
    limits: &ListLimits,
    fold: &mut impl FnMut(&mut Rows, &[u8]) -> Result<(), ItemError>,
) -> Result<Listed<Rows>, ReadError> {
    let mut list = Listed::<Rows>::default();
    let mut read_tokens = HashSet::new();
    let mut next = None;
    loop {
        next = page_fold(client, path, limits, next.as_deref(), &mut list, fold).await?;
        let Some(token) = &next else { return Ok(list) };
        if !read_tokens.insert(token.clone()) {
            return Err(ReadError::ContinueLoop { server: client.server().to_owned() });
        }
    }
}

/// Folds one page into the list, and returns the token of the next page. The rows are not whole before there is none.
///
/// # Errors
/// [`ReadError`]; the list must not be used then.
pub(crate) async fn page_fold<Rows>(
    client: &ClusterClient,
    path: &ResourcePath,
    limits: &ListLimits,
    after: Option<&str>,
    list: &mut Listed<Rows>,
    fold: &mut impl FnMut(&mut Rows, &[u8]) -> Result<(), ItemError>,
) -> Result<Option<String>, ReadError> {
    let too_large = |what, limit| ReadError::TooLarge { server: client.server().to_owned(), what, limit };
    let query = query(limits.page_items, path.selector(), after);
    let mut body = patiently(|| client.open_list(path, &query, limits.page_bytes)).await?;
    let mut splitter = ListSplitter::new(path.expected_kind(), limits.split);
    let Listed { rows, meta } = list;
    let bytes_before = meta.bytes;
    while let Some(piece) = body.next().await? {
        let pushed = splitter.push(piece, |item| {
            meta.items += 1;
            // Beyond the limit nothing is folded any more; the list is given up right below.
            if meta.items <= limits.list_items && fold(rows, item).is_err() {
                meta.bad_items += 1;
            }
        });
        pushed.map_err(|error| split_fault(client, path, &error))?;
        if meta.items > limits.list_items {
            return Err(too_large("the number of items", limits.list_items));
        }
        meta.bytes = bytes_before + body.decoded();
        if meta.bytes > limits.list_bytes {
            return Err(too_large("the whole list", limits.list_bytes));
        }
    }
    let head = splitter.finish().map_err(|error| split_fault(client, path, &error))?;
    meta.pages += 1;
    // All pages of one list show the version of the first.
    if meta.resource_version.is_none() {
        meta.resource_version = head.resource_version;
    }
    Ok(head.next)
}

fn query(page_items: u32, selector: Option<&str>, after: Option<&str>) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &page_items.to_string());
    if let Some(token) = after {
        query.append_pair("continue", token);
    }
    let query = query.finish();
    selector.map_or_else(|| query.clone(), |selector| format!("{query}&{selector}"))
}

/// Opens a page, waiting where the server asks to.
async fn patiently<T, F: Future<Output = Result<T, ReadError>>>(
    mut open: impl FnMut() -> F,
) -> Result<T, ReadError> {
    let mut tries = 1;
    loop {
        match open().await {
            Err(ReadError::RateLimited { retry_after, .. }) if tries < BUSY_TRIES => {
                tries += 1;
                sleep(retry_after.unwrap_or(BUSY_DEFAULT).min(BUSY_LONGEST)).await;
            }
            outcome => return outcome,
        }
    }
}

fn split_fault(client: &ClusterClient, path: &ResourcePath, error: &SplitError) -> ReadError {
    let server = client.server().to_owned();
    match *error {
        SplitError::Malformed { what, offset } => ReadError::Decode { server, what, offset },
        SplitError::Truncated { offset } => {
            ReadError::Decode { server, what: "a list that ends too early", offset }
        }
        SplitError::TooLarge { what, limit } => ReadError::TooLarge { server, what, limit },
        SplitError::WrongKind => ReadError::WrongKind { server, expected: path.expected_kind() },
    }
}
