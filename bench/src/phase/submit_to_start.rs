//! Latency from submit to start, at a fixed rate, from the intended time of each submit.
//!
//! To the start of the driver, and besides to the claim of the task and to its recorded end.

use super::body;
use super::event_times::{EventTimes, FirstTimes, LOGGED, STARTS_LOGGED};
use super::flow::Flow;
use crate::clock_offset;
use crate::cpu::Cpu;
use crate::embedded::Embedded;
use crate::http::{Pages, Sent};
use crate::report::Measured;
use crate::rig::Rig;
use crate::statistics::{between, of};
use anyhow::Context;
use runtime::clock;
use std::collections::HashMap;
use std::time::Duration;

pub(super) const QUIET: u32 = 200;
/// How many connections for that.
pub(super) const QUIET_CONNECTIONS: usize = 32;
/// At thousands per second each connection sends every 50 ms. With fewer, a connection that waits for a response delays
/// the next task, which would measure the client.
const CONNECTIONS: usize = 256;

/// Of each submit, in milliseconds.
pub(super) struct Waits {
    sent: Vec<Sent>,
    event_times: EventTimes,
    pub(super) started: Vec<f64>,
    /// Of each part of a page that was asked for.
    pub(super) parts: Vec<f64>,
    placed: Vec<f64>,
    ended: Vec<f64>,
    answered: Vec<f64>,
    sent_late: Vec<f64>,
    pub(super) cpu: Cpu,
    clock_uncertainty: f64,
}

/// Where little else is to be done.
pub async fn submit_to_start(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let waits = at_rate(length, (QUIET, QUIET_CONNECTIONS), STARTS_LOGGED, None).await?;
    Ok(vec![
        Measured::new("submit_to_start_p50_ms", of(&waits.started, 0.5))
            .with_cpu(waits.cpu)
            .with("answer_p50_ms", of(&waits.answered, 0.5))
            .with("answer_p99_ms", of(&waits.answered, 0.99))
            .with("sent_late_p50_ms", of(&waits.sent_late, 0.5))
            .with("sent_late_p99_ms", of(&waits.sent_late, 0.99)),
        Measured::new("submit_to_start_p99_ms", of(&waits.started, 0.99))
            .with("p95_ms", of(&waits.started, 0.95))
            .with("p98_ms", of(&waits.started, 0.98))
            .with("max_ms", of(&waits.started, 1.0))
            .with("clock_uncertainty_ms", waits.clock_uncertainty),
        Measured::new("submit_to_placement_p50_ms", of(&waits.placed, 0.5)),
        Measured::new("submit_to_placement_p99_ms", of(&waits.placed, 0.99))
            .with("max_ms", of(&waits.placed, 1.0)),
        Measured::new("submit_to_end_p50_ms", of(&waits.ended, 0.5)),
        Measured::new("submit_to_end_p99_ms", of(&waits.ended, 0.99))
            .with("max_ms", of(&waits.ended, 1.0)),
    ])
}

/// The same by its steps: the answer, then these, one after the other. In rounds of their own, for each step is told by a line of a log that
/// is written before the next begins.
pub async fn steps_to_start(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let waits = at_rate(length, (QUIET, QUIET_CONNECTIONS), LOGGED, None).await?;
    let queued = waited(&waits.sent, &waits.event_times.queued)?;
    let running = waited(&waits.sent, &waits.event_times.running)?;
    Ok(vec![
        Measured::new("submit_to_queued_p50_ms", of(&queued, 0.5))
            .with("p99_ms", of(&queued, 0.99))
            .with("to_claim_p50_ms", between(&queued, &running, 0.5))
            .with("to_claim_p99_ms", between(&queued, &running, 0.99))
            .with("claim_to_start_p50_ms", between(&running, &waits.started, 0.5))
            .with("claim_to_start_p99_ms", between(&running, &waits.started, 0.99)),
    ])
}

/// At `rate` a second: half of what is possible.
pub async fn submit_to_start_at_half(length: Duration, rate: u32) -> anyhow::Result<Vec<Measured>> {
    let waits = at_rate(length, (rate, CONNECTIONS), STARTS_LOGGED, None).await?;
    Ok(vec![
        Measured::new("submit_to_start_at_half_p99_ms", of(&waits.started, 0.99))
            .with_cpu(waits.cpu)
            .with("rate_per_s", rate.into())
            .with("p50_ms", of(&waits.started, 0.5))
            .with("p95_ms", of(&waits.started, 0.95))
            .with("to_placement_p50_ms", of(&waits.placed, 0.5))
            .with("to_placement_p99_ms", of(&waits.placed, 0.99))
            .with("to_end_p50_ms", of(&waits.ended, 0.5))
            .with("to_end_p99_ms", of(&waits.ended, 0.99))
            .with("max_ms", of(&waits.started, 1.0))
            .with("answer_p50_ms", of(&waits.answered, 0.5))
            .with("answer_p99_ms", of(&waits.answered, 0.99))
            .with("sent_late_p99_ms", of(&waits.sent_late, 0.99)),
    ])
}

