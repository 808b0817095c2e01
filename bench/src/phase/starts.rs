//! When the driver of each task was started, by the log of the executor, which says so at `debug`.

use crate::rig::Rig;
use anyhow::Context;
use domain::time::Timestamp;
use std::collections::HashMap;

/// What the processes are to log for it.
pub const LOGGED: (&str, &str) =
    ("BERTH_TELEMETRY__LOG", "info,lapin=off,executor::agent::assign=debug");

/// The first start of each task, in milliseconds since 1970 by this machine's clock.
pub struct Starts(HashMap<String, f64>);

impl Starts {
    /// Reads them from the log of every executor.
    pub fn read(rig: &mut Rig) -> anyhow::Result<Self> {
        let mut starts = HashMap::new();
        for log in rig.executor_logs()? {
            // "TIME DEBUG executor::agent::assign: Attempt 1 of `task_…` starts …", the first first.
            for line in log.lines() {
                let told =
                    line.split_once(" of `").and_then(|(_, rest)| rest.split_once("` starts "));
                let Some((task, _)) = told else { continue };
                let at = line.split_ascii_whitespace().next().context("a line without a time")?;
                let at: Timestamp = at.parse().with_context(|| format!("`{at}` is no time"))?;
                starts.entry(task.to_owned()).or_insert(at.timestamp_micros() as f64 / 1e3);
            }
        }
        Ok(Self(starts))
    }

    /// That of `task`.
    pub fn of(&self, task: &str) -> anyhow::Result<f64> {
        self.0.get(task).copied().with_context(|| format!("no start of {task} in the log"))
    }
}
