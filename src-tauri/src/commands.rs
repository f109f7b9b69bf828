//! One Tauri command for each entry of the list in `muster_api::commands`, made from that list, so that neither can
//! have one the other lacks. Every command is `async`: a synchronous one would run on the window's own thread.

use std::sync::Arc;

use muster_api::{App, AppError};
use tauri::State;

macro_rules! tauri_commands {
    ($($name:ident($request:ty) -> $response:ty;)*) => {
        $(
            #[doc = concat!("Adapts `", stringify!($name), "` of the command list.")]
            #[tauri::command]
            pub async fn $name(app: State<'_, Arc<App>>, request: $request) -> Result<$response, AppError> {
                app.$name(request).await
            }
        )*

        /// Routes an invocation to its command.
        pub fn handler() -> impl Fn(tauri::ipc::Invoke<tauri::Wry>) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name),*]
        }
    };
}

muster_api::for_each_command!(tauri_commands);
