//! The lock that keeps two processes from spending one refresh token: whoever presents a rotated one a second time ends
//! the session of both.
//!
//! Invariants: nobody waits longer than [`BOUND`]; the wait is on a thread that nobody joins, so a stopped process that
//! holds the lock cannot hold this app's exit. Deliberately absent: any content in the file, and its removal (a lock on
//! a file that another process has just unlinked would lock nothing).

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

/// How long a refresh in another process is waited for: its own deadlines add up to less.
pub const BOUND: Duration = Duration::from_secs(30);

/// Let go when dropped, and by the system when the process ends.
pub struct RefreshLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl RefreshLock {
    /// Waits for the lock of one keyring account.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] after [`BOUND`]; others where the folder cannot be used.
    pub async fn take(folder: &Path, account: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let digest = Sha256::digest(account.as_bytes());
        let name: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("refresh-{name}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => return Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let (ready, taken) = oneshot::channel();
        std::thread::Builder::new().name("refresh-lock".into()).spawn(move || {
            // Whoever stopped waiting drops the file that is sent here, and with it the lock.
            let _ = ready.send(file.lock().map(|()| file));
        })?;
        let file = tokio::time::timeout(BOUND, taken)
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "another Muster is still refreshing"))?
            .map_err(io::Error::other)??;
        Ok(Self(file))
    }
}
