//! The access list of the window holds: a command that the shell registers but that no permission grants is refused,
//! and a granted one is answered.

use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{INVOKE_KEY, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;

/// Stands for a command that somebody adds and forgets to grant.
#[tauri::command]
async fn ungranted() -> &'static str {
    "never"
}

/// Stands for `app_info`, which the capability grants by that name.
#[tauri::command]
async fn app_info() -> &'static str {
    "granted"
}

fn ask(webview: &tauri::WebviewWindow<tauri::test::MockRuntime>, command: &str) -> Result<String, String> {
    let request = InvokeRequest {
        cmd: command.into(),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: "tauri://localhost".parse().expect("a URL"),
        body: InvokeBody::default(),
        headers: tauri::http::HeaderMap::new(),
        invoke_key: INVOKE_KEY.to_string(),
    };
    get_ipc_response(webview, request)
        .map(|body| body.deserialize::<String>().expect("a string"))
        .map_err(|error| error.to_string())
}

#[test]
fn a_command_without_a_permission_entry_is_refused() {
    let app = mock_builder()
        .invoke_handler(tauri::generate_handler![ungranted, app_info])
        .build(tauri::generate_context!())
        .expect("the app builds");
    // A window makes the folder of its web view; the person's own is left alone.
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let webview = tauri::WebviewWindowBuilder::new(&app, "main", tauri::WebviewUrl::default())
        .data_directory(folder.clone())
        .build()
        .expect("a window");
    assert_eq!(ask(&webview, "app_info"), Ok("granted".into()));
    let refused = ask(&webview, "ungranted").expect_err("it has no permission entry");
    assert!(refused.contains("not allowed"), "{refused}");

    let other = tauri::WebviewWindowBuilder::new(&app, "other", tauri::WebviewUrl::default())
        .data_directory(folder)
        .build()
        .expect("a window");
    assert!(ask(&other, "app_info").is_err(), "another window holds no permission at all");
}
