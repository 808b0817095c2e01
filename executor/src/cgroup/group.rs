//! The groups of one attempt, one in each hierarchy.
//!
//! Made before its first process, which enters them before it becomes the command; removed after its last.

use super::place::{Controller, Place, Version};
use crate::limits::Limits;
use crate::sweep::{kill_pids, stop_found};
use nix::sys::signal::Signal;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What bubblewrap and our own process beside the command may take on top of the attempt's limits.
const OVERHEAD_BYTES: u64 = 16 * 1024 * 1024;
const OVERHEAD_PROCESSES: u64 = 4;
/// The period in which a share of processor time is given out, microseconds: as short as the least share, for which the
/// kernel has a limit of its own, allows. What a group may use at once is how long its neighbours wait for it.
const SHORT_PERIOD_US: u64 = 20_000;
const LONG_PERIOD_US: u64 = 1_000_000;
/// Of groups that may use whole cores. The kernel hands their time out to each processor in pieces of 5 ms, and what is left of
/// those at the end of a period is lost: the fewer ends the better.
const WHOLE_CORES_PERIOD_US: u64 = 100_000;
const LEAST_QUOTA_US: u64 = 1000;

/// Empty where nothing can be limited.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    parts: Vec<Place>,
}

impl Group {
    /// Makes the group `name` in all places and sets its limits on memory and processes. An older one with this
    /// name is ended.
    ///
    /// # Errors
    /// What the system answers; then nothing is left.
    pub(crate) fn make(places: &[Place], name: &str, limits: &Limits) -> io::Result<Self> {
        let group = Self::at(places, name);
        group.end();
        let made = group.folders().into_iter().try_for_each(fs::create_dir);
        let made = made.and_then(|()| group.parts.iter().try_for_each(|part| limit(part, limits)));
        if let Err(error) = made {
            group.end();
            return Err(error);
        }
        Ok(group)
    }

    /// The group `name`, whether it exists or not.
    pub(super) fn at(places: &[Place], name: &str) -> Self {
        let part = |place: &Place| Place { folder: place.folder.join(name), ..place.clone() };
        Self { parts: places.iter().map(part).collect() }
    }

    /// Limits the processor time; later than the rest, so that the start of an attempt is not slowed down.
    pub(crate) fn limit_cpu(&self, limits: &Limits) -> io::Result<()> {
        let Some(part) = self.part(Controller::Cpu) else { return Ok(()) };
        let (quota, period) = quota_and_period(limits.cpu_millis);
        let set = |file: &str, value: String| fs::write(part.folder.join(file), value);
        match part.version {
            Version::V1 => {
                set("cpu.cfs_period_us", period.to_string())?;
                set("cpu.cfs_quota_us", quota.to_string())
            }
            Version::V2 => set("cpu.max", format!("{quota} {period}")),
        }
    }

    /// Files into which a process of one thread writes `0` to enter.
    pub(crate) fn doors(&self) -> io::Result<Vec<File>> {
        let door = |part: &Place| match part.version {
            // For a thread that moves itself the kernel does without the lock that holds up every fork, exec
            // and exit of the machine until all processors have noticed (`cgroup_procs_write_start`).
            Version::V1 => part.folder.join("tasks"),
            // Threads may not part from their process here.
            Version::V2 => part.folder.join("cgroup.procs"),
        };
        let doors: BTreeSet<PathBuf> = self.parts.iter().map(door).collect();
        doors.iter().map(|door| OpenOptions::new().write(true).open(door)).collect()
    }

    /// Moves a process in.
    pub(super) fn admit(&self, pid: u32) -> io::Result<()> {
        let enter = |folder: &Path| fs::write(folder.join("cgroup.procs"), pid.to_string());
        self.folders().into_iter().try_for_each(enter)
    }

    /// True when the kernel limits `controller` here.
    pub(crate) fn has(&self, controller: Controller) -> bool {
        self.part(controller).is_some()
    }

