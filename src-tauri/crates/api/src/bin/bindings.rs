//! Writes `ui/src/backend/bindings.ts`; with `--check`, fails where the file in the repository differs.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/backend/bindings.ts");
    let wanted = muster_api::bindings::text();
    if std::env::args().any(|argument| argument == "--check") {
        if std::fs::read_to_string(&path).is_ok_and(|found| found == wanted) {
            return ExitCode::SUCCESS;
        }
        eprintln!(
            "ui/src/backend/bindings.ts is not what the command list generates; run `cargo run -p muster-api --bin bindings`"
        );
        return ExitCode::FAILURE;
    }
    match std::fs::write(&path, wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ui/src/backend/bindings.ts could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}
