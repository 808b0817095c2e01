//! Starts and ends put together: what each task really did.
//!
//! The rule: an end without a start, or a second start of the same attempt, is kept as a fault to report, never
//! thrown away: it is just what a test is looking for.

use std::collections::{BTreeMap, HashMap};

use super::line::{Line, Mark};

/// One real run of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The attempt, from 1.
    pub attempt: u32,
    /// When it began, in monotonic nanoseconds.
    pub started_ns: i64,
    /// When it came to its end; `None` while it runs and for one that was killed.
    pub ended_ns: Option<i64>,
    /// When it began by the wall clock, in nanoseconds since 1970.
    pub started_wall_ns: i64,
}

/// All runs of a ledger, by task and in the order they began.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    pub(super) by_task: BTreeMap<String, Vec<Run>>,
    pub(super) stray: Vec<String>,
}

impl Runs {
    pub(super) fn from_lines(lines: Vec<Line>) -> anyhow::Result<Self> {
        let mut runs = Self::default();
        let mut open: HashMap<(String, u32), i64> = HashMap::new();
        for line in lines {
            let key = (line.task.clone(), line.attempt);
            let of_task = runs.by_task.entry(line.task.clone()).or_default();
            match line.mark {
                Mark::Start => {
                    if of_task.iter().any(|run| run.attempt == line.attempt) {
                        runs.stray
                            .push(format!("{} attempt {} began twice", line.task, line.attempt));
                    }
                    open.insert(key, line.monotonic_ns);
                    of_task.push(Run {
                        attempt: line.attempt,
                        started_ns: line.monotonic_ns,
                        ended_ns: None,
                        started_wall_ns: line.wall_ns,
                    });
                }
                Mark::End => {
                    let began = open.remove(&key);
                    let run = of_task.iter_mut().find(|run| {
                        run.attempt == line.attempt
                            && run.ended_ns.is_none()
                            && Some(run.started_ns) == began
                    });
                    match run {
                        Some(run) => run.ended_ns = Some(line.monotonic_ns),
                        None => runs
                            .stray
                            .push(format!("{} attempt {} ended unbegun", line.task, line.attempt)),
                    }
                }
            }
        }
        for of_task in runs.by_task.values_mut() {
            of_task.sort_by_key(|run| run.started_ns);
        }
        Ok(runs)
    }

    /// The runs of one task, in the order they began.
    pub fn of(&self, task: &str) -> &[Run] {
        self.by_task.get(task).map_or(&[], Vec::as_slice)
    }

    /// The tasks that ran at all.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.by_task.keys().map(String::as_str)
    }

    /// Runs that came to their end.
    pub fn completed(&self) -> usize {
        self.by_task.values().flatten().filter(|run| run.ended_ns.is_some()).count()
    }
}
