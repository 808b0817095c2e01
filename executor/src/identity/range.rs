//! Users of attempts' own: numbers that no user of the machine has, each for one running attempt at a time.
//!
//! What the kernel counts by user (processes, inotify watches, room in pipes) is then counted by attempt, and one
//! attempt can neither see into another nor signal it. Executors on one machine share the range: each claims blocks of it,
//! marked by locked files that go with the process. A number that any live process has is never given out.

use crate::sweep::all_pids;
use parking_lot::Mutex;
use std::collections::{HashSet, VecDeque};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Where executors of this machine mark what they have claimed. Root alone may write there.
const MARKS: &str = "/run/berth-uids";
/// Numbers in a block. Blocks begin at multiples of it, so that ranges that overlap have the same ones.
const BLOCK: u32 = 256;

#[derive(Debug)]
pub(super) struct UidRange {
    first: u32,
    last: u32,
    marks: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Who was used least recently comes first.
    free: VecDeque<u32>,
    blocks: Vec<(u32, File)>,
}

impl UidRange {
    /// The range, of which this process may use all numbers.
    ///
    /// # Errors
    /// Says, for people, why this machine does not offer it.
    pub(super) fn open(first: u32, last: u32) -> Result<Self, String> {
        for map in ["/proc/self/uid_map", "/proc/self/gid_map"] {
            let text = fs::read_to_string(map).unwrap_or_default();
            if !is_mapped(&text, first, last) {
                return Err(format!("{first}-{last} is not within {map}"));
            }
        }
        if let Some(line) =
            taken(&fs::read_to_string("/etc/passwd").unwrap_or_default(), first, last)
        {
            return Err(format!("{first}-{last} holds a user of this machine: {line}"));
        }
        Self::marked_in(Path::new(MARKS), first, last)
            .map_err(|error| format!("{MARKS} cannot be used: {error}"))
    }

    fn marked_in(marks: &Path, first: u32, last: u32) -> io::Result<Self> {
        match DirBuilder::new().mode(0o700).create(marks) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(marks)?;
        if !found.is_dir() || found.uid() != nix::unistd::geteuid().as_raw() {
            return Err(io::Error::other("it is not a folder of root's"));
        }
        Ok(Self { first, last, marks: marks.to_owned(), state: Mutex::default() })
    }

    /// A number that no process has. Blocks for a moment where a new block is needed.
    ///
    /// # Errors
    /// When all of them are in use.
    pub(super) fn claim(&self) -> io::Result<u32> {
        let mut state = self.state.lock();
        if state.free.is_empty() {
            self.claim_block(&mut state)?;
        }
        state.free.pop_front().ok_or_else(|| {
            io::Error::other(format!(
                "all of the user ids {}-{} are in use; widen `executor.run_as_uids`",
                self.first, self.last
            ))
        })
    }

    /// Gives it back. No process may have it any more.
    pub(super) fn release(&self, uid: u32) {
        self.state.lock().free.push_back(uid);
    }

    fn claim_block(&self, state: &mut State) -> io::Result<()> {
        for block in self.first / BLOCK..=self.last / BLOCK {
            if state.blocks.iter().any(|(held, _)| *held == block) {
                continue;
            }
            let mark = self.marks.join((block * BLOCK).to_string());
            let mark = OpenOptions::new().create(true).append(true).mode(0o600).open(mark)?;
            match mark.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let start = block * BLOCK;
            let numbers = start.max(self.first)..=start.saturating_add(BLOCK - 1).min(self.last);
            // Twice: a process that begins while the first look goes on has a parent that the second one sees.
            let mut live = live_uids();
            live.extend(live_uids());
            let before = state.free.len();
            state.free.extend(numbers.filter(|uid| !live.contains(uid)));
            state.blocks.push((block, mark));
            if state.free.len() > before {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Processes that have `uid` in any of its roles.
pub(super) fn pids_of(uid: u32) -> impl Iterator<Item = i32> {
    all_pids().filter(move |pid| uids_of(*pid).any(|one| one == uid))
}

fn live_uids() -> HashSet<u32> {
    all_pids().flat_map(uids_of).collect()
}

/// Real, effective, saved and for files. The owner of its folder in /proc says less: a process that hides has root there.
fn uids_of(pid: i32) -> impl Iterator<Item = u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    let uids: Vec<u32> = line.split_ascii_whitespace().filter_map(|uid| uid.parse().ok()).collect();
    uids.into_iter()
}

/// Whether a map of the kernel's (`inside outside count` lines) has all of them in one line.
fn is_mapped(map: &str, first: u32, last: u32) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u64>);
        let (Some(Ok(inside)), Some(Ok(_)), Some(Ok(count))) =
            (fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        inside <= first.into() && u64::from(last) < inside.saturating_add(count)
    })
}

/// The name of a user of the machine within the range.
fn taken(passwd: &str, first: u32, last: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let uid: u32 = fields.nth(1)?.parse().ok()?;
        (first..=last).contains(&uid).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_of_one_machine_have_different_numbers_and_reuse_the_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let marks = folder.path().join("marks");
        let open = |first, last| UidRange::marked_in(&marks, first, last).unwrap();
        // Not of the usual range, of which other tests have live processes. Begins within a block and ends within the next.
        let (one, other) = (open(1_900_000_200, 1_900_000_300), open(1_900_000_200, 1_900_000_300));
        let edge = (1_900_000_200 / BLOCK + 1) * BLOCK;
        let mine: HashSet<u32> = (1_900_000_200..edge).map(|_| one.claim().unwrap()).collect();
        let others: HashSet<u32> = (edge..=1_900_000_300).map(|_| other.claim().unwrap()).collect();
        assert!(mine.is_disjoint(&others));
        assert_eq!(mine.len() + others.len(), 101);
        let full = one.claim().unwrap_err().to_string();
        assert!(full.contains("1900000200-1900000300 are in use; widen"), "{full}");
        let (first, second) = (*mine.iter().min().unwrap(), *mine.iter().max().unwrap());
        one.release(second);
        one.release(first);
        assert_eq!([one.claim().unwrap(), one.claim().unwrap()], [second, first]);
        drop(other);
        assert!(others.contains(&one.claim().unwrap()), "what ended has left its block");
    }

    #[test]
    fn a_number_that_a_live_process_has_is_not_given_out() {
        let folder = tempfile::tempdir().unwrap();
        let own = nix::unistd::getuid().as_raw();
        let last = own / BLOCK * BLOCK + BLOCK - 1;
        let range = UidRange::marked_in(&folder.path().join("marks"), own, last).unwrap();
        for _ in own + 1..=last {
            if let Ok(uid) = range.claim() {
                assert_ne!(uid, own);
            }
        }
        range.claim().unwrap_err();
        assert!(pids_of(own).any(|pid| pid == std::process::id().cast_signed()));
    }

    #[test]
    fn what_the_kernel_maps_and_who_has_a_name_are_understood() {
        assert!(is_mapped("         0          0 4294967295\n", 2_000_000_000, 2_000_065_535));
        assert!(!is_mapped("0 100000 65536\n", 2_000_000_000, 2_000_065_535));
        assert!(is_mapped("0 1000 1\n1 100000 65536\n", 60_000, 65_536));
        assert!(!is_mapped("0 1000 1\n1 100000 65536\n", 60_000, 65_537));
        assert!(!is_mapped("", 1, 2));
        let passwd = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nodd\n";
        assert_eq!(taken(passwd, 1000, 2000), Some("ann"));
        assert_eq!(taken(passwd, 1001, 2000), None);
    }
}
