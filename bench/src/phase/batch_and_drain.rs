//! Batches go in while nobody runs them; then an executor comes and everything is run.

use super::body;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use std::time::Duration;

const BATCH: usize = 1000;
const CONNECTIONS: usize = 4;

/// Submits `tasks` in batches of 1000 over 4 connections, then drains them.
pub async fn batch_and_drain(tasks: u64) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::start(0).await?;
    let mut connections = rig.connections(CONNECTIONS).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let batches = tasks.div_ceil(BATCH as u64);
    let done =
        closed_loop(&mut connections, "/v1/tasks/batch", &body::batch(BATCH), 200, (None, batches))
            .await?;
    let accepted = done.requests * BATCH as u64;
    let batch = Measured::new("batch_submit_per_s", accepted as f64 / done.elapsed.as_secs_f64())
        .with_cpu(meter.since(&before, accepted))
        .with(
            "batch_p50_ms",
            crate::statistics::percentile(&done.latencies_ms, 0.5).unwrap_or_default(),
        );
    rig.stored_well(accepted).await?;

    let before = rig.meter().await?.read();
    rig.add_executor().await?;
    let meter = rig.meter().await?;
    rig.drained(Duration::from_secs(180)).await?;
    let cpu = meter.since(&before, accepted);
    rig.ended_well(accepted).await?;
    let span = rig
        .numbers("select extract(epoch from max(ended_at) - min(placed_at)), count(*) from attempt")
        .await?;
    let drain = Measured::new("drain_per_s", accepted as f64 / span[0].max(1e-3))
        .with_cpu(cpu)
        .with("uncharged_attempts", span[1] - accepted as f64);
    Ok(vec![batch, drain])
}