/// The same as [`submit_to_start`] in one process, without a broker.
pub async fn submit_to_start_embedded(length: Duration) -> anyhow::Result<Vec<Measured>> {
    let embedded = Embedded::start(&[STARTS_LOGGED]).await?;
    let mut connections = embedded.connections(QUIET_CONNECTIONS).await?;
    let flow = Flow::new(QUIET, length)?;
    let sent = flow.submit(&mut connections, &body::task()).await?;
    embedded.drained(Duration::from_secs(30)).await?;
    embedded.ended_well(flow.all().into()).await?;
    let started = waited(&sent, &EventTimes::of_one(embedded.up.log())?.started)?;
    embedded.stop().await?;
    let answered: Vec<f64> = sent.iter().map(|one| one.answered_ms).collect();
    Ok(vec![
        Measured::new("embedded_submit_to_start_p50_ms", of(&started, 0.5))
            .with("answer_p50_ms", of(&answered, 0.5))
            .with("answer_p99_ms", of(&answered, 0.99)),
        Measured::new("embedded_submit_to_start_p99_ms", of(&started, 0.99))
            .with("p98_ms", of(&started, 0.98))
            .with("max_ms", of(&started, 1.0)),
    ])
}

/// For `length`, at so many submits a second over so many connections, beside pages that somebody watches.
pub(super) async fn at_rate(
    length: Duration,
    (rate, connections): (u32, usize),
    logged: (&str, &str),
    watched: Option<Watched>,
) -> anyhow::Result<Waits> {
    let mut rig = Rig::of(Rig::shape(1).set(logged.0, logged.1)).await?;
    let mut connections = rig.connections(connections).await?;
    let watching = match watched {
        Some(watched) => Some((rig.pages().await?, watched)),
        None => None,
    };
    let (flow, meter, body) = (Flow::new(rate, length)?, rig.meter().await?, body::task());
    let (sent, cpu, parts) = tokio::join!(
        flow.submit(&mut connections, &body),
        flow.metered(&meter),
        watch(watching, length)
    );
    let (sent, parts) = (sent?, parts?);
    rig.drained(Duration::from_secs(30)).await?;
    rig.ended_well(flow.all().into()).await?;
    let offset = clock_offset::measure(rig.database_url()).await?;
    let event_times = EventTimes::read(&mut rig)?;
    Ok(Waits {
        started: waited(&sent, &event_times.started)?,
        ended: waited_ms(&rig, &sent, "max(ended_at)", offset.ms).await?,
        placed: waited_ms(&rig, &sent, "min(placed_at)", offset.ms).await?,
        answered: sent.iter().map(|one| one.answered_ms).collect(),
        sent_late: sent.iter().map(|one| one.late_ms).collect(),
        cpu,
        parts,
        clock_uncertainty: offset.uncertainty_ms,
        sent,
        event_times,
    })
}

/// How often pages that are open ask for their live parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    /// All together.
    pub parts_per_s: u32,
}

/// Asks for live parts for `length`, each of another page, as evenly as they would come; says how long each took, ms.
async fn watch(watching: Option<(Pages, Watched)>, length: Duration) -> anyhow::Result<Vec<f64>> {
    let Some((mut pages, watched)) = watching else { return Ok(Vec::new()) };
    let (begin, mut took) = (clock::monotonic(), Vec::new());
    for place in 0..watched.parts_per_s * u32::try_from(length.as_secs())? {
        let at = begin + Duration::from_secs(1) * place / watched.parts_per_s;
        clock::sleep(at.saturating_duration_since(clock::monotonic())).await;
        let path = if place % 7 < 5 { "/tasks?fragment=list" } else { "/?fragment=now" };
        let started = clock::monotonic();
        pages.get(path).await?;
        took.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(took)
}

/// Of each, from the intended send to `event`.
fn waited(sent: &[Sent], event: &FirstTimes) -> anyhow::Result<Vec<f64>> {
    let intended = |one: &Sent| one.intended.timestamp_micros() as f64 / 1e3;
    sent.iter().map(|one| Ok(event.of(&one.task)? - intended(one))).collect()
}

/// Of each, from the intended send to `event` of its attempts.
async fn waited_ms(
    rig: &Rig,
    sent: &[Sent],
    event: &str,
    offset_ms: f64,
) -> anyhow::Result<Vec<f64>> {
    let rows = rig
        .sql(&format!(
            "select replace(task_id::text, '-', ''), extract(epoch from {event}) * 1000 from attempt group by task_id"
        ))
        .await?;
    let event_times: HashMap<&str, f64> = rows
        .lines()
        .filter_map(|row| row.split_once('|'))
        .filter_map(|(id, at)| Some((id, at.parse().ok()?)))
        .collect();
    let waited = sent.iter().map(|one| {
        let id = one.task.trim_start_matches("task_");
        let at = event_times.get(id).with_context(|| format!("no attempt of {}", one.task))?;
        Ok(at - offset_ms - one.intended.timestamp_micros() as f64 / 1e3)
    });
    waited.collect()
}
