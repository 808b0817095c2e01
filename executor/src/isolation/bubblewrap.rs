//! What bubblewrap is told: the whole of what an isolated command sees.
//!
//! A list of what is there, not of what is hidden: nothing of the machine is visible that is not named here.
//! Everything but the work folder, /tmp and /dev/shm is read-only, the root included.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

/// How bubblewrap works on this machine.
#[derive(Debug, Clone)]
pub(crate) struct Bubblewrap {
    /// Its path.
    pub(crate) program: PathBuf,
    /// As in [`Sandbox`].
    pub(crate) user_mounts: bool,
}

/// What surrounds a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sandbox {
    /// bubblewrap.
    pub(crate) program: PathBuf,
    /// Paths of the machine that are visible besides the usual ones.
    pub(crate) visible: Vec<PathBuf>,
    /// Whether the machine's network is open.
    pub(crate) network: bool,
    /// Size of /tmp and of /dev/shm, bytes.
    pub(crate) tmp_bytes: u64,
    /// Without root: whether the work folder is mounted in a user namespace of the supervisor, so that its path is not
    /// seen inside.
    pub(crate) user_mounts: bool,
}

/// Where a command finds its work folder.
pub(crate) const WORK: &str = "/work";

/// Folders of the system besides /usr: on most machines links into it.
const SYSTEM: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What programs need of /etc: names of users, the linker's cache, certificates, the time zone. No settings
/// of services, which may hold secrets that this executor's user can read.
const SETTINGS: [&str; 19] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/fonts",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

/// What the network needs, shown where it is open.
const NETWORK: [&str; 4] = ["/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/resolv.conf"];

/// Files that bubblewrap gets open.
pub(crate) struct Handles<'a> {
    /// Our own binary: it is no path inside.
    pub(crate) ourselves: RawFd,
    /// System call filters, in bubblewrap's format.
    pub(crate) filters: &'a [RawFd],
    /// An /etc/hosts for a command without a network.
    pub(crate) hosts: RawFd,
    /// Files of users' names that the command sees instead of the machine's.
    pub(crate) names: &'a [(RawFd, &'a str)],
}

/// The arguments up to and with the program that starts the command, whose own arguments follow.
/// `work` is the work folder as bubblewrap finds it.
pub(crate) fn arguments(sandbox: &Sandbox, work: &Path, handles: &Handles<'_>) -> Vec<OsString> {
    let mut list = List(Vec::with_capacity(128));
    list.add(&["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    if sandbox.network {
        list.add(&["--share-net"]);
    }
    list.add(&["--ro-bind", "/usr", "/usr", "--perms", "0755", "--dir", "/etc"]);
    for folder in SYSTEM {
        match fs::read_link(folder) {
            Ok(target) => list.paths("--symlink", &target, Path::new(folder)),
            Err(_) => list.shown(Path::new(folder)),
        }
    }
    let network: &[&str] = if sandbox.network { &NETWORK } else { &[] };
    for file in SETTINGS.iter().chain(network) {
        if handles.names.iter().all(|(_, own)| own != file) {
            list.shown(Path::new(file));
        }
    }
    for (number, file) in handles.names {
        list.add(&["--perms", "0644", "--ro-bind-data", &number.to_string(), file]);
    }
    if !sandbox.network {
        list.add(&["--perms", "0644", "--ro-bind-data", &handles.hosts.to_string(), "/etc/hosts"]);
    }
    for path in &sandbox.visible {
        list.shown(path);
    }
    let size = sandbox.tmp_bytes.to_string();
    list.add(&["--proc", "/proc", "--dev", "/dev"]);
    list.add(&["--perms", "1777", "--size", &size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]);
    list.add(&["--perms", "1777", "--size", &size, "--tmpfs", "/tmp"]);
    list.paths("--bind", work, Path::new(WORK));
    list.add(&["--chdir", WORK, "--remount-ro", "/"]);
    for filter in handles.filters {
        list.add(&["--add-seccomp-fd", &filter.to_string()]);
    }
    list.add(&["--", &format!("/proc/self/fd/{}", handles.ourselves)]);
    list.0
}

struct List(Vec<OsString>);

impl List {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn paths(&mut self, what: &str, source: &Path, target: &Path) {
        self.0.extend([OsString::from(what), source.into(), target.into()]);
    }

    /// Read-only and at its own place; nothing where the machine has no such path.
    fn shown(&mut self, path: &Path) {
        self.paths("--ro-bind-try", path, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(network: bool) -> String {
        let sandbox = Sandbox {
            program: PathBuf::from("/usr/bin/bwrap"),
            visible: vec![PathBuf::from("/opt")],
            network,
            tmp_bytes: 4096,
            user_mounts: false,
        };
        let names = [(11, "/etc/passwd"), (12, "/etc/group")];
        let names = if network { &[][..] } else { &names };
        let handles = Handles { ourselves: 7, filters: &[8, 9], hosts: 10, names };
        let words = arguments(&sandbox, Path::new("/data/w"), &handles);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_network_is_shared_only_where_it_is_open() {
        assert!(!line(false).contains("--share-net") && !line(false).contains("/etc/resolv.conf"));
        assert!(line(true).contains("--share-net") && line(true).contains("/etc/resolv.conf"));
    }

    #[test]
    fn a_user_of_the_attempts_own_has_its_name_there() {
        assert!(line(true).contains("--ro-bind-try /etc/passwd /etc/passwd"));
        let own = line(false);
        assert!(
            !own.contains("--ro-bind-try /etc/passwd") && !own.contains("--ro-bind-try /etc/group")
        );
        assert!(own.contains("--perms 0644 --ro-bind-data 11 /etc/passwd"), "{own}");
        assert!(own.contains("--perms 0644 --ro-bind-data 12 /etc/group"), "{own}");
    }

    #[test]
    fn only_the_work_folder_is_bound_writable_and_the_root_is_closed_after_it() {
        let line = line(false);
        assert_eq!(line.matches(" --bind ").count(), 1);
        let end = "--bind /data/w /work --chdir /work --remount-ro / --add-seccomp-fd 8 --add-seccomp-fd 9 -- /proc/self/fd/7";
        assert!(line.ends_with(end), "{line}");
    }
}
