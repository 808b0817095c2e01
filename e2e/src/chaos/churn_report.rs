//! What minutes of coming and going came to: the end against the beginning.

use super::sample::{FIGURES, Sample};
use crate::promise::{Violation, by_promise};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long things come and go before it is counted: pools fill, plans are made, and tables take the size between two clean-ups,
/// which Postgres looks to once a minute. Three minutes before ten.
pub(super) fn warm_up(length: Duration) -> Duration {
    (length * 3 / 10).clamp(Duration::from_secs(20), Duration::from_secs(180))
}

/// How much more the end may be than the beginning.
const FLAT: f64 = 1.1;
/// Tables that are told by name.
const GREW_MOST: usize = 8;

/// What it came to.
pub struct ChurnReport {
    pub(super) seed: u64,
    pub(super) length: Duration,
    pub(super) samples: Vec<Sample>,
    pub(super) violations: Vec<Violation>,
    pub(super) made: Made,
}

/// How much came and went.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Made {
    pub tasks: usize,
    pub schedules: usize,
    pub keys: usize,
    pub executors: usize,
}

impl ChurnReport {
    /// Each figure: its name, its mean in the first part, in the last, and whether that is flat.
    fn figures(&self) -> Vec<(&'static str, f64, f64, bool)> {
        let warm_up = warm_up(self.length);
        let part = Duration::from_secs(120).min(self.length / 5);
        let last = self.samples.last().map_or(Duration::ZERO, |sample| sample.after);
        let mean = |name: usize, within: &dyn Fn(&Sample) -> bool| {
            let values: Vec<f64> =
                self.samples.iter().filter(|s| within(s)).map(|s| s.values[name]).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        FIGURES
            .iter()
            .enumerate()
            .map(|(at, name)| {
                let first = mean(at, &|sample| sample.after < warm_up + part);
                let end = mean(at, &|sample| sample.after + part > last);
                (*name, first, end, end <= first * FLAT)
            })
            .collect()
    }

    /// The tables that grew most from the first sample to the last: MiB then, MiB now.
    fn grown(&self) -> Vec<(&str, f64, f64)> {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            return Vec::new();
        };
        let before = |name: &String| first.tables.get(name).copied().unwrap_or_default();
        let mut grown: Vec<_> =
            last.tables.iter().map(|(name, now)| (name.as_str(), before(name), *now)).collect();
        grown.sort_by(|a, b| (b.2 - b.1).total_cmp(&(a.2 - a.1)));
        grown.truncate(GREW_MOST);
        grown
    }

    /// What does not hold, in sentences.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let grown =
            self.figures().into_iter().filter(|(.., flat)| !flat).map(|(name, first, last, _)| {
                format!("{name} went from {first:.1} to {last:.1}: more than {FLAT} of it")
            });
        grown.chain(self.violations.iter().map(ToString::to_string)).collect()
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing into a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Made { tasks, schedules, keys, executors } = self.made;
        writeln!(out, "scenario churn, seed {}, {:?}", self.seed, self.length)?;
        writeln!(
            out,
            "made and gone: {tasks} tasks, {schedules} schedules, {keys} keys, {executors} executors\n"
        )?;
        writeln!(out, "{:<36} {:>10} {:>10} {:>7}", "", "first", "last", "ratio")?;
        for (name, first, last, flat) in self.figures() {
            let note = if flat { "" } else { "  NOT flat" };
            writeln!(
                out,
                "{name:<36} {first:>10.1} {last:>10.1} {:>7.2}{note}",
                last / first.max(f64::MIN_POSITIVE)
            )?;
        }
        writeln!(out, "\ntables that grew most, MiB")?;
        for (name, first, last) in self.grown() {
            writeln!(out, "{name:<36} {first:>10.2} {last:>10.2}")?;
        }
        for violation in &self.violations {
            writeln!(out, "{violation}")?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let counts = by_promise(&self.violations);
        let violations: serde_json::Map<String, Value> =
            counts.iter().map(|(p, n)| (p.number().to_string(), json!(n))).collect();
        let figures: Vec<Value> = self
            .figures()
            .into_iter()
            .map(|(name, first, last, flat)| json!({"name": name, "first": first, "last": last, "flat": flat}))
            .collect();
        json!({
            "scenario": "churn", "seed": self.seed, "held": self.failures().is_empty(), "violations": violations,
            "failures": self.failures(), "figures": figures, "faults": [], "seconds": self.length.as_secs_f64(),
            "samples": self.samples.iter().map(Sample::json).collect::<Vec<_>>(),
        })
    }

    /// Writes the JSON to `path`, and the text beside it.
    pub fn write_to(&self, path: &Path) -> anyhow::Result<Vec<PathBuf>> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = path.with_extension("txt");
        std::fs::write(path, serde_json::to_vec_pretty(&self.json())?)?;
        std::fs::write(&text, self.text())?;
        Ok(vec![path.to_owned(), text])
    }
}
