//! Finds and signals everything below a process.
//!
//! Used by a supervisor on its own descendants, and by the agent on leftovers of a supervisor that was
//! killed. A process that forks while it is being killed must not escape: all are stopped first, pass
//! after pass until none appears that was not seen before, and only then killed. Each pass reads
//! only what is new, so that it outruns a fork bomb.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet};
use std::fs;

/// Most passes before killing what was found; the caller comes back until nothing is left.
const MAX_PASSES: usize = 200;

/// Sends `signal` to each; one that has ended meanwhile is no matter.
pub(crate) fn kill_pids(pids: impl IntoIterator<Item = i32>, signal: Signal) {
    for pid in pids {
        kill(Pid::from_raw(pid), signal).ok();
    }
}

/// All descendants of `root` now.
pub(super) fn descendants(root: i32) -> Vec<i32> {
    let mut sweep = Sweep::new(root);
    sweep.look();
    sweep.found.into_iter().collect()
}

/// Stops, then kills, all descendants of `root`. They have to be reaped, and looked for again.
pub(super) fn kill_descendants(root: i32) {
    let mut sweep = Sweep::new(root);
    for _ in 0..MAX_PASSES {
        let fresh = sweep.look();
        if fresh.is_empty() {
            break;
        }
        kill_pids(fresh, Signal::SIGSTOP);
    }
    kill_pids(sweep.found, Signal::SIGKILL);
}

struct Sweep {
    root: i32,
    found: HashSet<i32>,
    /// Processes of others; not read again in this sweep.
    foreign: HashSet<i32>,
}

impl Sweep {
    fn new(root: i32) -> Self {
        Self { root, found: HashSet::new(), foreign: HashSet::new() }
    }

    /// One pass; what was not found in an earlier one.
    fn look(&mut self) -> Vec<i32> {
        let unknown: HashMap<i32, i32> = all_pids()
            .filter(|pid| !self.found.contains(pid) && !self.foreign.contains(pid))
            .filter_map(|pid| Some((pid, parent_of(pid)?)))
            .collect();
        let mut fresh = Vec::new();
        // A child may be listed before its parent: repeat until a round adds nothing.
        loop {
            let is_ours = |parent: &i32| *parent == self.root || self.found.contains(parent);
            let added: Vec<i32> = unknown
                .iter()
                .filter(|(pid, parent)| is_ours(parent) && !self.found.contains(pid))
                .map(|(pid, _)| *pid)
                .collect();
            if added.is_empty() {
                break;
            }
            self.found.extend(&added);
            fresh.extend(added);
        }
        self.foreign.extend(unknown.into_keys().filter(|pid| !self.found.contains(pid)));
        fresh
    }
}

pub(crate) fn all_pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Fourth field of /proc/<pid>/stat; the second, a name in brackets, may hold anything.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(stat.get(end_of_name + 1..)?).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_is_found_below_its_parent_only() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let found = descendants(own).contains(&pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found);
        assert!(!descendants(own).contains(&pid));
        assert_eq!(parent_of(own), Some(std::os::unix::process::parent_id().cast_signed()));
    }
}
