//! The executor's folder: work folders, the spool, its sessions, and a lock.
//!
//! One executor a folder: two would deliver each other's results and kill each other's commands. The lock
//! goes with the process, however it ends; only a child that was being started when its agent was killed holds it a moment longer.

use runtime::clock;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for the lock. A child of a killed agent has it until its exec, which comes late on a busy machine.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// `executor.data_dir` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// It cannot be made, read or written.
    #[error("the data folder {path} cannot be used")]
    Io {
        /// What was tried.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another executor runs in it.
    #[error("the data folder {path} is in use by another executor")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
}

/// The folder, locked for as long as this lives.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Makes the folder if need be, and locks it. Waits up to 2 s for the lock.
    pub(crate) async fn open(path: &Path) -> Result<Self, DataDirError> {
        let failed = |source| DataDirError::Io { path: path.to_owned(), source };
        // Commands pass through it to their own folders, but need not list it.
        DirBuilder::new().recursive(true).mode(0o711).create(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let lock = path.join("lock");
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(lock).map_err(failed)?;
        let began = clock::monotonic();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { path, _lock: lock }),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_WAIT => {
                    clock::sleep(LOCK_INTERVAL).await;
                }
                Err(TryLockError::WouldBlock) => return Err(DataDirError::InUse { path }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }

    /// Where work folders are.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The file of the sessions that have begun here.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.path.join("sessions")
    }

    /// The spool's file.
    pub(crate) fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_folder_serves_one_executor_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = DataDir::open(&path).await.unwrap();
        assert!(matches!(DataDir::open(&path).await, Err(DataDirError::InUse { .. })));
        let (next, ()) = tokio::join!(DataDir::open(&path), async {
            clock::sleep(LOCK_WAIT / 2).await;
            drop(first);
        });
        next.unwrap();
    }
}
