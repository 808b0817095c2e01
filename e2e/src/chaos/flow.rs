//! How work flowed, read from the tables afterwards: ended tasks over time, goodput, stalls, and when work went on after a fault.

use crate::Oracle;
use anyhow::Context;

/// One task: times in ms since 1970, by Postgres's clock, which is this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// When it was submitted.
    pub created_ms: i64,
    /// When it was last due.
    pub due_ms: i64,
    /// When it ended.
    pub ended_ms: i64,
}

/// The tasks that were submitted within a time and have ended.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    /// By their end.
    lives: Vec<Life>,
    began_ms: i64,
}

impl Flow {
    /// Tasks of those that `oracle` counts, submitted from `began_ms` to `until_ms`.
    pub async fn read(oracle: &Oracle<'_>, began_ms: i64, until_ms: i64) -> anyhow::Result<Self> {
        let ms = |column: &str| format!("floor(extract(epoch from {column}) * 1000)::bigint");
        let sql = format!(
            "select {}, {}, {} from task_history h join task_spec s on s.id = h.id
                where {} and s.created_at >= to_timestamp({began_ms} / 1000.0) and s.created_at < to_timestamp({until_ms} / 1000.0)",
            ms("s.created_at"),
            ms("h.run_at"),
            ms("h.finished_at"),
            oracle.condition()
        );
        let rows = oracle.rows(&sql).await?;
        let life = |row: &Vec<String>| {
            let numbers = row.iter().map(|n| n.parse()).collect::<Result<Vec<i64>, _>>().ok()?;
            let &[created_ms, due_ms, ended_ms] = numbers.as_slice() else { return None };
            Some(Life { created_ms, due_ms, ended_ms })
        };
        let lives = rows.iter().map(|row| life(row).with_context(|| format!("{row:?}")));
        Ok(Self::of(lives.collect::<anyhow::Result<_>>()?, began_ms))
    }

    /// Of these tasks, the load having begun then.
    pub fn of(mut lives: Vec<Life>, began_ms: i64) -> Self {
        lives.sort_unstable_by_key(|life| life.ended_ms);
        Self { lives, began_ms }
    }

    /// How many have ended.
    pub fn ended(&self) -> usize {
        self.lives.len()
    }

    /// Tasks a second, from the beginning to the last end.
    pub fn rate(&self) -> f64 {
        let last = self.lives.last().map_or(self.began_ms, |life| life.ended_ms);
        self.lives.len() as f64 / ((last - self.began_ms).max(1) as f64 / 1000.0)
    }

    /// The longest time in which nothing ended though something could have run, in ms; and when it began.
    pub fn longest_stall(&self) -> (i64, i64) {
        // The earliest due time of what ends from each place on.
        let mut waiting_since = vec![i64::MAX; self.lives.len()];
        let mut earliest = i64::MAX;
        for (at, life) in self.lives.iter().enumerate().rev() {
            earliest = earliest.min(life.due_ms);
            waiting_since[at] = earliest;
        }
        let mut before = self.began_ms;
        let stalls = self.lives.iter().zip(waiting_since).map(|(life, since)| {
            let from = before.max(since);
            before = life.ended_ms;
            (life.ended_ms - from, from)
        });
        stalls.max().unwrap_or((0, self.began_ms))
    }

    /// How long after `at_ms` the first task ended that was submitted since, in ms; none where none was.
    pub fn resumed_after(&self, at_ms: i64) -> Option<i64> {
        let since = self.lives.iter().filter(|life| life.created_ms >= at_ms);
        since.map(|life| life.ended_ms - at_ms).min()
    }

    /// Tasks that ended in each second since the beginning.
    pub fn by_second(&self) -> Vec<usize> {
        let mut counts = Vec::new();
        for life in &self.lives {
            let second = usize::try_from((life.ended_ms - self.began_ms) / 1000).unwrap_or(0);
            if counts.len() <= second {
                counts.resize(second + 1, 0);
            }
            counts[second] += 1;
        }
        counts
    }

    /// From submit to end, in ms: of so many of a hundred no longer.
    pub fn took_ms(&self, percent: usize) -> i64 {
        let mut took: Vec<i64> = self.lives.iter().map(|l| l.ended_ms - l.created_ms).collect();
        took.sort_unstable();
        let at = (took.len() * percent).div_ceil(100).saturating_sub(1);
        took.get(at).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(due_ms: i64, ended_ms: i64) -> Life {
        Life { created_ms: due_ms, due_ms, ended_ms }
    }

    #[test]
    fn a_stall_counts_only_while_work_waits() {
        // Nothing was there to do from 300 to 5000.
        let flow = Flow::of(vec![life(100, 200), life(250, 300), life(5000, 5400)], 100);
        assert_eq!(flow.longest_stall(), (400, 5000));
        // Here something was.
        let flow = Flow::of(vec![life(100, 200), life(250, 6000), life(5000, 5400)], 100);
        assert_eq!(flow.longest_stall(), (5150, 250));
    }

    #[test]
    fn the_rate_lasts_until_the_last_end() {
        let flow = Flow::of(vec![life(0, 500), life(0, 2000)], 0);
        assert!((flow.rate() - 1.0).abs() < 1e-9);
        assert_eq!(flow.by_second(), [1, 0, 1]);
    }

    #[test]
    fn work_resumes_with_what_came_since() {
        let flow = Flow::of(vec![life(0, 1500), life(1100, 1700), life(1200, 1600)], 0);
        assert_eq!(flow.resumed_after(1000), Some(600));
        assert_eq!(flow.resumed_after(3000), None);
    }
}
