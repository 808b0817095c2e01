//! Work folders: one for each attempt, its own, gone after.
//!
//! Named `<task>-<attempt>`, so that what a crashed executor left behind can be traced to its processes.
//! Removing follows no links, and goes on where a command took away its own permissions.

use crate::identity::Identity;
use domain::id::TaskId;
use domain::task::LeaseKey;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder that holds them.
#[derive(Debug, Clone)]
pub(crate) struct WorkFolders {
    root: PathBuf,
}

impl WorkFolders {
    /// Makes the folder that holds them. Others may pass through it but not list it.
    pub(crate) fn open(root: PathBuf) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o711).create(&root)?;
        fs::set_permissions(&root, Permissions::from_mode(0o711))?;
        Ok(Self { root })
    }

    /// Makes an empty folder for `lease` that belongs to `owner`; none: to us.
    pub(super) fn make(&self, lease: &LeaseKey, owner: Option<Identity>) -> io::Result<PathBuf> {
        self.make_named(&name(lease), owner)
    }

    /// Makes an empty folder with this name.
    pub(super) fn make_named(&self, name: &str, owner: Option<Identity>) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                remove(&path)?;
                DirBuilder::new().mode(0o700).create(&path)?;
            }
            made => made?,
        }
        if let Some(identity) = owner {
            identity.own(&File::open(&path)?)?;
        }
        Ok(path)
    }

    /// Folders of earlier boots, and of which attempt each is. Anything else is left alone.
    pub(super) fn leftovers(&self) -> io::Result<Vec<(PathBuf, TaskId, u32)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let parts = name.rsplit_once('-');
            if let Some((task, attempt)) =
                parts.and_then(|(t, a)| Some((t.parse().ok()?, a.parse().ok()?)))
            {
                found.push((path, task, attempt));
            }
        }
        Ok(found)
    }
}

/// The name of an attempt's folder, and of its control groups.
pub(super) fn name(lease: &LeaseKey) -> String {
    format!("{}-{}", lease.task, lease.attempt)
}

/// Removes a folder and all below it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            // Not as root: the command closed folders that are ours too.
            reopen(path)?;
            fs::remove_dir_all(path)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn reopen(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            reopen(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{SessionId, TenantId};

    #[test]
    fn a_folder_is_fresh_private_and_found_again() {
        let root = tempfile::tempdir().unwrap();
        let folders = WorkFolders::open(root.path().join("work")).unwrap();
        let lease = LeaseKey {
            tenant: TenantId::fresh(),
            task: TaskId::fresh(),
            attempt: 2,
            session: SessionId::fresh(),
        };
        let path = folders.make(&lease, None).unwrap();
        fs::write(path.join("old"), "").unwrap();
        assert_eq!(folders.make(&lease, None).unwrap(), path);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        fs::create_dir(root.path().join("work/somebody-else")).unwrap();
        assert_eq!(folders.leftovers().unwrap(), [(path.clone(), lease.task, 2)]);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(folders.leftovers().unwrap(), []);
    }
}
