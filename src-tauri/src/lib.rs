//! The shell: a window around `muster-api`.
//!
//! [`run`] is the table of contents: the environment is put right, the backend is made, the window is built, commands,
//! drops and events are wired. Everything that Muster knows how to do is in `muster-core`.
//!
//! Invariant: the web view gets the commands that `src-tauri/permissions` grants it, one event, and no file contents.
//! Deliberately absent: logic. A decision made here could not be tested without a window.

pub mod commands;
mod drop;
mod events;
mod host;
mod startup;
mod window;

use std::process::ExitCode;

/// Runs the app until its window is closed.
pub fn run() -> ExitCode {
    startup::prepare_environment();
    startup::start_logging();
    let built = tauri::Builder::default()
        .invoke_handler(commands::handler())
        .on_window_event(drop::on_window_event)
        .setup(|app| {
            startup::manage_backend(app)?;
            events::forward(app.handle());
            window::open(app)?;
            Ok(())
        })
        .build(tauri::generate_context!());
    match built {
        Ok(app) => {
            app.run(|handle, event| {
                if let tauri::RunEvent::Exit = event {
                    startup::shut_down(handle);
                }
            });
            ExitCode::SUCCESS
        }
        Err(error) => {
            tracing::error!(%error, "the window system could not be started");
            eprintln!("Muster could not start: {error}");
            ExitCode::FAILURE
        }
    }
}
