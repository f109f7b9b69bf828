//! Finds the items of a Kubernetes list while its bytes arrive, so that no body is ever held whole.
//!
//! Sans IO: bytes go in with [`ListSplitter::push`], item slices come out through a closure, and
//! [`ListSplitter::finish`] yields what stands beside the items. How the bytes were cut into chunks makes no
//! difference to any outcome, errors included; a test proves it at every split point.
//!
//! Invariants: at most one item is held (up to [`SplitLimits::item`] bytes), and only while it spans chunks; there is no
//! recursion, so nesting costs nothing but a counter; nothing is handed out that is not a whole JSON value by its
//! brackets and quotes.
//!
//! Deliberately absent: parsing the items (each is parsed on its own by `serde_json`, which also finds what is wrong
//! inside), and JSON that is no object with `kind`, `metadata` and `items`. `memchr` over strings and a byte loop between
//! them finds the items of a list of nodes at about 1 GB/s on one core.

mod scan;

use serde::Deserialize;

use scan::Scan;

/// What a list may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitLimits {
    /// Bytes of one item.
    pub item: usize,
    /// Bytes of `metadata` and of any key.
    pub head: usize,
    /// Nesting inside one value. Pods reach about 12; `serde_json` itself stops at 128.
    pub depth: u32,
}

impl Default for SplitLimits {
    fn default() -> Self {
        Self { item: 1024 * 1024, head: 64 * 1024, depth: 100 }
    }
}

/// Why the bytes are not a list that can be read. Offsets are in bytes from the start of the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// Not JSON, or not a list's JSON.
    #[error("{what} at byte {offset}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where.
        offset: u64,
    },
    /// The document ends too early.
    #[error("the list ends too early, at byte {offset}")]
    Truncated {
        /// Where.
        offset: u64,
    },
    /// A limit was passed.
    #[error("{what} is over {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// `kind` is missing, or not the one that was asked for.
    #[error("the list is of another kind than was asked for")]
    WrongKind,
}

/// What stands beside the items.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListHead {
    /// `metadata.resourceVersion`.
    pub resource_version: Option<String>,
    /// `metadata.continue`, where there is another page.
    pub next: Option<String>,
    /// Items handed out.
    pub items: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    #[serde(default)]
    resource_version: Option<String>,
    #[serde(default, rename = "continue")]
    next: Option<String>,
}

/// Where the splitter stands between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// After `{`: a key or the end.
    FirstKey,
    /// After `,`: a key.
    Key,
    Colon,
    /// Before the value of the key at hand.
    Value,
    /// Inside a value.
    Inside(Role),
    /// After a value of the document.
    AfterValue,
    /// After `[` of the items.
    FirstItem,
    /// After `,` between items.
    Item,
    AfterItem,
    End,
}

/// What a value is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    KeyName,
    Kind,
    Metadata,
    NullItems,
    Skipped,
    Item,
}

impl Role {
    fn is_kept(self) -> bool {
        self != Self::Skipped
    }
}

/// Finds the items of one list.
#[derive(Debug)]
pub struct ListSplitter {
    expected_kind: &'static str,
    limits: SplitLimits,
    at: At,
    scan: Scan,
    /// The kept part of the value at hand, where it began in an earlier chunk.
    carry: Vec<u8>,
    /// Bytes of all earlier chunks.
    before: u64,
    key: Role,
    seen: Seen,
    head: ListHead,
}

#[derive(Debug, Default)]
struct Seen {
    kind: bool,
    metadata: bool,
    items: bool,
}

impl ListSplitter {
    /// Expects a list of this `kind`.
    pub fn new(expected_kind: &'static str, limits: SplitLimits) -> Self {
        Self {
            expected_kind,
            limits,
            at: At::Start,
            scan: Scan::default(),
            carry: Vec::new(),
            before: 0,
            key: Role::Skipped,
            seen: Seen::default(),
            head: ListHead::default(),
        }
    }

