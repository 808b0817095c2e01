//! How much a work folder holds.
//!
//! Follows no link and opens each folder from the one above, so that a command which moves things about while we look
//! cannot lead us elsewhere. Stops as soon as a limit is passed. What is counted is what the disk gives, not
//! what files claim; a file with several names counts once, spread over them.

use nix::dir::{Dir, Type};
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{Mode, SFlag, fstatat};
use std::os::fd::AsFd;
use std::path::Path;

/// Folders inside each other that are followed. A command that goes deeper hides what is there, so that counts as
/// too many files.
const DEPTH: usize = 128;

/// What a folder holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) bytes: u64,
    /// Files, folders, links, sockets.
    pub(super) files: u64,
}

impl Usage {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            files: self.files.saturating_add(other.files),
        }
    }

    fn is_over(&self, most: &Self) -> bool {
        self.bytes > most.bytes || self.files > most.files
    }
}

/// What `folder` holds, or, once that is more than `most`, what was counted until then.
pub(super) fn usage(folder: &Path, most: &Usage) -> Usage {
    let mut usage = Usage::default();
    if let Ok(dir) = Dir::open(folder, FOLDER, Mode::empty()) {
        count(dir, most, &mut usage, DEPTH);
    }
    usage
}

const FOLDER: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

fn count(mut dir: Dir, most: &Usage, usage: &mut Usage, depth: usize) {
    let mut folders = Vec::new();
    let Ok(handle) = dir.as_fd().try_clone_to_owned() else { return };
    for entry in dir.iter().flatten() {
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        usage.files += 1;
        // Gone meanwhile: then it takes no room either.
        let Ok(found) = fstatat(&handle, name, AtFlags::AT_SYMLINK_NOFOLLOW) else { continue };
        let is_folder =
            SFlag::from_bits_truncate(found.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFDIR;
        let names = if is_folder { 1 } else { usize::try_from(found.st_nlink).unwrap_or(1).max(1) };
        usage.bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512 / names as u64;
        if usage.is_over(most) {
            return;
        }
        if is_folder || entry.file_type() == Some(Type::Directory) {
            folders.push(name.to_owned());
        }
    }
    drop(dir);
    for name in folders {
        if depth == 0 {
            usage.files = u64::MAX;
            return;
        }
        // One that its owner has closed to us can be opened by root only; then its size stays unknown.
        if let Ok(dir) = Dir::openat(&handle, name.as_c_str(), FOLDER, Mode::empty()) {
            count(dir, most, usage, depth - 1);
        }
        if usage.is_over(most) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    const ALL: Usage = Usage { bytes: u64::MAX, files: u64::MAX };

    #[test]
    fn blocks_and_names_are_counted_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/file"), vec![1; 1_000_000]).unwrap();
        fs::hard_link(folder.path().join("a/file"), folder.path().join("again")).unwrap();
        symlink("/usr", folder.path().join("usr")).unwrap();
        let found = usage(folder.path(), &ALL);
        assert_eq!(found.files, 4);
        assert!((1_000_000..1_100_000).contains(&found.bytes), "{found:?}");
        assert!(usage(folder.path(), &Usage { files: 2, ..ALL }).files == 3);
        assert_eq!(usage(Path::new("/no/such"), &ALL), Usage::default());
    }

    #[test]
    fn what_hides_too_deep_counts_as_too_much() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("d/".repeat(DEPTH + 2))).unwrap();
        assert_eq!(usage(folder.path(), &ALL).files, u64::MAX);
    }
}
