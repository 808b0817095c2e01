//! Holds an attempt to its limits.
//!
//! Where the kernel does (control groups), this asks it whether it had to; where it does not, this looks for itself,
//! twice a second. Either way an attempt that wants more than it may have is over, with a reason that
//! says what it wanted.

use super::clock::monotonic_ns;
use super::disk::{Usage, usage};
use super::held::{Held, Owner, held};
use super::job::{Passed, Status};
use crate::cgroup::{Controller, Group};
use crate::limits::Limits;
use crate::sweep;
use nix::libc::SIGXFSZ;
use nix::sys::statvfs::statvfs;
use nix::unistd::getpid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const NANOS_PER_MS: u64 = 1_000_000;
/// Between two looks. Looking at large folders takes long; then it is done less often, but not never.
const PAUSE_NS: u64 = 500 * NANOS_PER_MS;
const LONGEST_PAUSE_NS: u64 = 1000 * NANOS_PER_MS;
/// Part of the time that looking may take: one in so many.
const SHARE: u64 = 10;

const PAGE: u64 = 4096;

#[derive(Debug)]
pub(super) struct Guard {
    group: Group,
    limits: Limits,
    work: PathBuf,
    owner: Owner,
    next_look_ns: u64,
    command_runs: bool,
}

impl Guard {
    /// `work` is the work folder, and whose files in it are the attempt's.
    pub(super) fn new(group: Group, limits: Limits, (work, uid): (PathBuf, u32)) -> Self {
        let device = fs::metadata(&work).map_or(0, |found| found.dev());
        let owner = Owner { uid, device };
        let next_look_ns = monotonic_ns().saturating_add(PAUSE_NS);
        Self { group, limits, work, owner, next_look_ns, command_runs: false }
    }

    /// The command runs now: from here on the processor time counts as its own, and what is in /tmp.
    pub(super) fn command_runs(&mut self) {
        self.command_runs = true;
        // Tried at the executor's start; should it fail now, the attempt is only not slowed down.
        self.group.limit_cpu(&self.limits).ok();
    }

    /// When the next look is due.
    pub(super) const fn next_look_ns(&self) -> u64 {
        self.next_look_ns
    }

    /// Looks if that is due.
    pub(super) fn look(&mut self) -> Option<Passed> {
        let began = monotonic_ns();
        if began < self.next_look_ns {
            return None;
        }
        let passed = self.passed();
        let took = monotonic_ns().saturating_sub(began);
        let pause = took.saturating_mul(SHARE).clamp(PAUSE_NS, LONGEST_PAUSE_NS);
        self.next_look_ns = monotonic_ns().saturating_add(pause);
        passed
    }

    /// What the kernel has refused the attempt up to now. To `kill` counts as well: ask before.
    pub(super) fn refused_by_the_kernel(&self) -> Option<Passed> {
        if self.group.oom_kills() > 0 {
            return Some(Passed::Memory(self.limits.memory_bytes));
        }
        (self.group.refused_forks() > 0).then_some(Passed::Pids(self.limits.processes))
    }

    /// What the end of the attempt's main process says by itself.
    pub(super) fn exceeded_by(&self, status: Status) -> Option<Passed> {
        (status == Status::Signalled(SIGXFSZ)).then_some(Passed::Disk(self.limits.disk_bytes))
    }

    /// Kills what the kernel lists. To be repeated until `is_empty`.
    pub(super) fn kill(&self) {
        self.group.kill();
    }