    /// Takes the next bytes and hands out every item that is complete with them.
    ///
    /// # Errors
    /// [`SplitError`]; the splitter must not be used after one.
    pub fn push(&mut self, chunk: &[u8], mut item: impl FnMut(&[u8])) -> Result<(), SplitError> {
        let mut pos = 0;
        while pos < chunk.len() {
            if let At::Inside(role) = self.at {
                pos = self.inside(role, chunk, pos, &mut item)?;
                continue;
            }
            let byte = chunk[pos];
            if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                pos += 1;
                continue;
            }
            // A step either consumes the byte or begins a value with it.
            if self.step(byte, pos)? {
                pos += 1;
            }
        }
        self.before += chunk.len() as u64;
        Ok(())
    }

    /// Ends the document.
    ///
    /// # Errors
    /// [`SplitError::Truncated`] where it is not complete, [`SplitError::WrongKind`] where no `kind` was in it.
    pub fn finish(self) -> Result<ListHead, SplitError> {
        if self.at != At::End {
            return Err(SplitError::Truncated { offset: self.before });
        }
        if !self.seen.kind {
            return Err(SplitError::WrongKind);
        }
        if !self.seen.items {
            return Err(SplitError::Malformed { what: "a list without items", offset: self.before });
        }
        Ok(self.head)
    }

    fn malformed(&self, what: &'static str, pos: usize) -> SplitError {
        SplitError::Malformed { what, offset: self.before + pos as u64 }
    }

    /// Between values. Returns whether the byte is consumed.
    fn step(&mut self, byte: u8, pos: usize) -> Result<bool, SplitError> {
        self.at = match (self.at, byte) {
            (At::Start, b'{') => At::FirstKey,
            (At::FirstKey | At::Key, b'"') => return self.begin(Role::KeyName, byte, pos),
            (At::FirstKey | At::AfterValue, b'}') => At::End,
            (At::Colon, b':') => At::Value,
            (At::Value, b'[') if self.key == Role::Item => At::FirstItem,
            (At::Value, b'n') if self.key == Role::Item => return self.begin(Role::NullItems, byte, pos),
            (At::Value, _) if self.key == Role::Item => {
                return Err(self.malformed("items that are not a list", pos));
            }
            (At::Value, _) => return self.begin(self.key, byte, pos),
            (At::AfterValue, b',') => At::Key,
            (At::FirstItem | At::AfterItem, b']') => At::AfterValue,
            (At::AfterItem, b',') => At::Item,
            (At::FirstItem | At::Item, _) => return self.begin(Role::Item, byte, pos),
            (At::End, _) => return Err(self.malformed("something after the end of the list", pos)),
            (At::Start, _) => return Err(self.malformed("something that is not a JSON object", pos)),
            _ => return Err(self.malformed("something that is not JSON", pos)),
        };
        Ok(true)
    }

    /// Begins a value with this byte, which the scan then takes.
    fn begin(&mut self, role: Role, byte: u8, pos: usize) -> Result<bool, SplitError> {
        let bare = match byte {
            b'{' | b'[' | b'"' => false,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => true,
            _ => return Err(self.malformed("something that is not JSON", pos)),
        };
        self.scan = Scan::new(bare);
        self.carry.clear();
        self.at = At::Inside(role);
        Ok(false)
    }

    /// Inside a value: scans on, and returns where to go on.
    fn inside(
        &mut self,
        role: Role,
        chunk: &[u8],
        start: usize,
        item: &mut impl FnMut(&[u8]),
    ) -> Result<usize, SplitError> {
        let (what, limit) = match role {
            Role::Item => ("an item", self.limits.item),
            _ => ("the head of the list", self.limits.head),
        };
        let end = self.scan.advance(&chunk[start..], self.limits.depth)?.map(|len| start + len);
        let piece = &chunk[start..end.unwrap_or(chunk.len())];
        if role.is_kept() && self.carry.len() + piece.len() > limit {
            return Err(SplitError::TooLarge { what, limit: limit as u64 });
        }
        let Some(end) = end else {
            if role.is_kept() {
                self.carry.extend_from_slice(piece);
            }
            return Ok(chunk.len());
        };
        if role == Role::Item {
            self.head.items += 1;
            self.at = At::AfterItem;
            if self.carry.is_empty() {
                item(piece);
            } else {
                self.carry.extend_from_slice(piece);
                item(&self.carry);
            }
        } else {
            if role.is_kept() {
                self.carry.extend_from_slice(piece);
            }
            self.complete(role, end)?;
        }
        self.carry.clear();
        Ok(end)
    }

    /// A value beside the items is complete, in `carry`.
    fn complete(&mut self, role: Role, end: usize) -> Result<(), SplitError> {
        self.at = At::AfterValue;
        match role {
            Role::KeyName => {
                let key: String = serde_json::from_slice(&self.carry)
                    .map_err(|_| self.malformed("a key that is not text", end))?;
                let (role, twice) = match key.as_str() {
                    "kind" => (Role::Kind, std::mem::replace(&mut self.seen.kind, true)),
                    "metadata" => (Role::Metadata, std::mem::replace(&mut self.seen.metadata, true)),
                    "items" => (Role::Item, std::mem::replace(&mut self.seen.items, true)),
                    _ => (Role::Skipped, false),
                };
                if twice {
                    return Err(self.malformed("a key that stands there twice", end));
                }
                self.key = role;
                self.at = At::Colon;
            }
            Role::Kind => {
                let kind: Option<String> = serde_json::from_slice(&self.carry).ok();
                if kind.as_deref() != Some(self.expected_kind) {
                    return Err(SplitError::WrongKind);
                }
            }
            Role::Metadata => {
                let metadata: Option<ListMetadata> = serde_json::from_slice(&self.carry)
                    .map_err(|_| self.malformed("metadata that is not a list's", end))?;
                let metadata = metadata.unwrap_or_default();
                self.head.resource_version = metadata.resource_version.filter(|version| !version.is_empty());
                self.head.next = metadata.next.filter(|next| !next.is_empty());
            }
            Role::NullItems if self.carry != b"null" => {
                return Err(self.malformed("items that are not a list", end));
            }
            Role::NullItems | Role::Skipped | Role::Item => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
