//! How long a task waits for its start in a quiet system: 200 submits a second, each counted from when it should have gone out.
//!
//! No row says when an executor began. `submit_to_start` counts to the recorded end of a task of no length: the start and
//! the way back of the report, so never less than the start. `submit_to_placement` counts to the claim of the task and leaves
//! out its commit, the way to the executor and the executor.

use super::body;
use crate::clock_offset;
use crate::http::{Sent, open_loop};
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::percentile;
use anyhow::Context;
use std::collections::HashMap;
use std::time::Duration;

const RATE: u32 = 200;
const CONNECTIONS: usize = 32;

/// For `length`, after a second to warm up.
pub async fn submit_to_start(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::start(1).await?;
    let mut connections = rig.connections(CONNECTIONS).await?;
    let every = Duration::from_secs(1) / RATE;
    let warm = open_loop(&mut connections, &body::task(), every, RATE).await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let count = RATE * u32::try_from(length.as_secs())?;
    let sent = open_loop(&mut connections, &body::task(), every, count).await?;
    let cpu = meter.since(&before, u64::from(count));
    rig.drained(Duration::from_secs(30)).await?;
    rig.ended_well((sent.len() + warm.len()) as u64).await?;
    let offset = clock_offset::measure(rig.database_url()).await?;
    let started = waited_ms(&rig, &sent, "max(ended_at)", offset.ms).await?;
    let placed = waited_ms(&rig, &sent, "min(placed_at)", offset.ms).await?;
    let of = |values: &[f64], share| percentile(values, share).unwrap_or_default();
    let answered: Vec<f64> = sent.iter().map(|one| one.answered_ms).collect();
    let late: Vec<f64> = sent.iter().map(|one| one.late_ms).collect();
    Ok(vec![
        Measured::new("submit_to_start_p50_ms", of(&started, 0.5))
            .with_cpu(cpu)
            .with("answer_p50_ms", of(&answered, 0.5))
            .with("answer_p99_ms", of(&answered, 0.99))
            .with("sent_late_p50_ms", of(&late, 0.5)),
        Measured::new("submit_to_start_p99_ms", of(&started, 0.99))
            .with("max_ms", of(&started, 1.0))
            .with("clock_uncertainty_ms", offset.uncertainty_ms),
        Measured::new("submit_to_placement_p50_ms", of(&placed, 0.5)),
        Measured::new("submit_to_placement_p99_ms", of(&placed, 0.99))
            .with("max_ms", of(&placed, 1.0)),
    ])
}

/// Of each, from the intended send to `moment` of its attempts.
async fn waited_ms(
    rig: &Rig,
    sent: &[Sent],
    moment: &str,
    offset_ms: f64,
) -> anyhow::Result<Vec<f64>> {
    let rows = rig
        .sql(&format!(
            "select replace(task_id::text, '-', ''), extract(epoch from {moment}) * 1000 from attempt group by task_id"
        ))
        .await?;
    let moments: HashMap<&str, f64> = rows
        .lines()
        .filter_map(|row| row.split_once('|'))
        .filter_map(|(id, at)| Some((id, at.parse().ok()?)))
        .collect();
    let waited = sent.iter().map(|one| {
        let id = one.task.trim_start_matches("task_");
        let at = moments.get(id).with_context(|| format!("no attempt of {}", one.task))?;
        Ok(at - offset_ms - one.intended.timestamp_micros() as f64 / 1e3)
    });
    waited.collect()
}
