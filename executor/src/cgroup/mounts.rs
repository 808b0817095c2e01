//! Reads where the kernel shows control groups, and which of them this process is in. Pure.

use super::place::{Controller, Version};
use std::path::{Path, PathBuf};

/// A hierarchy and our place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// Where it is mounted.
    pub(super) mount: PathBuf,
    /// Our own group in it, as a folder.
    pub(super) own: PathBuf,
}

/// The hierarchy of version 1 that has `controller`, by `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub(super) fn first(mountinfo: &str, cgroup: &str, controller: Controller) -> Option<Hierarchy> {
    let has = |list: &str| list.split(',').any(|one| one == controller.name());
    let mounted =
        mountinfo.lines().filter_map(mount).find(|m| m.kind == "cgroup" && has(m.options))?;
    let path = cgroup.lines().filter_map(membership).find(|(list, _)| has(list))?.1;
    Some(mounted.hierarchy(Version::V1, path))
}

/// The one hierarchy of version 2.
pub(super) fn second(mountinfo: &str, cgroup: &str) -> Option<Hierarchy> {
    let mounted = mountinfo.lines().filter_map(mount).find(|m| m.kind == "cgroup2")?;
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(mounted.hierarchy(Version::V2, path))
}

struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl Mount<'_> {
    fn hierarchy(&self, version: Version, path: &str) -> Hierarchy {
        let mount = PathBuf::from(self.point);
        // A container may see only its own part, under a name that means nothing outside.
        let below = Path::new(path).strip_prefix(self.root).unwrap_or(Path::new(""));
        Hierarchy { version, own: mount.join(below), mount }
    }
}

/// `36 35 0:29 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory`
fn mount(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let mut right = right.split(' ');
    let (root, point) = (left.next()?, left.next()?);
    let (kind, _, options) = (right.next()?, right.next()?, right.next()?);
    Some(Mount { root, point, kind, options })
}

/// `4:memory:/a/b`
fn membership(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, ':').skip(1);
    Some((parts.next()?, parts.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 1 0:22 / /proc rw,relatime - proc proc rw
30 29 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:8 - cgroup cgroup rw,cpu,cpuacct
31 29 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
32 29 0:28 /box /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate
";
    const OWN: &str = "9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/\n0::/box/agent\n";

    #[test]
    fn our_own_group_is_found_in_each_hierarchy() {
        let own = |controller| first(MOUNTS, OWN, controller).map(|found| found.own);
        assert_eq!(own(Controller::Memory), Some(PathBuf::from("/sys/fs/cgroup/memory/a/b")));
        assert_eq!(own(Controller::Cpu), Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/")));
        assert_eq!(own(Controller::Pids), None);
        let two = second(MOUNTS, OWN).unwrap();
        assert_eq!(two.own, Path::new("/sys/fs/cgroup/unified/agent"));
        assert_eq!(two.mount, Path::new("/sys/fs/cgroup/unified"));
    }
}
