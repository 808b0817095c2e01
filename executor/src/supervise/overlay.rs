//! A work folder as a file system of its own, which hides where the folder is.
//!
//! The kernel shows every process the source of its mounts in `/proc/self/mountinfo`: for a bind mount the path within
//! the host's file system. An overlay shows the paths that it was mounted with, and these are relative. Its `volatile`
//! option (Linux 5.10) leaves out the sync of the whole disk at its end, and makes `fsync` inside free: nothing in a
//! work folder outlives its attempt.

use crate::identity::Identity;
use nix::mount::MsFlags;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, getegid, geteuid};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::Path;

/// The layers, by names within the work folder. What the command writes is in `files`.
const LAYERS: [&str; 3] = ["empty", "files", "overlay"];
const OPTIONS: &str = "lowerdir=empty,upperdir=files,workdir=overlay,volatile";
/// Without privileges an overlay must keep its own attributes in the namespace `user.` (`userxattr`).
const USER_OPTIONS: &str = "lowerdir=empty,upperdir=files,workdir=overlay,volatile,userxattr";

/// Mounts the work folder `folder` at `target`; what the command writes is in `folder/files` and belongs to `identity`,
/// or without one to this process' user. The current folder of this process becomes `folder`.
///
/// # Errors
/// Where there is no such file system: before Linux 5.10 (without root 5.11), on a container's own overlay. Then
/// `folder` is as before.
pub(super) fn mount(folder: &Path, identity: Option<Identity>, target: &Path) -> io::Result<()> {
    let mounted = try_mount(folder, identity, target);
    if mounted.is_err() {
        for layer in LAYERS {
            fs::remove_dir_all(folder.join(layer)).ok();
        }
    }
    mounted
}

/// Moves this process into a new user namespace, in which it may mount. Its user and group id stay the same.
///
/// # Errors
/// Where the machine forbids user namespaces, or this process has more than one thread.
pub(super) fn own_user_namespace() -> io::Result<()> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // Files in /proc of a process that is not dumpable belong to root.
    prctl::set_dumpable(true)?;
    let mapped = map(uid, gid);
    prctl::set_dumpable(false)?;
    mapped
}

fn map(uid: Uid, gid: Gid) -> io::Result<()> {
    // The kernel requires this before a group is mapped without privileges, see user_namespaces(7).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

fn try_mount(folder: &Path, identity: Option<Identity>, target: &Path) -> io::Result<()> {
    std::env::set_current_dir(folder)?;
    for layer in LAYERS {
        DirBuilder::new().mode(0o700).create(layer)?;
    }
    let options = match identity {
        Some(identity) => {
            chown("files", Some(identity.uid), Some(identity.gid))?;
            OPTIONS
        }
        None => USER_OPTIONS,
    };
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    nix::mount::mount(Some("berth-work"), target, Some("overlay"), flags, Some(options))?;
    Ok(())
}
