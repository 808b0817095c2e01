//! Gathers the rounds of each figure.

use super::{Machine, Versions};
use crate::cpu::Cpu;
use crate::statistics::median;
use serde::Serialize;
use std::collections::BTreeMap;

/// One round of one figure.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Name in the results.
    pub key: &'static str,
    /// Its value, in the unit the name ends with.
    pub value: f64,
    /// Where processes were watched.
    pub cpu: Option<Cpu>,
    /// What else is worth knowing of this round.
    pub extra: BTreeMap<&'static str, f64>,
}

impl Measured {
    /// A bare value.
    pub fn new(key: &'static str, value: f64) -> Self {
        Self { key, value, cpu: None, extra: BTreeMap::new() }
    }

    /// With what it cost.
    #[must_use]
    pub fn with_cpu(mut self, cpu: Cpu) -> Self {
        self.cpu = Some(cpu);
        self
    }

    /// With one more thing to know.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: f64) -> Self {
        self.extra.insert(name, value);
        self
    }
}

/// All rounds of one figure.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figure {
    /// The middle of the runs; null where none counts.
    pub median: Option<f64>,
    /// Each round's value.
    pub runs: Vec<f64>,
    /// Of each round, microseconds an item by process, and cores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<Cpu>,
    /// Of each round, what else is worth knowing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<&'static str, Vec<f64>>,
}

/// Everything.
#[derive(Debug, Serialize)]
pub struct Results {
    /// Measured on.
    pub machine: Machine,
    /// Measured with.
    pub versions: Versions,
    /// Measured how.
    pub settings: BTreeMap<&'static str, String>,
    /// Measured, by key.
    pub figures: BTreeMap<&'static str, Figure>,
    /// Rounds that failed or whose tasks did not all end well, their values being in no figure.
    pub problems: Vec<String>,
}

impl Results {
    /// Adds one round's values.
    pub fn add(&mut self, round: Vec<Measured>) {
        for measured in round {
            let figure = self.figures.entry(measured.key).or_default();
            figure.runs.push(measured.value);
            figure.median = median(&figure.runs);
            figure.cpu.extend(measured.cpu);
            for (name, value) in measured.extra {
                figure.extra.entry(name).or_default().push(value);
            }
        }
    }
}
