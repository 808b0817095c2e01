//! Lateness of delayed tasks: 500 per second, each due shortly after its submit, from its due time by the database
//! clock.
//!
//! To the start of the driver, and besides to the claim of the task and to its recorded end.

use super::event_times::{EventTimes, FirstTimes, LOGGED};
use super::{WARM_UP_S, body};
use crate::clock_offset;
use crate::http::open_loop;
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::{between, of};
use anyhow::Context;
use std::time::Duration;

const RATE: u32 = 500;
const CONNECTIONS: usize = 64;

/// For `length`, after the warm-up.
pub async fn delayed(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let mut rig = Rig::of(Rig::shape(1).set(LOGGED.0, LOGGED.1)).await?;
    let mut connections = rig.connections(CONNECTIONS).await?;
    let every = Duration::from_secs(1) / RATE;
    let warm = open_loop(&mut connections, &body::delayed(), every, RATE * WARM_UP_S).await?;
    rig.drained(Duration::from_secs(30)).await?;
    let since = rig.sql("select clock_timestamp()").await?;
    let meter = rig.meter().await?;
    let before = meter.read();
    let count = RATE * u32::try_from(length.as_secs())?;
    let sent = open_loop(&mut connections, &body::delayed(), every, count).await?;
    let cpu = meter.since(&before, u64::from(count));
    rig.drained(Duration::from_secs(30)).await?;
    rig.ended_well((sent.len() + warm.len()) as u64).await?;
    let waits = Waits::read(&mut rig, since.trim()).await?;
    let [ended, placed] = [
        late(&rig, "a.ended_at", since.trim()).await?,
        late(&rig, "a.placed_at", since.trim()).await?,
    ];
    Ok(vec![
        Measured::new("lateness_p50_ms", of(&waits.started, 0.5))
            .with_cpu(cpu)
            .with("to_queued_p50_ms", of(&waits.queued, 0.5))
            .with("queued_to_claim_p50_ms", between(&waits.queued, &waits.running, 0.5))
            .with("claim_to_start_p50_ms", between(&waits.running, &waits.started, 0.5)),
        Measured::new("lateness_p99_ms", of(&waits.started, 0.99))
            .with("p98_ms", of(&waits.started, 0.98))
            .with("max_ms", of(&waits.started, 1.0))
            .with("to_queued_p99_ms", of(&waits.queued, 0.99))
            .with("queued_to_claim_p99_ms", between(&waits.queued, &waits.running, 0.99))
            .with("claim_to_start_p99_ms", between(&waits.running, &waits.started, 0.99)),
        Measured::new("due_to_placement_p50_ms", placed[0]),
        Measured::new("due_to_placement_p99_ms", placed[1]).with("max_ms", placed[2]),
        Measured::new("due_to_end_p50_ms", ended[0]),
        Measured::new("due_to_end_p99_ms", ended[1]).with("max_ms", ended[2]),
    ])
}

/// Of each task, from its due time by the database's clock, in milliseconds.
#[derive(Default)]
struct Waits {
    queued: Vec<f64>,
    running: Vec<f64>,
    started: Vec<f64>,
}

impl Waits {
    /// Of what came due after `since`.
    async fn read(rig: &mut Rig, since: &str) -> anyhow::Result<Self> {
        let offset = clock_offset::measure(rig.database_url()).await?;
        let event_times = EventTimes::read(rig)?;
        let rows = rig
            .sql(&format!(
                "select replace(id::text, '-', ''), extract(epoch from run_at) * 1000 from task_history where run_at > '{since}'"
            ))
            .await?;
        let mut waits = Self::default();
        for row in rows.lines() {
            let (id, due) = row.split_once('|').with_context(|| format!("`{row}` is no row"))?;
            let (task, due) = (format!("task_{id}"), due.parse::<f64>()?);
            let waited =
                |event: &FirstTimes| Ok::<_, anyhow::Error>(event.of(&task)? + offset.ms - due);
            waits.queued.push(waited(&event_times.queued)?);
            waits.running.push(waited(&event_times.running)?);
            waits.started.push(waited(&event_times.started)?);
        }
        Ok(waits)
    }
}

/// From the due time to `event`: p50, p99 and the longest.
async fn late(rig: &Rig, event: &str, since: &str) -> anyhow::Result<[f64; 3]> {
    let ms = format!("extract(epoch from {event} - h.run_at) * 1000");
    let values = rig
        .numbers(&format!(
            "select percentile_disc(0.5) within group (order by {ms}), percentile_disc(0.99) within group (order by {ms}), max({ms}),
                    count(*) filter (where {event} < h.run_at)
                from attempt a join task_history h on h.tenant_id = a.tenant_id and h.id = a.task_id where h.run_at > '{since}'"
        ))
        .await?;
    let [p50, p99, max, early] = values[..] else { anyhow::bail!("four values, not {values:?}") };
    anyhow::ensure!(early == 0.0, "{early} tasks were early");
    Ok([p50, p99, max])
}
