//! Batches without an executor, then a drain.

use super::body;
use crate::http::closed_loop;
use crate::report::Measured;
use crate::rig::Rig;
use bytes::Bytes;
use std::time::Duration;

const BATCH: usize = 1000;
const CONNECTIONS: usize = 4;

/// Concurrency keys that the tasks of [`keys`] share.
const KEYS: usize = 20;

/// Submits `tasks` in batches of 1000 over 4 connections, then drains them.
pub async fn batch_and_drain(tasks: u64) -> anyhow::Result<Vec<Measured>> {
    Ok(run(Rig::start(0).await?, &body::batch(BATCH), tasks).await?.into())
}

/// Cost of concurrency keys: a drain without keys, and one of tasks whose limits hold none back. The second one runs
/// while the engines still work on the first.
pub async fn keys(tasks: u64, keyed_first: bool) -> anyhow::Result<Vec<Measured>> {
    let (plain, keyed) = if keyed_first {
        let keyed = with_keys(tasks).await?;
        (without_keys(tasks).await?, keyed)
    } else {
        (without_keys(tasks).await?, with_keys(tasks).await?)
    };
    let part = Measured::new("keyed_drain_part", keyed.value / plain.value)
        .with("plain_per_s", plain.value)
        .with("keyed_per_s", keyed.value)
        .with("cpu_keyed_to_plain", cost(&keyed) / cost(&plain));
    Ok(vec![part])
}

/// CPU time of everything but this program, which only looks on.
pub(super) fn cost(of: &Measured) -> f64 {
    let cpu = of.cpu.iter().flat_map(|cpu| &cpu.us_per_item);
    cpu.filter(|(name, _)| **name != "bench").map(|(_, us)| us).sum()
}

/// A drain of as many tasks that have neither keys nor edges.
pub(super) async fn without_keys(tasks: u64) -> anyhow::Result<Measured> {
    let [_, drain] = run(Rig::start(0).await?, &body::batch(BATCH), tasks).await?;
    Ok(drain)
}

async fn with_keys(tasks: u64) -> anyhow::Result<Measured> {
    let rig = Rig::start(0).await?;
    let limits = format!(
        "insert into concurrency_limit (tenant_id, key, running)
            select t.id, 'key-' || n, 1000000 from tenant t, generate_series(1, {KEYS}) n"
    );
    rig.sql(&limits).await?;
    let [_, drain] = run(rig, &body::keyed_batch(BATCH, KEYS), tasks).await?;
    Ok(drain)
}

async fn run(mut rig: Rig, body: &Bytes, tasks: u64) -> anyhow::Result<[Measured; 2]> {
    let mut connections = rig.connections(CONNECTIONS).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let batches = tasks.div_ceil(BATCH as u64);
    let done = closed_loop(&mut connections, "/v1/tasks/batch", body, 200, (None, batches)).await?;
    let accepted = done.requests * BATCH as u64;
    let batch = Measured::new("batch_submit_per_s", accepted as f64 / done.elapsed.as_secs_f64())
        .with_cpu(meter.since(&before, accepted))
        .with(
            "batch_p50_ms",
            crate::statistics::percentile(&done.latencies_ms, 0.5).unwrap_or_default(),
        );
    rig.stored_well(accepted).await?;
    Ok([batch, drain(&mut rig, accepted, "drain_per_s").await?])
}

/// Adds an executor to a rig where `accepted` tasks wait, until all have ended.
pub(super) async fn drain(
    rig: &mut Rig,
    accepted: u64,
    key: &'static str,
) -> anyhow::Result<Measured> {
    let before = rig.meter().await?.read();
    rig.add_executor().await?;
    let meter = rig.meter().await?;
    rig.drained(Duration::from_secs(180)).await?;
    let cpu = meter.since(&before, accepted);
    rig.ended_well(accepted).await?;
    let span = rig
        .numbers("select extract(epoch from max(ended_at) - min(placed_at)), count(*) from attempt")
        .await?;
    Ok(Measured::new(key, accepted as f64 / span[0].max(1e-3))
        .with_cpu(cpu)
        .with("uncharged_attempts", span[1] - accepted as f64))
}
