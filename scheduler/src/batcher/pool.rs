//! The batcher's state of one pool.

use super::backlog::{Backlog, TenantSelection};
use super::load::{PoolRate, PoolView, RoomEstimate};
use super::standing::Standing;
use crate::metrics::{COMPLETION_RATE, FREE_SLOTS, QUEUED_SLOTS};
use domain::batch::{Candidate, Turns, Window, batch_slots};
use domain::id::PoolName;
use domain::resources::Resources;
use domain::time::Timestamp;
use runtime::clock;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::task::{ReadyStrand, ReadyTask};
use store::turn::{InFlight, in_flight, last};

/// Lag from dispatch to start, and from an end to its report: the horizon in the broker, and reports ten times a
/// second.
const LAG: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct PoolState {
    pub turns: Turns,
    pub rate: PoolRate,
    pub room: Option<RoomEstimate>,
    pub backlog: Backlog,
    pub standing: Standing,
    /// Whether the state of an earlier batcher was read.
    taken_over: bool,
}

impl Default for PoolState {
    fn default() -> Self {
        Self {
            turns: Turns::lagging(LAG),
            rate: PoolRate::default(),
            room: None,
            backlog: Backlog::default(),
            standing: Standing::default(),
            taken_over: false,
        }
    }
}

impl PoolState {
    /// The room of the pool, and whether it is an estimate.
    pub(super) async fn view(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<(PoolView, bool), StoreError> {
        if let Some(view) = self.room.as_ref().and_then(|room| room.view(clock::monotonic())) {
            return Ok((view, true));
        }
        Ok((self.read_room(db, pool, horizon).await?, false))
    }

    /// Reads the room again if it is old.
    pub(super) async fn refresh_room(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<(), StoreError> {
        if self.room.as_ref().is_some_and(|room| room.is_old(clock::monotonic())) {
            self.read_room(db, pool, horizon).await?;
        }
        Ok(())
    }

    /// Reads the room of the pool.
    pub(super) async fn read_room(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<PoolView, StoreError> {
        let load = store::load::read(db, pool).await?;
        let now = clock::monotonic();
        let view = self.rate.view(now, &load.owners, load.queued_slots);
        self.room = Some(RoomEstimate::new(view.clone(), now, batch_slots(view.load, horizon)));
        FREE_SLOTS.with(&[pool.as_str()]).set(view.load.free_slots as f64);
        QUEUED_SLOTS.with(&[pool.as_str()]).set(view.load.queued_slots as f64);
        COMPLETION_RATE.with(&[pool.as_str()]).set(view.load.completed_slots_per_second);
        Ok(view)
    }

    /// Continues from the state of an earlier batcher, once.
    pub(super) async fn take_over(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        total: Resources,
    ) -> Result<(), StoreError> {
        if self.taken_over {
            return Ok(());
        }
        let (stood, runs) = (last(db, pool).await?, in_flight(db, pool).await?);
        self.turns.restore(stood);
        let now = clock::wall();
        for attempt in &runs {
            self.turns.runs(now, &running(attempt, total), attempt.since);
        }
        self.taken_over = true;
        Ok(())
    }

    /// Replaces the candidates by those that were read.
    pub(super) fn offer(&mut self, now: Timestamp, read: Vec<TenantSelection>, total: Resources) {
        self.turns.forget_tasks();
        for TenantSelection { tenant, strands, is_partial } in read {
            let windows = strands.into_iter().map(|strand| window(strand, total)).collect();
            self.turns.see(now, tenant, windows, is_partial);
        }
    }
}

/// The share of the pool that `size` needs; 1 if the pool is smaller, or its size is unknown.
fn share(size: Resources, total: Resources) -> f64 {
    size.dominant_share(total).min(1.0)
}

fn window(strand: ReadyStrand, total: Resources) -> Window {
    let ReadyStrand { tenant, key, tasks, more_late, more_on_time, .. } = strand;
    let candidate = |task: ReadyTask| Candidate {
        tenant,
        task: task.task,
        due: task.due,
        start_deadline: task.start_deadline,
        priority: task.priority,
        slots: task.slots,
        share: share(task.resources, total),
        name: task.name,
        prepaid: task.prepaid,
        cap: task.cap,
        concurrency_key: task.key,
        spare_until: task.flexible.then(|| Candidate::spare_until(task.due, task.start_deadline)),
    };
    let tasks = tasks.into_iter().map(candidate).collect();
    Window { key: key.map(|(key, _)| key), tasks, more_late, more_on_time }
}

/// A running attempt as a candidate, for its charge.
fn running(attempt: &InFlight, total: Resources) -> Candidate {
    Candidate {
        tenant: attempt.tenant,
        task: attempt.task,
        due: attempt.since,
        start_deadline: attempt.since,
        priority: domain::batch::Priority::default(),
        slots: attempt.resources.slots(),
        share: share(attempt.resources, total),
        name: attempt.name,
        prepaid: false,
        cap: attempt.cap,
        concurrency_key: None,
        spare_until: None,
    }
}
