//! The folder a private engine lives in, in the layout of `scripts/lib/runs.sh`.
//!
//! It names its owner (this process), so that the next `scripts/with-services` can tell a crashed test's folder from
//! a living one's and clean it up. The rule: dropping it ends every process that works inside, then removes it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use tempfile::TempDir;

use super::procfs;
use crate::settings;

pub(super) struct RunFolder {
    folder: TempDir,
}

impl RunFolder {
    pub(super) fn create() -> anyhow::Result<Self> {
        let base = settings::services_base().unwrap_or_else(|| {
            // Engines started by root run as other users, who could not enter a private TMPDIR.
            if Uid::effective().is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
        });
        let base = fs::canonicalize(base)?;
        let folder =
            tempfile::Builder::new().prefix("berth-services.").rand_bytes(8).tempdir_in(&base)?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let owner = procfs::identity(std::process::id())
            .context("this process is not in /proc; engines need Linux")?;
        let draft = folder.path().join("owner.new");
        fs::write(&draft, owner)?;
        fs::rename(draft, folder.path().join("owner"))?;
        Ok(Self { folder })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Ends every process that works inside the folder, as a power cut would.
    pub(super) fn kill_all(&self) {
        for _ in 0..100 {
            let inside = procfs::processes_in(self.path());
            if inside.is_empty() {
                return;
            }
            for pid in inside.into_iter().filter_map(|pid| i32::try_from(pid).ok()) {
                // One that has ended meanwhile is what we wanted.
                let _gone = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        self.kill_all();
    }
}
