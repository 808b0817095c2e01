//! What a run came to: for people as text, for programs as JSON. The chart is in `chart`.

use super::chart;
use super::flow::Flow;
use super::inject::Done;
use super::judge::{Seen, Verdict};
use super::plan::queue_type;
use super::scenario::Scenario;
use crate::promise::{Promise, by_promise};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Sentences shown of each promise's violations.
const SHOWN: usize = 5;

/// A run.
pub struct Report {
    /// What was run.
    pub scenario: Scenario,
    /// From which seed.
    pub seed: u64,
    /// The load in peace.
    pub(super) calm: Flow,
    /// The load under faults.
    pub(super) flow: Flow,
    /// What was seen meanwhile.
    pub(super) seen: Seen,
    /// What is wrong.
    pub(super) verdict: Verdict,
    /// Ended tasks by state.
    pub(super) outcomes: Vec<Vec<String>>,
    /// Attempts by outcome.
    pub(super) attempts: Vec<Vec<String>>,
    /// Processes that nobody had ended.
    pub(super) ended_by_themselves: Vec<String>,
    /// From the end of load and faults until nothing lived.
    pub(super) drained_ms: i64,
    /// When the load under faults began, ms since 1970.
    pub(super) began_ms: i64,
}

impl Report {
    /// Goodput under faults as a share of that in peace.
    #[must_use]
    pub fn goodput(&self) -> f64 {
        self.flow.rate() / self.calm.rate().max(f64::MIN_POSITIVE)
    }

