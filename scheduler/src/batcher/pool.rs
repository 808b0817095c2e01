//! What the batcher knows of a pool.

use super::backlog::{Backlog, SeenOfTenant};
use super::load::{KnownRoom, PoolRate, PoolView};
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
use store::task::{CandidateRow, StrandRows};
use store::turn::{InFlight, in_flight, last};

/// From a turn to the start, or from an end to when it is heard here: a batch waits its horizon in the broker, resource managers
/// tell ends ten times a second, and are listened to as often.
const LAG: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct PoolState {
    pub turns: Turns,
    pub rate: PoolRate,
    pub room: Option<KnownRoom>,
    pub backlog: Backlog,
    pub standing: Standing,
    /// What runs was read, which an earlier batcher has handed out.
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
    /// What there is to give, and whether that was read a moment ago and is only reckoned on.
    pub(super) async fn view(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<(PoolView, bool), StoreError> {
        if let Some(view) = self.room.as_ref().and_then(|room| room.view(clock::monotonic())) {
            return Ok((view, true));
        }
        Ok((self.read(db, pool, horizon).await?, false))
    }

    /// Reads again what there is to give where that was long ago.
    pub(super) async fn freshen(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<(), StoreError> {
        if self.room.as_ref().is_some_and(|room| room.is_old(clock::monotonic())) {
            self.read(db, pool, horizon).await?;
        }
        Ok(())
    }

    /// Reads what there is to give.
    pub(super) async fn read(
        &mut self,
        db: &SchedulerDb,
        pool: &PoolName,
        horizon: Duration,
    ) -> Result<PoolView, StoreError> {
        let (loads, queued) = store::load::read(db, pool).await?;
        let now = clock::monotonic();
        let view = self.rate.view(now, &loads, queued);
        self.room = Some(KnownRoom::read(view.clone(), now, batch_slots(view.load, horizon)));
        FREE_SLOTS.with(&[pool.as_str()]).set(view.load.free_slots as f64);
        QUEUED_SLOTS.with(&[pool.as_str()]).set(view.load.queued_slots as f64);
        COMPLETION_RATE.with(&[pool.as_str()]).set(view.load.completed_slots_per_second);
        Ok(view)
    }

    /// Goes on from where an earlier batcher stood, once.
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

    /// Takes up what was seen.
    pub(super) fn see(&mut self, now: Timestamp, seen: Vec<SeenOfTenant>, total: Resources) {
        self.turns.forget_tasks();
        for (tenant, strands, others) in seen {
            let windows = strands.into_iter().map(|strand| window(strand, total)).collect();
            self.turns.see(now, tenant, windows, others);
        }
    }
}

/// The part of the pool that `size` takes; all of it where the pool is smaller, or nobody has told yet how large it is.
fn share(size: Resources, total: Resources) -> f64 {
    size.dominant_share(total).min(1.0)
}

fn window(strand: StrandRows, total: Resources) -> Window {
    let StrandRows { tenant, key, rows, more_late, more_on_time, .. } = strand;
    let candidate = |row: CandidateRow| Candidate {
        tenant,
        task: row.task,
        due: row.due,
        start_deadline: row.start_deadline,
        priority: row.priority,
        slots: row.slots,
        share: share(row.resources, total),
        name: row.name,
        prepaid: row.prepaid,
        cap: row.cap,
        concurrency_key: row.key,
        spare_until: row.flexible.then(|| Candidate::spare_until(row.due, row.start_deadline)),
    };
    let tasks = rows.into_iter().map(candidate).collect();
    Window { key: key.map(|(key, _)| key), tasks, more_late, more_on_time }
}

/// What runs, as what it was when it was handed out, as far as its charge goes.
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
