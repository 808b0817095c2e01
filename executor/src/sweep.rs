//! Finds, stops and signals everything below a process.
//!
//! Used by a supervisor on its own descendants, and by the agent on leftovers of a supervisor that was
//! killed. A tree is always ended as one: all of its processes are stopped first, pass after pass until
//! none appears that was not seen before. Signalled one by one while it runs, a child could end before its
//! parent, and a shell would begin its next command. Each pass reads only what is new, so that it outruns a fork bomb.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::{HashMap, HashSet};
use std::fs;

/// Most passes before going on with what was found; the caller comes back until nothing is left.
const MAX_PASSES: usize = 200;

/// Sends `signal` to each; one that has ended meanwhile is no matter.
pub(crate) fn kill_pids(pids: impl IntoIterator<Item = i32>, signal: Signal) {
    for pid in pids {
        kill(Pid::from_raw(pid), signal).ok();
    }
}

/// All descendants of `root` now.
pub(crate) fn descendants(root: i32) -> Vec<i32> {
    let mut sweep = Sweep::new(root);
    sweep.look();
    sweep.found
}

/// Stops all descendants of `root`, each before its children, and returns them in this order. None of them runs
/// any code of its own until it is continued.
pub(crate) fn stop_descendants(root: i32) -> Vec<i32> {
    let mut sweep = Sweep::new(root);
    for _ in 0..MAX_PASSES {
        let seen = sweep.found.len();
        let all_decided = sweep.look();
        let fresh = sweep.found.get(seen..).unwrap_or_default();
        if fresh.is_empty() && all_decided {
            break;
        }
        kill_pids(fresh.iter().copied(), Signal::SIGSTOP);
    }
    sweep.found
}

/// Asks all descendants of `root` but `spared` to end, as one: none of them can notice the end of another before it
/// has been asked itself.
pub(crate) fn terminate_descendants(root: i32, spared: Option<i32>) {
    let tree = stop_descendants(root);
    kill_pids(tree.iter().copied().filter(|pid| Some(*pid) != spared), Signal::SIGTERM);
    // Children first: a parent that controls jobs would take a child that is still stopped for suspended.
    kill_pids(tree.into_iter().rev(), Signal::SIGCONT);
}

/// Stops, then kills, all descendants of `root`. They have to be reaped, and looked for again.
pub(crate) fn kill_descendants(root: i32) {
    kill_pids(stop_descendants(root), Signal::SIGKILL);
}

/// Stops all that `found` finds, asking it again until it finds nothing new, and returns them.
pub(crate) fn stop_found<I: IntoIterator<Item = i32>>(found: impl Fn() -> I) -> HashSet<i32> {
    let mut all = HashSet::new();
    for _ in 0..MAX_PASSES {
        let fresh: Vec<i32> = found().into_iter().filter(|pid| all.insert(*pid)).collect();
        if fresh.is_empty() {
            break;
        }
        kill_pids(fresh, Signal::SIGSTOP);
    }
    all
}

struct Sweep {
    root: i32,
    /// Each after its parent.
    found: Vec<i32>,
    ours: HashSet<i32>,
    /// Processes of others; not read again in this sweep.
    foreign: HashSet<i32>,
}

impl Sweep {
    fn new(root: i32) -> Self {
        Self { root, found: Vec::new(), ours: HashSet::new(), foreign: HashSet::new() }
    }

    /// One pass: adds what was not found in an earlier one. False when a process could not be told to be ours or not:
    /// its parent ended before it was read, and it has another one now.
    fn look(&mut self) -> bool {
        let mut unknown: HashMap<i32, i32> = all_pids()
            .filter(|pid| !self.ours.contains(pid) && !self.foreign.contains(pid))
            .filter_map(|pid| Some((pid, parent_of(pid)?)))
            .collect();
        // A child may be listed before its parent: repeat until a round adds nothing.
        loop {
            let mut added = take_children(&mut unknown, |parent| {
                parent == self.root || self.ours.contains(&parent)
            });
            if added.is_empty() {
                break;
            }
            added.sort_unstable();
            self.ours.extend(&added);
            self.found.extend(added);
        }
        loop {
            let others =
                take_children(&mut unknown, |parent| parent == 0 || self.foreign.contains(&parent));
            if others.is_empty() {
                return unknown.is_empty();
            }
            self.foreign.extend(others);
        }
    }
}

/// Takes out those whose parent is one of these.
fn take_children(unknown: &mut HashMap<i32, i32>, is_parent: impl Fn(i32) -> bool) -> Vec<i32> {
    unknown.extract_if(|_, parent| is_parent(*parent)).map(|(pid, _)| pid).collect()
}

pub(crate) fn all_pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// False for one that has ended, whether it was collected or not.
pub(crate) fn is_alive(pid: i32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

fn parent_of(pid: i32) -> Option<i32> {
    state_and_parent(pid).map(|(_, parent)| parent)
}

/// Third and fourth field of /proc/<pid>/stat; the second, a name in brackets, may hold anything.
fn state_and_parent(pid: i32) -> Option<(char, i32)> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields =
        std::str::from_utf8(stat.get(end_of_name + 1..)?).ok()?.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn state_of(pid: i32) -> char {
        state_and_parent(pid).unwrap().0
    }

    /// Until `pid` is in one of these states.
    fn until_state(pid: i32, states: &str) {
        let began = runtime::clock::monotonic();
        while !states.contains(state_of(pid)) {
            assert!(began.elapsed() < std::time::Duration::from_secs(20), "{}", state_of(pid));
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_tree_is_stopped_parents_first_and_can_then_be_asked() {
        let script = "sleep 60 & sleep 61 & wait";
        let mut shell = Command::new("bash").args(["-c", script]).spawn().unwrap();
        let pid = i32::try_from(shell.id()).unwrap();
        while descendants(pid).len() < 2 {
            std::thread::yield_now();
        }
        // Below this test's thread other tests have children, too: only the shell's are of interest.
        let tree = stop_descendants(pid);
        assert_eq!(tree.len(), 2);
        for child in &tree {
            until_state(*child, "T");
        }
        assert!("SR".contains(state_of(pid)), "its parent is not below itself");
        kill_pids(tree, Signal::SIGCONT);
        terminate_descendants(pid, None);
        assert!(shell.wait().unwrap().success(), "`wait` has seen both end");
    }

    #[test]
    fn a_child_is_found_below_its_parent_only() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let found = descendants(own).contains(&pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found && !is_alive(pid));
        assert!(!descendants(own).contains(&pid));
        assert_eq!(parent_of(own), Some(std::os::unix::process::parent_id().cast_signed()));
    }
}
