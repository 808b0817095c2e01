//! Reads what a command returns: the file that `BERTH_RESULT` names.
//!
//! Called once nothing of the command is left, so that nothing changes it meanwhile. The file is the command's, and may be
//! anything: no link is followed, nothing but a regular file of the command's own user is read, and no more of it than a
//! result may have.

use super::job::Returned;
use crate::identity::Identity;
use domain::task::MAX_RESULT_BYTES;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, SFlag, fstat, fstatat};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Its name in the work folder. Hidden, so that `rm *` and a listing leave it out.
pub(crate) const RESULT_FILE: &str = ".berth-result.json";

const FOLDER: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
/// A pipe is opened without waiting for whoever writes it.
const FILE: OFlag = OFlag::O_RDONLY
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_CLOEXEC);

/// What the command has left in its work folder; none where there is no such file.
pub(super) fn returned(folder: &Path, owner: Option<Identity>) -> Option<Returned> {
    let unreadable = |error: Errno| Returned::Unusable(format!("cannot be read: {}", error.desc()));
    let folder = match Dir::open(folder, FOLDER, Mode::empty()) {
        Ok(folder) => folder,
        Err(error) => return (!is_none(error)).then(|| unreadable(error)),
    };
    let found = match fstatat(&folder, RESULT_FILE, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(error) => return (!is_none(error)).then(|| unreadable(error)),
    };
    // Before it is opened: to open a device may do something.
    if let Some(what) = refused(found.st_mode, found.st_uid, owner) {
        return Some(Returned::Unusable(what.to_owned()));
    }
    Some(read(&folder, owner).unwrap_or_else(unreadable))
}

/// Whether there is nothing: a folder that the command has closed, removed or replaced holds no result.
const fn is_none(error: Errno) -> bool {
    matches!(error, Errno::ENOENT | Errno::EACCES | Errno::ENOTDIR | Errno::ELOOP)
}

fn read(folder: &Dir, owner: Option<Identity>) -> Result<Returned, Errno> {
    let file = openat(folder, RESULT_FILE, FILE, Mode::empty())?;
    // It is this file that counts, should another process of the same user have changed the folder.
    let found = fstat(&file)?;
    if let Some(what) = refused(found.st_mode, found.st_uid, owner) {
        return Ok(Returned::Unusable(what.to_owned()));
    }
    let mut bytes = Vec::new();
    let most = MAX_RESULT_BYTES as u64 + 1;
    let read = File::from(file).take(most).read_to_end(&mut bytes);
    read.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(nix::libc::EIO)))?;
    if bytes.len() > MAX_RESULT_BYTES {
        let size = u64::try_from(found.st_size).unwrap_or(0);
        return Ok(Returned::TooLarge(size.max(bytes.len() as u64)));
    }
    Ok(Returned::Bytes(bytes))
}

/// What is wrong with a file of this kind and owner.
fn refused(mode: u32, uid: u32, owner: Option<Identity>) -> Option<&'static str> {
    let kind = SFlag::from_bits_truncate(mode & SFlag::S_IFMT.bits());
    match kind {
        SFlag::S_IFREG if owner.is_some_and(|owner| owner.uid != uid) => {
            Some("belongs to another user")
        }
        SFlag::S_IFREG => None,
        SFlag::S_IFLNK => Some("is a symbolic link; it must be a regular file"),
        SFlag::S_IFDIR => Some("is a folder; it must be a regular file"),
        SFlag::S_IFIFO => Some("is a named pipe; it must be a regular file"),
        _ => Some("is no regular file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::{geteuid, mkfifo};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    /// A work folder, and where its result is.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RESULT_FILE);
        (folder, path)
    }

    fn unusable(folder: &tempfile::TempDir) -> String {
        match returned(folder.path(), None) {
            Some(Returned::Unusable(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_further() {
        let (folder, path) = folder();
        assert_eq!(returned(folder.path(), None), None);
        assert_eq!(returned(Path::new("/no/such"), None), None);
        for size in [0, 1, MAX_RESULT_BYTES] {
            fs::write(&path, vec![b' '; size]).unwrap();
            assert_eq!(returned(folder.path(), None), Some(Returned::Bytes(vec![b' '; size])));
        }
        // Sparse: takes no room, and would take long to read.
        let size = 1 << 40;
        File::create(&path).unwrap().set_len(size).unwrap();
        assert_eq!(returned(folder.path(), None), Some(Returned::TooLarge(size)));
    }

    #[test]
    fn whatever_is_no_regular_file_is_named_and_not_read() {
        let secret = tempfile::NamedTempFile::new().unwrap();
        let (link, path) = folder();
        symlink(secret.path(), &path).unwrap();
        assert_eq!(unusable(&link), "is a symbolic link; it must be a regular file");
        let (pipe, path) = folder();
        mkfifo(&path, Mode::from_bits_truncate(0o666)).unwrap();
        assert_eq!(unusable(&pipe), "is a named pipe; it must be a regular file");
        let (inner, path) = folder();
        fs::create_dir(&path).unwrap();
        assert_eq!(unusable(&inner), "is a folder; it must be a regular file");
        let (socket, path) = folder();
        let _listener = UnixListener::bind(&path).unwrap();
        assert_eq!(unusable(&socket), "is no regular file");
        // The work folder itself is no way out either.
        let (outer, _) = folder();
        symlink(inner.path(), outer.path().join("work")).unwrap();
        assert_eq!(returned(&outer.path().join("work"), None), None);
    }

    #[test]
    fn a_link_to_the_file_of_another_user_is_not_read() {
        let (folder, path) = folder();
        fs::write(&path, "1").unwrap();
        let own = geteuid().as_raw();
        let of = |uid| returned(folder.path(), Some(Identity { uid, gid: uid }));
        assert_eq!(of(own), Some(Returned::Bytes(b"1".to_vec())));
        assert_eq!(of(own + 1), Some(Returned::Unusable("belongs to another user".to_owned())));
    }

    #[test]
    fn what_may_not_be_read_is_told_and_a_closed_folder_holds_nothing() {
        let (folder, path) = folder();
        fs::write(&path, "1").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
        if geteuid().is_root() {
            assert_eq!(returned(folder.path(), None), Some(Returned::Bytes(b"1".to_vec())));
            return;
        }
        assert_eq!(unusable(&folder), "cannot be read: Permission denied");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o0)).unwrap();
        assert_eq!(returned(folder.path(), None), None);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
