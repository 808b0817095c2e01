//! Polls for due tasks and late ones.
//!
//! Runs in every scheduler: the statements name the expected state, so concurrent runs only share the work.

use crate::metrics::MOVED;
use bus::{Bus, Topic};
use domain::id::{TaskId, TenantId};
use domain::task::State;
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::transition::{self, DoomedTask};
use store::task::{Woken, due_for_a_look};
use tracing::debug;

/// Due tasks are `ready`, and the batcher is not woken yet.
pub(super) static MOVED_ON: FaultPoint = FaultPoint::new("scheduler.due.committed");

pub(crate) struct DueTick {
    db: SchedulerDb,
    bus: Bus,
    limit: i64,
}

impl DueTick {
    pub(crate) const fn new(db: SchedulerDb, bus: Bus, limit: i64) -> Self {
        Self { db, bus, limit }
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let woken = due_for_a_look(&self.db, self.limit).await?;
        let keys = |wanted: fn(&Woken) -> bool| -> Vec<(TenantId, TaskId)> {
            woken.iter().filter(|w| wanted(w)).map(|w| (w.tenant, w.task)).collect()
        };
        let waits = |w: &Woken| matches!(w.state, State::Scheduled | State::Retrying);
        let late = keys(|w| w.expires && w.doomed_by.is_none());
        let due: Vec<_> = woken
            .iter()
            .filter(|w| waits(w) && !w.expires && w.doomed_by.is_none())
            .map(|w| (w.tenant, w.task))
            .collect();
        let doomed: Vec<_> = woken.iter().filter_map(doomed).collect();
        let mut ready = 0;
        if !due.is_empty() {
            ready += count("due", transition::due(&self.db, &due).await?);
        }
        if !late.is_empty() {
            count("expired", transition::expired(&self.db, &late).await?);
        }
        if !doomed.is_empty() {
            // Their children may be ready now, or to be skipped by the next tick.
            ready += count("skipped", transition::skipped(&self.db, &doomed).await?);
        }
        if ready > 0 {
            MOVED_ON.hit().await?;
            self.bus.wake(Topic::Batcher);
            debug!(ready, "Tasks became ready");
        }
        let done = woken.len() as u64;
        let full = done > 0 && i64::try_from(done).is_ok_and(|done| done >= self.limit);
        Ok(if full || !doomed.is_empty() {
            TickOutcome::now(done)
        } else {
            TickOutcome::idle(done)
        })
    }
}

fn doomed(woken: &Woken) -> Option<DoomedTask> {
    woken.doomed_by.map(|parent| DoomedTask { tenant: woken.tenant, task: woken.task, parent })
}

pub(super) fn count(event: &'static str, moved: u64) -> u64 {
    MOVED.with(&[event]).inc_by(moved);
    moved
}
