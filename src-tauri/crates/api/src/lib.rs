//! The closed set of what the web view may ask, and the types that cross to it.
//!
//! Start at [`commands`]: the one list that the shell's handlers, its permission files, the bridge and the generated
//! TypeScript are all derived from or tested against. [`dto`] holds the types; [`App`] is the state behind them, and
//! its methods are the commands.
//!
//! Invariants: the web view receives names, numbers and states only, never a credential, a token or a kubeconfig; a
//! core error becomes an [`AppError`] with a stable code and words for people, and nothing else.
//!
//! Deliberately absent: Tauri (see `src-tauri/src`), and any command that takes a URL, a path or a manifest.

mod app;
pub mod bindings;
pub mod commands;
pub mod dispatch;
pub mod dto;
pub mod error;
pub mod host;
mod log;
mod registry;
mod rows;
mod session;
mod staging;
mod usage;
mod views;

pub use app::{App, Environment};
pub use error::{AppError, ErrorKind};
pub use log::log_filter;
