//! Reads `/proc/*/stat`: process tree and cpu time.

use std::collections::HashMap;
use std::fs;

/// Ticks a second of these counters. The kernel's promise to programs on every architecture but Alpha.
pub(super) const TICKS_PER_SECOND: f64 = 100.0;

/// One process: its parent, its own ticks, and those of children it has waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Used {
    parent: u32,
    own: u64,
    waited: u64,
}

/// All processes, at one moment.
pub(super) struct Processes(HashMap<u32, Used>);

impl Processes {
    pub(super) fn now() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        Self(
            pids.filter_map(|pid| {
                Some((pid, parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))
            })
            .collect(),
        )
    }

    /// Ticks of one process without its children.
    pub(super) fn alone(&self, pid: u32) -> u64 {
        self.0.get(&pid).map_or(0, |used| used.own)
    }

    /// Ticks of a process, of all that live below it, and of those that did: whose end was waited for is counted by its parent.
    pub(super) fn tree(&self, root: u32) -> u64 {
        let below = self.0.keys().filter(|pid| self.is_below(**pid, root));
        below.filter_map(|pid| self.0.get(pid)).map(|used| used.own + used.waited).sum()
    }

    fn is_below(&self, pid: u32, root: u32) -> bool {
        let mut at = pid;
        // A chain of parents is short; the bound is against one that changed while it was read.
        for _ in 0..64 {
            if at == root {
                return true;
            }
            match self.0.get(&at) {
                Some(used) if used.parent != 0 => at = used.parent,
                _ => return false,
            }
        }
        false
    }
}

/// Ticks of the whole machine since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Machine {
    /// In which it was busy: all but idle, and waiting for the disk.
    pub busy: u64,
    /// In which something could have run, and the machine's host ran something else.
    pub stolen: u64,
}

impl Machine {
    pub(super) fn now() -> Self {
        Self::of(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn of(text: &str) -> Self {
        let first = text.lines().next().into_iter().flat_map(str::split_whitespace);
        let all: Vec<u64> = first.filter_map(|n| n.parse().ok()).collect();
        let at = |place: usize| all.get(place).copied().unwrap_or(0);
        // user nice system idle iowait irq softirq steal; what follows is contained in user and nice.
        Self { busy: [0, 1, 2, 5, 6].map(at).iter().sum(), stolen: at(7) }
    }
}

fn parse(line: &str) -> Option<Used> {
    // The name may hold spaces and brackets; the fixed fields begin after the last bracket.
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Used {
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        waited: number(13)? + number(14)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_brackets_does_not_shift_the_fields() {
        let line = "42 (a) (b c) S 7 42 42 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 100";
        assert_eq!(parse(line), Some(Used { parent: 7, own: 23, waited: 27 }));
    }

    #[test]
    fn what_the_host_took_is_not_busy_and_neither_is_waiting() {
        let text = "cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 1 1 1 1 1 1 1 1 1";
        assert_eq!(Machine::of(text), Machine { busy: 103, stolen: 128 });
        assert_eq!(Machine::of(""), Machine::default());
    }

    #[test]
    fn a_tree_is_the_process_and_all_below_it() {
        let used = |parent, own, waited| Used { parent, own, waited };
        let all = Processes(HashMap::from([
            (1, used(0, 1000, 0)),
            (2, used(1, 5, 7)),
            (3, used(2, 1, 0)),
            (4, used(1, 100, 0)),
        ]));
        assert_eq!(all.tree(2), 13);
        assert_eq!(all.alone(2), 5);
    }
}
