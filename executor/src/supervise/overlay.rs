//! A work folder as a file system of its own, which hides where the folder is.
//!
//! The kernel shows every process the source of its mounts in `/proc/self/mountinfo`: for a bind mount the path within
//! the host's file system. An overlay shows the paths that it was mounted with, and these are relative. Its `volatile`
//! option (Linux 5.10) leaves out the sync of the whole disk at its end, and makes `fsync` inside free: nothing in a
//! work folder outlives its attempt.

use crate::identity::Identity;
use nix::mount::MsFlags;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::Path;

/// The layers, by names within the work folder. What the command writes is in `files`.
const LAYERS: [&str; 3] = ["empty", "files", "overlay"];
const OPTIONS: &str = "lowerdir=empty,upperdir=files,workdir=overlay,volatile";

/// Mounts the work folder `folder` at `target`; what the command writes belongs to `identity` and is in `folder/files`.
/// The current folder of this process becomes `folder`.
///
/// # Errors
/// Where there is no such file system: before Linux 5.10, without root, on a container's own overlay. Then `folder`
/// is as before.
pub(super) fn mount(folder: &Path, identity: Identity, target: &Path) -> io::Result<()> {
    let mounted = try_mount(folder, identity, target);
    if mounted.is_err() {
        for layer in LAYERS {
            fs::remove_dir_all(folder.join(layer)).ok();
        }
    }
    mounted
}

fn try_mount(folder: &Path, identity: Identity, target: &Path) -> io::Result<()> {
    std::env::set_current_dir(folder)?;
    for layer in LAYERS {
        DirBuilder::new().mode(0o700).create(layer)?;
    }
    chown("files", Some(identity.uid), Some(identity.gid))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    nix::mount::mount(Some("berth-work"), target, Some("overlay"), flags, Some(OPTIONS))?;
    Ok(())
}
