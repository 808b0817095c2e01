//! The rounds of all systems, as one table and as `bench/report/peers.json`.

use super::phase::Phase;
use crate::progress::say;
use crate::report::{self, Machine, Versions};
use crate::statistics::median;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Measured on.
    pub machine: Machine,
    /// Measured with.
    pub versions: Versions,
    /// Measured how.
    pub settings: BTreeMap<&'static str, String>,
    /// Berth, and then the peers.
    pub systems: Vec<System>,
    /// Peers that could not be measured here, and why.
    pub skipped: Vec<(&'static str, String)>,
    /// Rounds that failed.
    pub problems: Vec<String>,
}

/// Berth or a peer.
#[derive(Debug, Serialize)]
pub struct System {
    name: &'static str,
    version: String,
    /// Each round's value, by figure.
    runs: BTreeMap<&'static str, Vec<f64>>,
}

impl System {
    /// Without any figure.
    pub const fn new(name: &'static str) -> Self {
        Self { name, version: String::new(), runs: BTreeMap::new() }
    }

    fn median(&self, figure: &str) -> Option<f64> {
        median(self.runs.get(figure)?)
    }
}

impl Comparison {
    /// Adds one round of the system at this place. All its figures count, or none.
    pub fn add(
        &mut self,
        place: usize,
        phase: Phase,
        measured: anyhow::Result<(Option<String>, BTreeMap<String, f64>)>,
    ) {
        let system = &mut self.systems[place];
        let complete = measured.and_then(|(version, figures)| {
            system.version = version.unwrap_or_default();
            let value = |figure: &&'static str| Some((*figure, *figures.get(*figure)?));
            let values: Option<Vec<_>> = phase.figures().iter().map(value).collect();
            values.ok_or_else(|| anyhow::anyhow!("figures are missing: {figures:?}"))
        });
        match complete {
            Ok(values) => {
                for (figure, value) in values {
                    say(&format!("    {:<18} {figure} {}", system.name, report::shown(value)));
                    system.runs.entry(figure).or_default().push(value);
                }
            }
            Err(error) => {
                let problem = format!("{}, {}: {error:#}", system.name, phase.name());
                say(&format!("    void: {problem}"));
                self.problems.push(problem);
            }
        }
    }

    /// Prints the table and writes the file. Fails when a round is void, after both were written.
    pub fn publish(&self) -> anyhow::Result<()> {
        self.print(&mut io::stdout().lock())?;
        let path = report::write_json("peers.json", self)?;
        say(&format!("written to {}", path.display()));
        anyhow::ensure!(self.problems.is_empty(), "void:\n  {}", self.problems.join("\n  "));
        Ok(())
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        report::print_machine(out, &self.machine, &self.versions)?;
        write!(out, "{:<24}", "median")?;
        for system in &self.systems {
            write!(out, " {:>17}", system.name)?;
        }
        write!(out, "\n{:<24}", "")?;
        for system in &self.systems {
            write!(out, " {:>17}", system.version)?;
        }
        writeln!(out)?;
        let measured =
            |figure: &&&str| self.systems.iter().any(|system| system.median(figure).is_some());
        for figure in Phase::ALL.iter().flat_map(|phase| phase.figures()).filter(measured) {
            write!(out, "{figure:<24}")?;
            let ours = self.systems.first().and_then(|berth| berth.median(figure));
            for (place, system) in self.systems.iter().enumerate() {
                write!(out, " {:>17}", cell(system.median(figure), ours.filter(|_| place > 0)))?;
            }
            writeln!(out)?;
        }
        writeln!(
            out,
            "\nIn parentheses: Berth / peer. Of rates more is better, of milliseconds less."
        )?;
        for (name, reason) in &self.skipped {
            writeln!(out, "SKIPPED {name}: {reason}")?;
        }
        for problem in &self.problems {
            writeln!(out, "VOID {problem}")?;
        }
        Ok(())
    }
}

/// A value, and what Berth's is beside it.
fn cell(value: Option<f64>, ours: Option<f64>) -> String {
    match (value, ours) {
        (Some(value), Some(ours)) => format!("{} ({:.2})", report::shown(value), ours / value),
        (Some(value), None) => report::shown(value),
        (None, _) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_the_ratio_to_berth() {
        assert_eq!(cell(Some(2000.0), Some(3000.0)), "2000 (1.50)");
        assert_eq!(cell(Some(2.5), None), "2.50");
        assert_eq!(cell(None, Some(3000.0)), "-");
    }
}