    /// True when the kernel lists nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.group.is_empty()
    }

    /// Removes the groups; one that the kernel still holds on to is removed at the executor's next start.
    pub(super) fn remove(&self) {
        self.group.remove();
    }

    fn passed(&self) -> Option<Passed> {
        if let Some(passed) = self.refused_by_the_kernel() {
            return Some(passed);
        }
        let pids: Vec<i32> = match self.group.pids() {
            Some(pids) => pids.into_iter().collect(),
            None => sweep::descendants(getpid().as_raw()),
        };
        let nameless = held(&pids, self.owner);
        let private = self.private_files(&pids);
        self.passed_by_processes(&pids, private.bytes.saturating_add(nameless.memory()))
            .or_else(|| self.passed_on_disk(&pids, nameless, private.files))
    }

    /// `file_bytes`: what its files in memory take.
    fn passed_by_processes(&self, pids: &[i32], file_bytes: u64) -> Option<Passed> {
        let limits = &self.limits;
        if !self.group.has(Controller::Memory) {
            let used: u64 = pids.iter().map(|pid| private_bytes(*pid)).sum();
            if used.saturating_add(file_bytes) > limits.memory_bytes {
                return Some(Passed::Memory(limits.memory_bytes));
            }
        }
        if !self.group.has(Controller::Pids) && pids.len() as u64 >= limits.processes {
            return Some(Passed::Pids(limits.processes));
        }
        let full = |pid: &i32| open_files(*pid) >= limits.open_files;
        pids.iter().any(full).then_some(Passed::OpenFiles(limits.open_files))
    }

    /// `nameless`: found before the walk. What was deleted while it went on is missed once, and never counted twice.
    fn passed_on_disk(&self, pids: &[i32], nameless: Held, private_files: u64) -> Option<Passed> {
        let most = Usage { bytes: self.limits.disk_bytes, files: self.limits.files };
        let found = usage(&self.work, &most);
        if let Some(passed) = over(&most, found, private_files) {
            return Some(passed);
        }
        over(&most, found.and(nameless.usage()), private_files)?;
        // A file may have got its name while the walk went on: what still has none had none all the time.
        let still = nameless.still_in(&held(pids, self.owner));
        over(&most, found.and(still.usage()), private_files)
    }

    /// What the attempt has in its own /tmp and /dev/shm, which are in memory; seen through the youngest of its processes.
    /// While its sandbox is made, that one may have mounts of its own and still the machine's /tmp, with all the files of its disk.
    fn private_files(&self, pids: &[i32]) -> Usage {
        let Some(pid) = pids.iter().max().filter(|_| self.command_runs) else {
            return Usage::default();
        };
        let mounts = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
        // Not isolated: its /tmp is everybody's.
        if mounts(&pid.to_string()) == mounts("self") {
            return Usage::default();
        }
        let found = ["tmp", "dev/shm"]
            .iter()
            .filter_map(|folder| statvfs(format!("/proc/{pid}/root/{folder}").as_str()).ok());
        found.fold(Usage::default(), |sum, found| {
            let (all, free): (u64, u64) = (found.files(), found.files_free());
            let blocks: u64 = found.blocks().saturating_sub(found.blocks_free());
            let bytes = blocks.saturating_mul(found.fragment_size());
            sum.and(Usage { bytes, files: all.saturating_sub(free) })
        })
    }
}

fn over(most: &Usage, used: Usage, private_files: u64) -> Option<Passed> {
    if used.bytes > most.bytes {
        return Some(Passed::Disk(most.bytes));
    }
    (used.files.saturating_add(private_files) > most.files).then_some(Passed::Inodes(most.files))
}

/// Memory that a process does not share, bytes.
fn private_bytes(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared).saturating_mul(PAGE)
}

/// Files that a process has open; 0 when it may not be looked at.
fn open_files(pid: i32) -> u64 {
    let folder = format!("/proc/{pid}/fd");
    match fs::metadata(&folder).map(|found| found.len()) {
        // Kernels before 6.2 do not count for us.
        Ok(0) => fs::read_dir(folder).map_or(0, |entries| entries.count() as u64),
        counted => counted.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    #[test]
    fn memory_and_files_of_a_process_are_seen() {
        let own = getpid().as_raw();
        let before = open_files(own);
        let held: Vec<_> = (0..10).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        assert!(open_files(own) >= before.max(3) && open_files(own) >= 10);
        drop(held);
        let block = vec![1_u8; 64 * 1024 * 1024];
        assert!(private_bytes(own) > 64 * 1024 * 1024);
        drop(block);
        assert_eq!((private_bytes(-1), open_files(-1)), (0, 0));
    }

    #[test]
    fn files_of_the_machine_do_not_count_while_the_sandbox_is_made() {
        let mut words = std::process::Command::new("unshare");
        let words = words.args(["--map-root-user", "--mount", "sh", "-c", "echo there; sleep 60"]);
        let mut child = words.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut said).unwrap();
        if said.is_empty() {
            eprintln!("not tested: this machine allows no namespaces");
            child.wait().unwrap();
            return;
        }
        let limits = Limits {
            memory_bytes: 0,
            cpu_millis: 0,
            processes: 0,
            disk_bytes: 0,
            open_files: 0,
            files: 0,
        };
        let mut guard = Guard::new(Group::default(), limits, (std::env::temp_dir(), 0));
        let pids = [i32::try_from(child.id()).unwrap()];
        let before = guard.private_files(&pids);
        guard.command_runs();
        let (after, own) = (guard.private_files(&pids), guard.private_files(&[getpid().as_raw()]));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((before, own), (Usage::default(), Usage::default()));
        assert_ne!(after, Usage::default());
    }
}
