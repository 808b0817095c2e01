//! How long a process has computed, as the kernel counts it.

use anyhow::Context;
use std::time::Duration;

/// Ticks a second of these counters. The kernel's promise to programs on every architecture but Alpha.
const TICKS_PER_SECOND: u64 = 100;

/// What it and its threads have used since it was started, in steps of 10 ms.
pub fn used(pid: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let ticks = |at: usize| fields.split_whitespace().nth(at).and_then(|t| t.parse::<u64>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).with_context(|| format!("no times in {stat}"))?;
    Ok(Duration::from_millis((user + system) * 1000 / TICKS_PER_SECOND))
}
