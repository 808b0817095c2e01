//! When each task was marked, claimed and started, from the `debug` logs of the processes.

use crate::rig::Rig;
use anyhow::Context;
use domain::time::Timestamp;
use e2e::Role;
use std::collections::HashMap;

/// Log filter for starts only: at thousands of starts per second, log lines of the other steps would be 2 % of the
/// measured work.
pub const STARTS_LOGGED: (&str, &str) =
    ("BERTH_TELEMETRY__LOG", "info,lapin=off,executor::agent::assign=debug");

/// Log filter for all steps.
pub const LOGGED: (&str, &str) = (
    "BERTH_TELEMETRY__LOG",
    "info,lapin=off,scheduler::batcher::publish=debug,resource_manager::place::worker=debug,executor::agent::assign=debug",
);

/// Times of the first event of each task, ms since 1970 by this machine's clock.
pub struct EventTimes {
    /// Its mark is committed, and its hint goes out.
    pub queued: FirstTimes,
    /// Its claim is committed.
    pub running: FirstTimes,
    /// Its driver is started.
    pub started: FirstTimes,
}

/// Time of one event by task.
pub struct FirstTimes(HashMap<String, f64>);

impl EventTimes {
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
            queued: FirstTimes::read(scheduler, "Task `", "` is queued")?,
            running: FirstTimes::read(manager, "Task `", "` is running")?,
            started: FirstTimes::read(executor, " of `", "` starts")?,
        })
    }
}

impl FirstTimes {
    /// Lines are "TIME LEVEL TARGET: … BEFORE task_… AFTER …", the first first.
    fn read(logs: &[String], before: &str, after: &str) -> anyhow::Result<Self> {
        let mut event_times = HashMap::new();
        for log in logs {
            for line in log.lines() {
                let matched = line.split_once(before).and_then(|(_, rest)| rest.split_once(after));
                let Some((task, _)) = matched else { continue };
                let at = line.split_ascii_whitespace().next().context("a line without a time")?;
                let at: Timestamp = at.parse().with_context(|| format!("`{at}` is no time"))?;
                event_times.entry(task.to_owned()).or_insert(at.timestamp_micros() as f64 / 1e3);
            }
        }
        Ok(Self(event_times))
    }

    /// That of `task`.
    pub fn of(&self, task: &str) -> anyhow::Result<f64> {
        self.0.get(task).copied().with_context(|| format!("the logs have no line of {task}"))
    }
}
