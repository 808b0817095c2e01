//! A name for a user that this machine does not know.
//!
//! Many programs (`whoami`, `ssh`, `initdb`) give up when their user has no entry in /etc/passwd. A user of an attempt's
//! own has none there, so the command sees the machine's file with a line more.

use super::job::Job;
use crate::identity::Identity;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::fs;
use std::io;
use std::path::Path;

/// What users and groups of an attempt's own are called. No user of a machine should be.
const NAME: &str = "berth-task";

/// The files of users and groups, and what a command sees in them.
pub(super) const FILES: [&str; 2] = ["/etc/passwd", "/etc/group"];

/// What the command sees in each of `FILES`. `home` is its work folder as it sees it.
pub(super) fn texts(identity: Identity, home: &Path) -> [String; 2] {
    let Identity { uid, gid } = identity;
    // A colon ends the field.
    let home = home.to_str().filter(|path| !path.contains([':', '\n'])).unwrap_or("/");
    let lines = [
        format!("{NAME}:x:{uid}:{gid}:Task of Berth:{home}:/bin/sh\n"),
        format!("{NAME}:x:{gid}:\n"),
    ];
    let mut lines = lines.into_iter();
    FILES.map(|file| {
        let mut text = fs::read_to_string(file).unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text + &lines.next().unwrap_or_default()
    })
}

/// Begins a mount namespace that ends with this supervisor and its command.
pub(super) fn own_mounts() -> io::Result<()> {
    const NONE: Option<&Path> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_SLAVE, NONE)?;
    Ok(())
}

/// Shows a command that is not isolated its own names. What is mounted for it no one else sees.
///
/// # Errors
/// Where this process may not mount; then its user has no name, and nothing else is different.
pub(super) fn show(job: &Job) -> io::Result<()> {
    let Some(identity) = job.identity.filter(|_| job.own_user) else { return Ok(()) };
    const NONE: Option<&Path> = None;
    own_mounts()?;
    // A file system of two files, which needs a place until they have theirs.
    let place = Path::new("/tmp");
    mount(
        NONE,
        place,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("mode=755,size=16m"),
    )?;
    let shown = FILES.into_iter().zip(texts(identity, &job.folder)).try_for_each(|(file, text)| {
        let own = place.join(file.trim_start_matches("/etc/"));
        fs::write(&own, text)?;
        mount(Some(&own), file, NONE, MsFlags::MS_BIND, NONE)?;
        io::Result::Ok(())
    });
    umount2(place, MntFlags::MNT_DETACH)?;
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_has_a_line_of_its_own_after_those_of_the_machine() {
        let identity = Identity { uid: 2_000_000_007, gid: 2_000_000_007 };
        let [users, groups] = texts(identity, Path::new("/work"));
        let line = "berth-task:x:2000000007:2000000007:Task of Berth:/work:/bin/sh\n";
        assert!(users.ends_with(line) && users.contains("\nnobody:"), "{users}");
        assert!(groups.ends_with("\nberth-task:x:2000000007:\n"), "{groups}");
        let [users, _] = texts(identity, Path::new("/a:b"));
        assert!(users.ends_with(":/:/bin/sh\n"), "{users}");
    }
}
