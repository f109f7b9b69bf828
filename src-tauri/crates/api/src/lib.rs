//! The closed set of what the web view may ask, and the types that cross to it.
//!
//! Start at [`commands`]: the one list that the shell's handlers, its permission files, the bridge and the generated
//! TypeScript are all derived from or tested against. [`dto`] holds the types; [`App`] is the state behind them.
//!
//! Invariants: the web view receives names, numbers and states only, never a credential, a token or a kubeconfig; a
//! core error becomes an [`AppError`] with a stable code and words for people, and nothing else.
//!
//! Deliberately absent: Tauri (see `src-tauri/src`), and any command that takes a URL, a path or a manifest.

pub mod bindings;
pub mod commands;
pub mod dto;
pub mod error;

pub use error::{AppError, ErrorKind};
