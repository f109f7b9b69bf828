//! Bakes the window's access list into the binary: capabilities and hand-written permissions under `src-tauri/`.

use tauri_build::{AppManifest, Attributes};

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    println!("cargo:rerun-if-changed=ui/dist");
    let attributes = Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*"));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:error={error:#}");
        std::process::exit(1);
    }
}
