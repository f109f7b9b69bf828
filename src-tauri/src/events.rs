//! Hands the backend's events to the web view, as one Tauri event named `muster`.

use std::sync::Arc;

use muster_api::App;
use tauri::{AppHandle, Emitter, Manager};
use tokio::sync::broadcast::error::RecvError;

/// The one event the web view may listen to.
pub const EVENT: &str = "muster";

/// Forwards until the app ends. A slow web view misses events rather than holding them in memory; it reads the whole
/// state again on the next one.
pub fn forward(handle: &AppHandle) {
    let mut events = handle.state::<Arc<App>>().subscribe();
    let handle = handle.clone();
    tauri::async_runtime::spawn(async move {
        loop {
            match events.recv().await {
                Ok(event) => {
                    if let Err(error) = handle.emit(EVENT, event) {
                        tracing::warn!(%error, "an event did not reach the window");
                    }
                }
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "the window was slower than the backend")
                }
                Err(RecvError::Closed) => return,
            }
        }
    });
}
