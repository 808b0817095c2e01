//! The data folder: found or made, and locked for as long as this `berth up` lives.
//!
//! The lock goes with the process, however it ends. It holds the pid, for whoever comes second.

use crate::failure::Failure;
use nix::unistd::geteuid;
use runtime::config::variable;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The log is put aside at the start when it is larger, bytes.
const LOG_MAX: u64 = 32 * 1024 * 1024;

/// The folder, locked.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if need be, and locks it.
    pub fn open(given: Option<&Path>) -> Result<Self, Failure> {
        let path = given.map_or_else(default, |path| Ok(path.to_owned()))?;
        let failed = |error: io::Error| {
            Failure::failed(format!(
                "cannot use the data folder {}: {error}; choose another with --data-dir",
                path.display()
            ))
        };
        // Engines and tasks that root starts run as other users, and pass through to folders of their own.
        let mode = if geteuid().is_root() { 0o711 } else { 0o700 };
        DirBuilder::new().recursive(true).mode(mode).create(&path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let file = path.join("lock");
        let open = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(&file)
            .map_err(failed)?;
        match open.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(&path, &file)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut lock = open;
        lock.set_len(0).and_then(|()| write!(lock, "{}", std::process::id())).map_err(failed)?;
        DirBuilder::new().recursive(true).mode(0o700).create(path.join("log")).map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file or folder in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The log `name`, for appending.
    pub fn log(&self, name: &str) -> PathBuf {
        self.path.join("log").join(format!("{name}.log"))
    }

    /// Opens the log `name` for appending; puts a large one aside.
    pub fn open_log(&self, name: &str) -> Result<File, Failure> {
        let path = self.log(name);
        if fs::metadata(&path).is_ok_and(|found| found.len() > LOG_MAX) {
            fs::rename(&path, path.with_extension("log.old")).ok();
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(|error| {
            Failure::failed(format!("cannot write the log {}: {error}", path.display()))
        })
    }
}

fn default() -> Result<PathBuf, Failure> {
    if geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/berth/up"));
    }
    let set = |name: &str| variable(name).filter(|path| path.starts_with('/')).map(PathBuf::from);
    set("XDG_DATA_HOME")
        .or_else(|| set("HOME").map(|home| home.join(".local/share")))
        .map(|folder| folder.join("berth"))
        .ok_or_else(|| {
            Failure::usage("there is no home folder for the data; choose a folder with --data-dir")
        })
}

fn in_use(path: &Path, lock: &Path) -> Failure {
    let pid = fs::read_to_string(lock).unwrap_or_default();
    let who = if pid.is_empty() { String::new() } else { format!(" (pid {pid})") };
    Failure::failed(format!(
        "another `berth up`{who} uses the data folder {}; stop it, or choose another folder with --data-dir",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_on_a_folder_is_told_who_has_it_and_what_to_do() {
        let above = tempfile::tempdir().unwrap();
        let path = above.path().join("new/data");
        let first = Folder::open(Some(&path)).unwrap();
        let text = Folder::open(Some(&path)).unwrap_err().to_string();
        let pid = std::process::id();
        assert!(text.contains(&format!("(pid {pid})")) && text.contains("--data-dir"), "{text}");
        drop(first);
        Folder::open(Some(&path)).unwrap();
        assert_eq!(fs::read_to_string(path.join("lock")).unwrap(), pid.to_string());
    }
}
