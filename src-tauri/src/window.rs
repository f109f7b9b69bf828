//! The one window: made hidden, shown when its page has loaded, and closed to every other address.

use std::time::Duration;

use tauri::webview::PageLoadEvent;
use tauri::{App, Theme, WebviewWindow, WebviewWindowBuilder};

/// The page shows itself at the latest after this long, so that a page which fails to load is seen to fail.
const SHOW_AT_THE_LATEST: Duration = Duration::from_secs(3);

/// Opens the window.
pub fn open(app: &App) -> tauri::Result<()> {
    let Some(config) = app.config().app.windows.first() else {
        return Err(tauri::Error::WindowNotFound);
    };
    let window = WebviewWindowBuilder::from_config(app, config)?
        .on_navigation(|url| matches!(url.scheme(), "tauri") || url.host_str() == Some("tauri.localhost"))
        .on_page_load(|window, payload| {
            if payload.event() == PageLoadEvent::Finished {
                show(&window);
            }
        })
        .build()?;
    // The colour of the page's own background, so that nothing flashes before its first paint.
    let ground = match window.theme() {
        Ok(Theme::Dark) => tauri::window::Color(0x0f, 0x14, 0x1d, 0xff),
        _ => tauri::window::Color(0xf7, 0xf8, 0xfa, 0xff),
    };
    window.set_background_color(Some(ground))?;
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(SHOW_AT_THE_LATEST).await;
        show(&window);
    });
    Ok(())
}

fn show(window: &WebviewWindow) {
    let shown = window.is_visible().unwrap_or(false);
    if !shown && let Err(error) = window.show().and_then(|()| window.set_focus()) {
        tracing::warn!(%error, "the window could not be shown");
    }
}
