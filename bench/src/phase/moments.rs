//! When each task was marked for its turn, claimed, and its driver started, by the logs of the processes, which say so at `debug`.

use crate::rig::Rig;
use anyhow::Context;
use domain::time::Timestamp;
use e2e::Role;
use std::collections::HashMap;

/// What the processes are to log for the starts alone: where thousands start in a second a line for each of the others is a fiftieth of what
/// is measured.
pub const STARTS_LOGGED: (&str, &str) =
    ("BERTH_TELEMETRY__LOG", "info,lapin=off,executor::agent::assign=debug");

/// What the processes are to log for all of it.
pub const LOGGED: (&str, &str) = (
    "BERTH_TELEMETRY__LOG",
    "info,lapin=off,scheduler::batcher::publish=debug,resource_manager::place::worker=debug,executor::agent::assign=debug",
);

/// Of each task the first of its kind, in milliseconds since 1970 by this machine's clock.
pub struct Moments {
    /// Its mark is committed, and its hint goes out.
    pub queued: First,
    /// Its claim is committed.
    pub running: First,
    /// Its driver is started.
    pub started: First,
}

/// A moment of each task.
pub struct First(HashMap<String, f64>);

impl Moments {
    /// Reads them from the logs.
    pub fn read(rig: &mut Rig) -> anyhow::Result<Self> {
        let (scheduler, manager) = (rig.logs(Role::Scheduler)?, rig.logs(Role::ResourceManager)?);
        Self::of(&scheduler, &manager, &rig.logs(Role::Executor)?)
    }

    /// The same of one process that has all roles.
    pub fn of_one(log: String) -> anyhow::Result<Self> {
        let log = [log];
        Self::of(&log, &log, &log)
    }

    fn of(scheduler: &[String], manager: &[String], executor: &[String]) -> anyhow::Result<Self> {
        Ok(Self {
            queued: First::read(scheduler, "Task `", "` is queued")?,
            running: First::read(manager, "Task `", "` is running")?,
            started: First::read(executor, " of `", "` starts")?,
        })
    }
}

impl First {
    /// Lines are "TIME LEVEL TARGET: … BEFORE task_… AFTER …", the first first.
    fn read(logs: &[String], before: &str, after: &str) -> anyhow::Result<Self> {
        let mut moments = HashMap::new();
        for log in logs {
            for line in log.lines() {
                let told = line.split_once(before).and_then(|(_, rest)| rest.split_once(after));
                let Some((task, _)) = told else { continue };
                let at = line.split_ascii_whitespace().next().context("a line without a time")?;
                let at: Timestamp = at.parse().with_context(|| format!("`{at}` is no time"))?;
                moments.entry(task.to_owned()).or_insert(at.timestamp_micros() as f64 / 1e3);
            }
        }
        Ok(Self(moments))
    }

    /// That of `task`.
    pub fn of(&self, task: &str) -> anyhow::Result<f64> {
        self.0.get(task).copied().with_context(|| format!("the logs do not tell of {task}"))
    }
}
