//! The executor's folder: work folders, the spool, its sessions, and a lock.
//!
//! One executor a folder: two would deliver each other's results and kill each other's commands. The lock
//! goes with the process, however it ends.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

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
    /// Makes the folder if need be, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Self, DataDirError> {
        let failed = |source| DataDirError::Io { path: path.to_owned(), source };
        // Commands pass through it to their own folders, but need not list it.
        DirBuilder::new().recursive(true).mode(0o711).create(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let lock = path.join("lock");
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(lock).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(DataDirError::InUse { path }),
            Err(TryLockError::Error(source)) => Err(failed(source)),
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

    #[test]
    fn a_folder_serves_one_executor_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = DataDir::open(&path).unwrap();
        assert!(matches!(DataDir::open(&path), Err(DataDirError::InUse { .. })));
        drop(first);
        DataDir::open(&path).unwrap();
    }
}
