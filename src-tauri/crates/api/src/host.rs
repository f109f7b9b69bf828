//! What only the program around the commands can do: the system's file dialog, its clipboard, and the demo org.
//!
//! Invariant: file contents and clipboard text go from the host to the backend; nothing here hands them to the web view.
//! Deliberately absent: opening URLs (sign-in has its own narrow way to the system browser).

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use muster_core::deployment::Deployment;
use muster_core::signin::Browser;
use zeroize::Zeroizing;

use crate::AppError;

/// The desktop around the app: Tauri's shell in the product, a test's stand-in elsewhere.
#[async_trait]
pub trait Host: Send + Sync {
    /// Lets the person choose files to read. Empty where they cancelled.
    async fn choose_files(&self, purpose: FilePurpose) -> Result<Vec<PathBuf>, AppError>;

    /// The clipboard's text; it may be a kubeconfig, so it is wiped when dropped.
    async fn clipboard_text(&self) -> Result<Zeroizing<String>, AppError>;

    /// Puts text on the clipboard.
    async fn set_clipboard_text(&self, text: String) -> Result<(), AppError>;
}

/// What a file is chosen for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePurpose {
    /// Kubeconfigs to register.
    Kubeconfigs,
    /// A deployment to import.
    Deployment,
}

/// Starts the demo org. It stays up as long as the returned value lives.
#[async_trait]
pub trait Demo: Send + Sync {
    /// Starts it.
    async fn start(&self) -> Result<RunningDemo, AppError>;
}

/// The demo org, up.
pub struct RunningDemo {
    /// The deployment to sign in to.
    pub deployment: Deployment,
    /// The person who signs in: a stand-in for the system browser.
    pub browser: Arc<dyn Browser>,
    /// Keeps the servers up.
    pub guard: Box<dyn std::any::Any + Send + Sync>,
}
