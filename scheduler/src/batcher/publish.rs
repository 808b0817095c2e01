//! Hands a dispatch to the broker, and takes back what it did not take.
//!
//! The rows are `queued` and committed by now: if this process dies here the sweep does the same, later.

use crate::metrics::PUBLISH_FAILED;
use bus::{Bus, Hint, HintBatch};
use domain::id::PoolName;
use runtime::fault::FaultPoint;
use runtime::trace::TraceContext;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition;
use tracing::{Instrument, debug, error, info_span};

/// Tasks are `queued` and nobody was told.
static MARKED: FaultPoint = FaultPoint::new("scheduler.batcher.marked");
/// Hints are with the broker, and what it did not take is not taken back yet.
static PUBLISHED: FaultPoint = FaultPoint::new("scheduler.batcher.published");

/// Publishes `hints` in messages of `per_message`; says how many tasks were taken back.
pub(super) async fn publish(
    db: &SchedulerDb,
    bus: &Bus,
    pool: &PoolName,
    hints: &[Hint],
    per_message: usize,
) -> Result<u64, StoreError> {
    let batches: Vec<HintBatch> = hints
        .chunks(per_message.max(1))
        .map(|hints| HintBatch { trace: TraceContext::generate(), hints: hints.to_vec() })
        .collect();
    for batch in &batches {
        for hint in &batch.hints {
            debug!(task.id = %hint.task, trace.id = batch.trace.trace_id(), hint.dispatch_epoch, "Task `{}` is queued", hint.task);
        }
    }
    MARKED.hit().await?;
    let span = info_span!("task.dispatch", %pool, tasks = hints.len());
    let outcomes = bus.publish(pool, batches.clone()).instrument(span).await;
    PUBLISHED.hit().await?;
    let mut back = Vec::new();
    for (batch, outcome) in batches.iter().zip(&outcomes) {
        if !outcome.is_confirmed() {
            PUBLISH_FAILED.with(&[outcome.as_str()]).inc_by(batch.hints.len() as u64);
            back.extend(batch.hints.iter().map(|h| (h.tenant, h.task, h.dispatch_epoch)));
        }
    }
    if back.is_empty() {
        return Ok(0);
    }
    if outcomes.contains(&bus::PublishOutcome::Returned) {
        error!(%pool, tasks = back.len(), "The hint queue of pool `{pool}` was missing; it has been declared again");
    }
    let taken_back = transition::dispatch_stale(db, &back).await?;
    debug!(%pool, taken_back, "Hints of pool `{pool}` were not published; their tasks are ready again");
    Ok(taken_back)
}
