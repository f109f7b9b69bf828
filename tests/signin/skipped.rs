//! Saying that a test could not run.

use std::io::Write as _;

/// Says loudly why a test is skipped, past the capture of passing tests' output; fails where CI runs.
pub fn skip(what: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "CI runs without {what}");
    let _ = writeln!(std::io::stderr(), "\n*** SKIPPED: no {what}; run scripts/setup ***\n");
}
