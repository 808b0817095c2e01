//! What a ledger proves or disproves.
//!
//! Called by end-to-end tests after a fault. Each check answers with sentences about what is wrong; none is good.
//! A run that was killed wrote no end, so nobody knows when it ended: checks treat it as the test tells them.

use std::collections::BTreeSet;

use super::runs::Runs;

impl Runs {
    /// Lines that fit to nothing: an attempt begun twice, an end without a start.
    pub fn faults(&self) -> Vec<String> {
        self.stray.clone()
    }

    /// Tasks of which two runs were under way at once. A run without an end counts as under way only up to
    /// `killed_ns` (when the test killed it), or for no time at all when that is `None`.
    pub fn overlaps(&self, killed_ns: Option<i64>) -> Vec<String> {
        let mut found = Vec::new();
        for (task, runs) in &self.by_task {
            // The latest end so far: a long run may reach over several that follow it.
            let mut busy_until: Option<(i64, u32)> = None;
            for run in runs {
                if let Some((until, before)) = busy_until
                    && run.started_ns < until
                {
                    found.push(format!(
                        "{task}: attempt {} began {} ns before attempt {before} ended",
                        run.attempt,
                        until - run.started_ns
                    ));
                }
                let ended =
                    run.ended_ns.or(killed_ns).unwrap_or(run.started_ns).max(run.started_ns);
                if busy_until.is_none_or(|(until, _)| ended > until) {
                    busy_until = Some((ended, run.attempt));
                }
            }
        }
        found
    }

    /// Tasks of `expected` with no completed run: work that was promised and never done.
    pub fn never_completed<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let not_done = |task: &&str| !self.of(task).iter().any(|run| run.ended_ns.is_some());
        expected
            .into_iter()
            .filter(not_done)
            .map(|task| format!("{task} never came to an end"))
            .collect()
    }

    /// Tasks with more than one completed run: allowed by at-least-once delivery, but to be counted.
    pub fn completed_more_than_once(&self) -> Vec<String> {
        let ends = |task: &str| self.of(task).iter().filter(|run| run.ended_ns.is_some()).count();
        let counted = self.tasks().map(|task| (task, ends(task)));
        counted
            .filter(|(_, count)| *count > 1)
            .map(|(task, count)| format!("{task} ended {count} times"))
            .collect()
    }

    /// Tasks that ran though nobody in `expected` asked for them.
    pub fn unexpected<'a>(&self, expected: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let expected: BTreeSet<&str> = expected.into_iter().collect();
        self.tasks()
            .filter(|task| !expected.contains(task))
            .map(|task| format!("{task} ran unasked"))
            .collect()
    }
}
