//! An executor's own folders, marked as in use for as long as it lives.
//!
//! The kernel keeps a folder until somebody removes it, and each one makes every other a little slower. An executor that was
//! killed finds its own again by its data folder; where that is gone too (a container, a test), the next executor beside it
//! removes what nobody holds.

use super::place::Place;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What the names of executors' folders begin with; eight hexadecimal digits follow.
pub(crate) const PREFIX: &str = "berth-";
const DIGITS: usize = 8;

/// Holds the folders; dropped, they are removed if nothing is left in them.
#[derive(Debug, Default)]
pub(crate) struct Claim {
    held: Vec<(PathBuf, File)>,
}

impl Claim {
    /// Marks the folders of `places` as in use, and removes those beside them that nobody holds. Blocks.
    ///
    /// # Errors
    /// When a folder is gone: somebody saw it before it was marked. Then it has to be made again.
    pub(crate) fn of(places: &[Place]) -> io::Result<Self> {
        let folders: BTreeSet<&Path> = places.iter().map(|place| place.folder.as_path()).collect();
        let held: io::Result<_> = folders.iter().map(|folder| hold(folder)).collect();
        let claim = Self { held: held? };
        for parent in folders.iter().filter_map(|folder| folder.parent()) {
            sweep(parent);
        }
        Ok(claim)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        for (folder, _held) in &self.held {
            // What an attempt has left keeps it, for the next start to end.
            fs::remove_dir(folder).ok();
        }
    }
}

fn hold(folder: &Path) -> io::Result<(PathBuf, File)> {
    let file = File::open(folder)?;
    file.lock_shared()?;
    let same = fs::metadata(folder)?.ino() == file.metadata()?.ino();
    if same { Ok((folder.to_owned(), file)) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Removes executors' folders in `parent` that nobody holds and in which no process is.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        if !entry.file_name().to_str().is_some_and(is_executors) {
            continue;
        }
        let Ok(file) = File::open(&folder) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        for group in fs::read_dir(&folder).into_iter().flatten().flatten() {
            fs::remove_dir(group.path()).ok();
        }
        fs::remove_dir(&folder).ok();
    }
}

fn is_executors(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::super::place::{Controller, Version};
    use super::*;

    fn place(root: &Path, name: &str) -> Place {
        let folder = root.join(name);
        fs::create_dir_all(&folder).unwrap();
        Place { controller: Controller::Cpu, version: Version::V1, folder }
    }

    #[test]
    fn who_is_gone_is_swept_and_who_lives_is_not() {
        let root = tempfile::tempdir().unwrap();
        let gone = place(root.path(), "berth-00000001").folder;
        fs::create_dir(gone.join("task-1")).unwrap();
        let other = place(root.path(), "berth-agent").folder;
        let first = place(root.path(), "berth-00000002");
        let lives = Claim::of(std::slice::from_ref(&first)).unwrap();
        assert!(!gone.exists() && other.exists());
        let second = place(root.path(), "berth-00000003");
        let next = Claim::of(std::slice::from_ref(&second)).unwrap();
        assert!(first.folder.exists());
        drop(lives);
        assert!(!first.folder.exists() && second.folder.exists());
        drop(next);
        assert!(Claim::of(&[second]).is_err(), "a folder that is gone cannot be held");
    }

    #[test]
    fn what_an_attempt_has_left_is_kept() {
        let root = tempfile::tempdir().unwrap();
        let own = place(root.path(), "berth-0000000a");
        let claim = Claim::of(std::slice::from_ref(&own)).unwrap();
        fs::create_dir(own.folder.join("task-1")).unwrap();
        drop(claim);
        assert!(own.folder.exists());
    }
}
