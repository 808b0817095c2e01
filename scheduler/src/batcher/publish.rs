//! Publishes the hints of a dispatch; tasks of refused hints become ready again.
//!
//! The rows are already `queued`: if this process dies here, the sweep returns them. A confirm takes as long as the
//! rest of a tick, so ticks do not wait for it. The rule: at most [`UNCONFIRMED`] dispatches are unconfirmed, so a slow
//! broker slows the batcher down (backpressure).

use crate::metrics::PUBLISH_FAILED;
use bus::{Bus, Hint, HintBatch};
use domain::id::PoolName;
use runtime::error_chain::ErrorChain;
use runtime::fault::FaultPoint;
use runtime::tasks::TaskGroup;
use runtime::trace::TraceContext;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;
use tracing::{Instrument, debug, error, info_span, warn};

/// Tasks are `queued` and no hint is published.
static MARKED: FaultPoint = FaultPoint::new("scheduler.batcher.marked");
/// Hints are sent; tasks of refused ones are not ready again yet.
static PUBLISHED: FaultPoint = FaultPoint::new("scheduler.batcher.published");

/// Maximum of unconfirmed dispatches.
const UNCONFIRMED: usize = 8;

/// Publishes hints.
pub(super) struct Publisher {
    db: SchedulerDb,
    bus: Bus,
    tasks: TaskGroup,
    unconfirmed: Arc<Semaphore>,
    refused: Arc<AtomicBool>,
}

/// The hints that one tick marked in a pool.
struct Sending {
    pool: PoolName,
    batches: Vec<HintBatch>,
    /// Released when all outcomes are known and refused tasks are `ready` again.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Publisher {
    pub(super) fn new(db: SchedulerDb, bus: Bus, tasks: TaskGroup) -> Self {
        let (unconfirmed, refused) = (Arc::new(Semaphore::new(UNCONFIRMED)), Arc::default());
        Self { db, bus, tasks, unconfirmed, refused }
    }

    /// Whether the broker refused a hint since the last call.
    pub(super) fn was_refused(&self) -> bool {
        self.refused.swap(false, Ordering::AcqRel)
    }

    /// Sends `hints` in messages of `per_message`, in the order of calls. [`Self::was_refused`] reports failures.
    pub(super) async fn publish(
        &self,
        pool: &PoolName,
        hints: &[Hint],
        per_message: usize,
    ) -> Result<(), StoreError> {
        let batches: Vec<HintBatch> = hints
            .chunks(per_message.max(1))
            .map(|hints| HintBatch { trace: TraceContext::generate(), hints: hints.to_vec() })
            .collect();
        for batch in &batches {
            for hint in &batch.hints {
                debug!(task.id = %hint.dispatch.task, trace.id = batch.trace.trace_id(), dispatch_epoch = %hint.dispatch.epoch, "Task `{}` is queued", hint.dispatch.task);
            }
        }
        MARKED.hit().await?;
        let span = info_span!("task.dispatch", %pool, tasks = hints.len());
        // It is never closed.
        let permit = Arc::clone(&self.unconfirmed).acquire_owned().await.ok();
        let hints = Sending { pool: pool.clone(), batches, _permit: permit };
        let (db, bus, refused) = (self.db.clone(), self.bus.clone(), Arc::clone(&self.refused));
        let sending = async move {
            if let Err(error) = hints.send(&db, &bus, &refused).await {
                let cause = ErrorChain(&error).to_string();
                warn!(
                    cause,
                    "Hints that were not published could not be taken back, the sweep does it: {cause}"
                );
            }
        };
        let mut sending = Box::pin(sending.instrument(span));
        // Polled once here: this writes the messages in dispatch order.
        let pending = poll_fn(|context| Poll::Ready(sending.as_mut().poll(context).is_pending()));
        if pending.await {
            drop(self.tasks.spawn("batcher_hints", sending));
            // Sends them before the next statement.
            yield_now().await;
        }
        Ok(())
    }
}

impl Sending {
    async fn send(
        self,
        db: &SchedulerDb,
        bus: &Bus,
        refused: &AtomicBool,
    ) -> Result<(), StoreError> {
        let Self { pool, batches, .. } = &self;
        let outcomes = bus.publish(pool, batches.clone()).await;
        PUBLISHED.hit().await?;
        let mut back = Vec::new();
        for (batch, outcome) in batches.iter().zip(&outcomes) {
            if !outcome.is_confirmed() {
                PUBLISH_FAILED.with(&[outcome.as_str()]).inc_by(batch.hints.len() as u64);
                back.extend(batch.hints.iter().map(|hint| hint.dispatch));
            }
        }
        if back.is_empty() {
            return Ok(());
        }
        refused.store(true, Ordering::Release);
        if outcomes.contains(&bus::PublishOutcome::Returned) {
            error!(%pool, tasks = back.len(), "The hint queue of pool `{pool}` was missing; it has been declared again");
        }
        let taken_back = transition::dispatch_stale(db, &back).await?;
        debug!(%pool, taken_back, "Hints of pool `{pool}` were not published; their tasks are ready again");
        Ok(())
    }
}