    /// What does not hold, in sentences; empty where all does.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let mut failures: Vec<String> =
            self.verdict.violations.iter().map(ToString::to_string).collect();
        if let Some(least) = self.scenario.goodput
            && self.goodput() < least
        {
            failures.push(format!("goodput is {:.3}, and must be {least}", self.goodput()));
        }
        failures
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let counts = by_promise(&self.verdict.violations);
        let violations: serde_json::Map<String, Value> =
            counts.iter().map(|(p, n)| (p.number().to_string(), json!(n))).collect();
        let not_exercised: Vec<u8> = self.not_exercised().map(Promise::number).collect();
        let faults: Vec<Value> = self
            .seen
            .done
            .iter()
            .enumerate()
            .map(|(at, done)| {
                let resumed = self.verdict.resumed_ms.iter().find(|(of, ..)| *of == at);
                json!({
                    "fault": done.fault.kind().0,
                    "whom": done.fault.whom(),
                    "from_ms": done.from_ms - self.began_ms,
                    "to_ms": done.to_ms - self.began_ms,
                    "skipped": done.skipped,
                    "resumed_after_ms": resumed.map(|(_, took, _)| *took).filter(|took| *took != i64::MAX),
                    "resume_limit_ms": resumed.map(|(.., limit)| limit),
                })
            })
            .collect();
        let (stall, stall_from) = self.flow.longest_stall();
        json!({
            "scenario": self.scenario.name,
            "seed": self.seed,
            "queue_type": queue_type(self.seed),
            "held": self.failures().is_empty(),
            "violations": violations,
            "not_exercised": not_exercised,
            "failures": self.failures(),
            "goodput": self.goodput(),
            "goodput_least": self.scenario.goodput,
            "calm_tasks_per_second": self.calm.rate(),
            "chaos_tasks_per_second": self.flow.rate(),
            "longest_stall_ms": stall,
            "longest_stall_from_ms": stall_from - self.began_ms,
            "calm_longest_stall_ms": self.calm.longest_stall().0,
            "drained_ms": self.drained_ms,
            "tasks": self.flow.ended(),
            "tasks_by_outcome": counts_of(&self.outcomes),
            "attempts_by_outcome": counts_of(&self.attempts),
            "commands_run_again": self.verdict.ran_again,
            "submits_cut_off": self.seen.answers.cut_off,
            "submits_answered_5xx": self.seen.answers.failed,
            "limited": {
                "admitted": self.seen.limited.admitted.len(),
                "refused": self.seen.limited.refused,
                "unknown": self.seen.limited.unknown,
                "seconds": self.seen.limited.lasted.as_secs_f64(),
            },
            "foreign_ids_compared": self.seen.foreign.compared,
            "looks_at_ports": self.seen.ports.looks,
            "ended_by_themselves": self.ended_by_themselves,
            "faults": faults,
        })
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (stall, stall_from) = self.flow.longest_stall();
        let (name, seed) = (&self.scenario.name, self.seed);
        writeln!(out, "scenario {name}, seed {seed}, {} queues\n", queue_type(seed))?;
        writeln!(out, "What was done (seconds from the beginning of the load):")?;
        for (at, done) in self.seen.done.iter().enumerate() {
            let resumed = self.verdict.resumed_ms.iter().find(|(of, ..)| *of == at);
            let resumed = resumed.map_or(String::new(), |(_, took, limit)| match *took {
                i64::MAX => format!("work never went on (limit {limit} ms)"),
                took => format!("work went on after {took} ms (limit {limit})"),
            });
            writeln!(out, "  {:<66} {resumed}", line(done, self.began_ms))?;
        }
        for ended in &self.ended_by_themselves {
            writeln!(out, "  {ended}; it was started again")?;
        }
        writeln!(out, "\nWhat came of it:")?;
        writeln!(
            out,
            "  goodput        {:.3} of the calm run ({:.1} against {:.1} tasks/s, until the last end){}",
            self.goodput(),
            self.flow.rate(),
            self.calm.rate(),
            self.scenario.goodput.map_or(String::new(), |least| format!("; at least {least}")),
        )?;
        writeln!(
            out,
            "  longest stall  {stall} ms, from {:.1} s on (in peace {} ms)",
            seconds(stall_from - self.began_ms),
            self.calm.longest_stall().0
        )?;
        writeln!(out, "  drained        {} ms after load and faults", self.drained_ms)?;
        writeln!(
            out,
            "  submit to end  half within {} ms, 99 % within {} ms (in peace {} and {})",
            self.flow.took_ms(50),
            self.flow.took_ms(99),
            self.calm.took_ms(50),
            self.calm.took_ms(99)
        )?;
        writeln!(out, "  tasks          {}", row(&self.outcomes))?;
        writeln!(out, "  attempts       {}", row(&self.attempts))?;
        writeln!(
            out,
            "  requests       {} cut off, {} answered with 5xx; all asked again until acknowledged",
            self.seen.answers.cut_off, self.seen.answers.failed
        )?;
        writeln!(
            out,
            "  run again      {} command(s) ran to their end in an attempt that was lost before its report, and then again",
            self.verdict.ran_again
        )?;
        writeln!(
            out,
            "  probes         {} foreign ids compared; {} tasks admitted and {} refused of a tenant above its limit; {} looks at ports\n",
            self.seen.foreign.compared,
            self.seen.limited.admitted.len(),
            self.seen.limited.refused,
            self.seen.ports.looks
        )?;
        self.promises(out)?;
        let failures = self.failures();
        writeln!(
            out,
            "\n{}",
            if failures.is_empty() {
                "Every promise that was put to the test held.".to_owned()
            } else {
                format!("NOT as promised: {} finding(s).", failures.len())
            }
        )
    }

    fn promises(&self, out: &mut String) -> std::fmt::Result {
        let counts = by_promise(&self.verdict.violations);
        writeln!(
            out,
            "Promises:                                                            violations"
        )?;
        for (promise, count) in counts {
            let number = promise.number();
            let words = promise.words();
            let note = if count == 0 && !self.verdict.exercised.contains(&promise) {
                "not exercised".to_owned()
            } else {
                count.to_string()
            };
            writeln!(out, "  {number:>2}  {words:<62} {note}")?;
            let of_it = self.verdict.violations.iter().filter(|v| v.promise == promise);
            for violation in of_it.take(SHOWN) {
                writeln!(out, "        {} {}", violation.count, violation.what)?;
            }
        }
        Ok(())
    }

    fn not_exercised(&self) -> impl Iterator<Item = Promise> {
        Promise::ALL.into_iter().filter(|promise| !self.verdict.exercised.contains(promise))
    }

    /// Writes the JSON to `path`, and the text and the chart beside it under the endings `txt` and `svg`.
    pub fn write_to(&self, path: &Path) -> anyhow::Result<[PathBuf; 3]> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let (text, picture) = (path.with_extension("txt"), path.with_extension("svg"));
        std::fs::write(path, serde_json::to_vec_pretty(&self.json())?)?;
        std::fs::write(&text, self.text())?;
        std::fs::write(&picture, chart::svg(&self.flow, &self.seen.done, self.began_ms))?;
        Ok([path.to_owned(), text, picture])
    }
}

/// A fault in a line: from when to when, what, on whom.
pub(super) fn line(done: &Done, began_ms: i64) -> String {
    let (from, to) = (seconds(done.from_ms - began_ms), seconds(done.to_ms - began_ms));
    let skipped = done.skipped.as_ref().map_or(String::new(), |why| format!(" SKIPPED: {why}"));
    format!("{from:>6.1} to {to:>6.1}  {} {}{skipped}", done.fault.kind().0, done.fault.whom())
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}

fn row(rows: &[Vec<String>]) -> String {
    let pairs = rows.iter().filter_map(|row| match row.as_slice() {
        [what, count] => Some(format!("{count} {what}")),
        _ => None,
    });
    pairs.collect::<Vec<_>>().join("; ")
}

fn counts_of(rows: &[Vec<String>]) -> Value {
    let pairs = rows.iter().filter_map(|row| match row.as_slice() {
        [what, count] => Some((what.clone(), json!(count.parse::<u64>().ok()?))),
        _ => None,
    });
    Value::Object(pairs.collect())
}
