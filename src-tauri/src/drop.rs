//! Files dragged onto the window: the whole window is the target, and the backend reads what is dropped.
//!
//! Invariant: the web view learns that something is dragged, and later which files were staged; never a path or a
//! content. Deliberately absent: drag and drop of the web view's own (it and the native one exclude each other).

use std::sync::Arc;

use muster_api::App;
use muster_api::dto::AppEvent;
use tauri::{DragDropEvent, Manager, Window, WindowEvent};

/// Handles the window's drag events.
pub fn on_window_event(window: &Window, event: &WindowEvent) {
    let WindowEvent::DragDrop(drag) = event else { return };
    let app = Arc::clone(&window.state::<Arc<App>>());
    match drag {
        DragDropEvent::Enter { .. } => app.announce(AppEvent::Dragging(true)),
        DragDropEvent::Leave => app.announce(AppEvent::Dragging(false)),
        DragDropEvent::Drop { paths, .. } => {
            app.announce(AppEvent::Dragging(false));
            let paths = paths.clone();
            tauri::async_runtime::spawn(async move { app.files_dropped(paths).await });
        }
        _ => {}
    }
}