    /// Processes that the kernel has killed for want of memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let file = |version| match version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        let part = self.part(Controller::Memory);
        part.map_or(0, |part| counter(&part.folder.join(file(part.version)), "oom_kill"))
    }

    /// Forks that the kernel has refused.
    pub(crate) fn refused_forks(&self) -> u64 {
        let part = self.part(Controller::Pids);
        part.map_or(0, |part| counter(&part.folder.join("pids.events"), "max"))
    }

    /// Live processes, as the kernel lists them. None when there is no group to ask.
    pub(crate) fn pids(&self) -> Option<BTreeSet<i32>> {
        let read =
            |folder: &Path| fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        let lists: Vec<String> = self.folders().into_iter().map(read).collect();
        let all = lists.iter().flat_map(|list| list.lines().filter_map(|pid| pid.parse().ok()));
        (!self.parts.is_empty()).then(|| all.collect())
    }

    /// True when no process is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.pids().is_none_or(|pids| pids.is_empty())
    }

    /// Without 0, which stands for a process that this one cannot see, and would be our own process group.
    fn visible_pids(&self) -> impl Iterator<Item = i32> + use<> {
        self.pids().unwrap_or_default().into_iter().filter(|pid| *pid > 0)
    }

    /// Stops what is in it, then kills it and lets nothing new begin. Has to be repeated until it is empty.
    pub(crate) fn kill(&self) {
        stop_found(|| self.visible_pids());
        if let Some(part) = self.part(Controller::Pids) {
            fs::write(part.folder.join("pids.max"), "0").ok();
        }
        for part in self.parts.iter().filter(|part| part.version == Version::V2) {
            fs::write(part.folder.join("cgroup.kill"), "1").ok();
        }
        kill_pids(self.visible_pids(), Signal::SIGKILL);
    }

    /// Kills what is in it, for a few seconds at most, and removes it. True when nothing is left. Blocks.
    pub(crate) fn end(&self) -> bool {
        for _ in 0..500 {
            if self.is_empty() && self.remove() {
                return true;
            }
            self.kill();
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// Removes it if it is empty; true when it is gone.
    pub(crate) fn remove(&self) -> bool {
        let gone = |folder: &Path| match fs::remove_dir(folder) {
            Err(error) => error.kind() == ErrorKind::NotFound,
            Ok(()) => true,
        };
        // All of them, also after one that stays.
        self.folders().into_iter().filter(|folder| !gone(folder)).count() == 0
    }

    /// Each folder once: in version 2 all parts share theirs.
    fn folders(&self) -> BTreeSet<&Path> {
        self.parts.iter().map(|part| part.folder.as_path()).collect()
    }

    fn part(&self, controller: Controller) -> Option<&Place> {
        self.parts.iter().find(|part| part.controller == controller)
    }
}

/// Microseconds that so many thousandths of a core may use, and of how many.
fn quota_and_period(cpu_millis: u64) -> (u64, u64) {
    let period = match cpu_millis {
        0 => LONG_PERIOD_US,
        1..1000 => {
            (LEAST_QUOTA_US * 1000).div_ceil(cpu_millis).clamp(SHORT_PERIOD_US, LONG_PERIOD_US)
        }
        _ => WHOLE_CORES_PERIOD_US,
    };
    ((cpu_millis * period / 1000).max(LEAST_QUOTA_US), period)
}

fn limit(part: &Place, limits: &Limits) -> io::Result<()> {
    let file = |name: &str| -> PathBuf { part.folder.join(name) };
    let memory = limits.memory_bytes.saturating_add(OVERHEAD_BYTES).to_string();
    match (part.controller, part.version) {
        (Controller::Memory, Version::V1) => {
            fs::write(file("memory.limit_in_bytes"), &memory)?;
            // Not there where swap is not counted.
            fs::write(file("memory.memsw.limit_in_bytes"), memory).ok();
        }
        (Controller::Memory, Version::V2) => {
            fs::write(file("memory.max"), memory)?;
            fs::write(file("memory.swap.max"), "0").ok();
            // Out of memory ends all of it at once: the rest of an attempt must not go on without one of its processes.
            fs::write(file("memory.oom.group"), "1").ok();
        }
        (Controller::Pids, _) => {
            fs::write(file("pids.max"), (limits.processes + OVERHEAD_PROCESSES).to_string())?;
        }
        // Its share from the start, so that not even its preparation crowds out others; its limit once the command runs.
        (Controller::Cpu, Version::V1) => {
            let shares = (limits.cpu_millis * 1024 / 1000).clamp(2, 262_144);
            fs::write(file("cpu.shares"), shares.to_string())?;
        }
        (Controller::Cpu, Version::V2) => {
            let weight = (limits.cpu_millis / 10).clamp(1, 10_000);
            fs::write(file("cpu.weight"), weight.to_string())?;
        }
    }
    Ok(())
}

/// The number behind `name` in a file of `name number` lines; 0 when there is none.
fn counter(file: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let found = text.lines().filter_map(|line| line.split_once(' ')).find(|(key, _)| *key == name);
    found.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory_bytes: 64 * 1024 * 1024,
        cpu_millis: 250,
        processes: 100,
        disk_bytes: 0,
        open_files: 0,
        files: 0,
    };

    fn place(root: &Path, controller: Controller, version: Version) -> Place {
        Place { controller, version, folder: root.to_owned() }
    }

    #[test]
    fn limits_are_written_in_the_words_of_each_version() {
        let root = tempfile::tempdir().unwrap();
        for (version, files) in [
            (
                Version::V1,
                [
                    ("memory.limit_in_bytes", "83886080"),
                    ("pids.max", "104"),
                    ("cpu.cfs_quota_us", "5000"),
                    ("cpu.shares", "256"),
                ],
            ),
            (
                Version::V2,
                [
                    ("memory.max", "83886080"),
                    ("pids.max", "104"),
                    ("cpu.max", "5000 20000"),
                    ("cpu.weight", "25"),
                ],
            ),
        ] {
            let places = Controller::ALL.map(|one| place(root.path(), one, version));
            let name = format!("{version:?}");
            let group = Group::make(&places, &name, &LIMITS).unwrap();
            group.limit_cpu(&LIMITS).unwrap();
            let all_at_once = root.path().join(&name).join("memory.oom.group").exists();
            assert_eq!(all_at_once, version == Version::V2);
            for (file, wanted) in files {
                let text = fs::read_to_string(root.path().join(&name).join(file)).unwrap();
                assert_eq!(text, wanted, "{file}");
            }
        }
    }

    #[test]
    fn a_share_is_what_was_asked_in_the_shortest_period_that_can_hold_it() {
        assert_eq!(quota_and_period(4000), (400_000, 100_000));
        assert_eq!(quota_and_period(500), (10_000, 20_000));
        assert_eq!(quota_and_period(50), (1000, 20_000));
        assert_eq!(quota_and_period(10), (1000, 100_000));
        assert_eq!(quota_and_period(1), (1000, 1_000_000));
        assert_eq!(quota_and_period(0), (1000, 1_000_000));
    }

    #[test]
    fn events_are_read_from_the_files_of_each_version() {
        let root = tempfile::tempdir().unwrap();
        let group = Group { parts: vec![place(root.path(), Controller::Memory, Version::V1)] };
        fs::write(root.path().join("memory.oom_control"), "under_oom 0\noom_kill 3\n").unwrap();
        assert_eq!((group.oom_kills(), group.refused_forks()), (3, 0));
        fs::write(root.path().join("cgroup.procs"), "12\n13\n").unwrap();
        assert_eq!(group.pids(), Some(BTreeSet::from([12, 13])));
        assert_eq!(Group::default().pids(), None);
        assert!(Group::default().is_empty());
    }
}
