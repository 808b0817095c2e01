//! Cpu and memory of the embedded profile, idle and in a drain: `berth up`, all roles in one process, without Postgres.

use super::body;
use crate::embedded::Embedded;
use crate::http::closed_loop;
use crate::report::Measured;
use runtime::clock;
use std::time::Duration;
use testkit::{cpu, memory};

const BATCH: u64 = 1000;
const CONNECTIONS: usize = 2;
const KIB_A_MIB: f64 = 1024.0;
/// Until what the start needed has been given back.
const SETTLE: Duration = Duration::from_secs(5);
const DRAINED_WITHIN: Duration = Duration::from_secs(120);

/// Watches it for `length` with nothing to do, and then while it runs `tasks`.
pub async fn idle(length: Duration, tasks: u64) -> anyhow::Result<Vec<Measured>> {
    let embedded = Embedded::start(&[]).await?;
    let up = &embedded.up;
    clock::sleep(SETTLE).await;
    let before = cpu::used(up.pid())?;
    clock::sleep(length).await;
    let used = cpu::used(up.pid())?.saturating_sub(before);
    let resident = memory::resident_kib(up.pid())?;

    let mut connections = embedded.connections(CONNECTIONS).await?;
    let body = body::batch(BATCH as usize);
    let batches = tasks.div_ceil(BATCH);
    closed_loop(&mut connections, "/v1/tasks/batch", &body, 200, (None, batches)).await?;
    embedded.drained(DRAINED_WITHIN).await?;
    embedded.ended_well(batches * BATCH).await?;
    let peak = memory::peak_kib(up.pid())?;
    embedded.stop().await?;
    Ok(vec![
        Measured::new("idle_rss_mb", resident as f64 / KIB_A_MIB),
        Measured::new("idle_cpu_percent", used.as_secs_f64() / length.as_secs_f64() * 100.0),
        Measured::new("draining_peak_rss_mb", peak as f64 / KIB_A_MIB)
            .with("tasks", (batches * BATCH) as f64),
    ])
}
