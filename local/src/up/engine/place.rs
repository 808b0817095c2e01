//! Where engines keep their data, and whom they run as.
//!
//! An engine that root starts runs as another user, who must be able to walk to its folder. Where a folder above is closed
//! (`/root` mostly is) engines live under /var/lib/berth instead, and a file in the data folder says where. The rule:
//! that user is not the one that tasks run as, or a task could read the database.

use crate::failure::Failure;
use crate::up::folder::Folder;
use crate::up::secrets::{random_hex, replace_private, write_private};
use nix::unistd::{Gid, Uid, User, geteuid};
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown, lchown};
use std::path::{Path, PathBuf};

/// Where engines of root live when their user cannot walk to the data folder.
const ELSEWHERE: &str = "/var/lib/berth";
/// Users that every system has, for want of the engine's own.
const STAND_INS: [&str; 2] = ["daemon", "nobody"];
/// Longest path of a folder with a socket: the kernel takes 107 bytes, and the socket has a name.
const SOCKET_FOLDER_MAX: usize = 85;

/// Where engines live.
#[derive(Debug)]
pub struct Places {
    base: PathBuf,
    /// Whom tasks run as.
    tasks_user: String,
}

/// One engine's place.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its folder, which nobody else can enter.
    pub folder: PathBuf,
    /// Whom it runs as; none: whoever we are.
    pub user: Option<String>,
    owner: Option<(Uid, Gid)>,
}

impl Places {
    /// The places of a data folder.
    pub fn of(data: &Folder, tasks_user: &str) -> Result<Self, Failure> {
        let base = base_of(data).map_err(|error| {
            Failure::failed(format!(
                "cannot create the folder of the engines of {}: {error}",
                data.path().display()
            ))
        })?;
        Ok(Self { base, tasks_user: tasks_user.to_owned() })
    }

    /// The place of the engine `name`, made where there is none.
    pub fn of_engine(&self, name: &str) -> Result<Place, Failure> {
        let failed = |error: io::Error| {
            let folder = self.base.join(name);
            Failure::failed(format!("cannot create the folder {}: {error}", folder.display()))
        };
        let user = if geteuid().is_root() { Some(self.user_for(name)?) } else { None };
        let owner = user.as_ref().map(|user| (user.uid, user.gid));
        let place = Place { folder: self.base.join(name), user: user.map(|user| user.name), owner };
        place.make(&place.folder).map_err(failed)?;
        Ok(place)
    }

    fn user_for(&self, engine: &str) -> Result<User, Failure> {
        let names = std::iter::once(engine).chain(STAND_INS);
        let mut users = names
            .filter(|name| *name != self.tasks_user)
            .filter_map(|name| User::from_name(name).ok().flatten())
            .filter(|user| !user.uid.is_root());
        users.next().ok_or_else(|| {
            Failure::failed(format!(
                "{engine} must not run as root, and there is no user `{engine}`; create it with `useradd --system {engine}`"
            ))
        })
    }
}

impl Place {
    /// Makes a folder of this engine's, unless it is there.
    fn make(&self, folder: &Path) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => self.give(folder),
        }
    }

    fn give(&self, folder: &Path) -> io::Result<()> {
        match self.owner {
            Some((uid, gid)) => lchown(folder, Some(uid.as_raw()), Some(gid.as_raw())),
            None => Ok(()),
        }
    }

    /// Writes a file that this engine alone may read.
    pub fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = write_private(&path, text)?;
        if let Some((uid, gid)) = self.owner {
            fchown(&file, Some(uid.as_raw()), Some(gid.as_raw()))?;
        }
        Ok(path)
    }

    /// A folder for a socket: short enough for the kernel, closed to others, the same each time.
    pub fn socket_folder(&self) -> io::Result<PathBuf> {
        let own = self.folder.join("run");
        if own.as_os_str().len() <= SOCKET_FOLDER_MAX {
            self.make(&own)?;
            return Ok(own);
        }
        let named = self.folder.join("socket-folder");
        let known = fs::read_to_string(&named).ok().map(|path| PathBuf::from(path.trim()));
        if let Some(known) = known.filter(|known| self.is_ours(known)) {
            return Ok(known);
        }
        // A name that nobody can know before: others may write there, too.
        let folder = PathBuf::from(format!("/tmp/berth-{}", random_hex(8)?));
        DirBuilder::new().mode(0o700).create(&folder)?;
        self.give(&folder)?;
        replace_private(&named, &folder.to_string_lossy())?;
        Ok(folder)
    }

    fn is_ours(&self, folder: &Path) -> bool {
        let user = self.owner.map_or(geteuid(), |(uid, _)| uid).as_raw();
        fs::symlink_metadata(folder)
            .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0)
    }
}

fn base_of(data: &Folder) -> io::Result<PathBuf> {
    let pointer = data.file("engines");
    match fs::read_to_string(&pointer) {
        // Without links, because processes are known by where they work.
        Ok(text) => return fs::canonicalize(text.trim_end_matches('\n')),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let base = if !geteuid().is_root() || is_open_to_all(data.path()) {
        data.path().to_owned()
    } else {
        let name = format!("engines-{}", random_hex(8)?);
        let base = Path::new(ELSEWHERE).join(name);
        for folder in [Path::new(ELSEWHERE), &base] {
            DirBuilder::new().recursive(true).mode(0o711).create(folder)?;
            fs::set_permissions(folder, Permissions::from_mode(0o711))?;
        }
        base.canonicalize()?
    };
    replace_private(&pointer, &format!("{}\n", base.display()))?;
    Ok(base)
}

/// Whether every user may walk to a folder.
fn is_open_to_all(folder: &Path) -> bool {
    folder.ancestors().all(|above| fs::metadata(above).is_ok_and(|found| found.mode() & 0o001 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_folder_anywhere_above_is_noticed() {
        let above = tempfile::tempdir().unwrap();
        let below = above.path().join("below");
        fs::create_dir(&below).unwrap();
        fs::set_permissions(above.path(), Permissions::from_mode(0o711)).unwrap();
        fs::set_permissions(&below, Permissions::from_mode(0o711)).unwrap();
        assert!(is_open_to_all(&below.canonicalize().unwrap()));
        fs::set_permissions(above.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(!is_open_to_all(&below.canonicalize().unwrap()));
    }

    #[test]
    fn a_socket_gets_a_short_folder_however_deep_the_data_lies() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("d".repeat(100));
        let place = Place { folder, user: None, owner: None };
        fs::create_dir(&place.folder).unwrap();
        let short = place.socket_folder().unwrap();
        assert!(short.as_os_str().len() <= SOCKET_FOLDER_MAX, "{short:?}");
        assert_eq!(place.socket_folder().unwrap(), short, "the same each time");
        fs::set_permissions(&short, Permissions::from_mode(0o777)).unwrap();
        let other = place.socket_folder().unwrap();
        assert_ne!(other, short, "one that is open to others is not used");
        fs::remove_dir(&short).unwrap();
        fs::remove_dir(&other).unwrap();
    }
}
