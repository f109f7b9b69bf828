# Versions of the tools that scripts/setup builds.
TAURI_DRIVER=2.1.0
CARGO_DENY=0.20.2
