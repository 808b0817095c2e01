//! One tick of the batcher: read what there is to give, choose, mark, publish.
//!
//! Woken by submits and by room that appears, and by a timer behind them. The choice is pure code in `domain`. A tick rests a
//! little for each task it dispatched, so that under load batches grow instead of ticks, and a lone task delays nobody.

use super::load::{PoolRate, PoolView};
use super::publish::publish;
use crate::leader::Leader;
use crate::metrics::{BATCH, COMPLETION_RATE, DISPATCHED, FREE_SLOTS, LAG, QUEUED_SLOTS};
use bus::{Bus, ConnectionState, Hint};
use domain::batch::{Candidate, batch_slots, select};
use domain::fairness::Accounts;
use domain::id::{PoolName, TaskId};
use runtime::clock::{self, Instant};
use runtime::config::SchedulerConfig;
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::leadership::LeaderEpoch;
use store::task::{CandidateRow, candidates, transition};

/// How old the lists of pools and weights may be.
const REFRESH: Duration = Duration::from_secs(1);
/// What a task is expected to take before anything is known of it, at most.
const FIRST_ESTIMATE: Duration = Duration::from_secs(1);
/// The rest after a tick, for each task that it dispatched. A tick costs about as much as 5 to 10 of its tasks: below some
/// 1000 tasks/s there is next to no rest, and from 5000/s on the longest.
const REST_PER_TASK: Duration = Duration::from_micros(200);
/// The longest rest after a tick that found work.
const REST: Duration = Duration::from_millis(10);
/// The next look where more waits than there was room for: nobody tells of each task that is placed.
const LIMITED: Duration = Duration::from_millis(10);
/// The next look where there was no room at all. Its end is told, unless it is the end of a long queue.
const FULL: Duration = Duration::from_millis(50);
/// The rest after a tick whose hints the broker did not all take.
const REFUSED_REST: Duration = Duration::from_millis(250);

pub(crate) struct Batcher {
    db: SchedulerDb,
    bus: Bus,
    leader: Arc<Leader>,
    settings: SchedulerConfig,
    led: Option<LeaderEpoch>,
    pools: Vec<PoolName>,
    refreshed: Option<Instant>,
    per_pool: HashMap<PoolName, PoolState>,
    rests_until: Option<Instant>,
    /// The broker did not take all of this tick's hints.
    refused: bool,
}

/// What a tick did in one pool.
#[derive(Clone, Copy)]
enum Dispatched {
    /// No room; what waits is not known.
    Full,
    /// All the tasks it may hand out at a time; `u64` of them.
    Most(u64),
    /// As many as there was room for.
    Limited(u64),
    /// All that waits.
    All(u64),
}

#[derive(Default)]
struct PoolState {
    accounts: Accounts,
    rate: PoolRate,
}

impl Batcher {
    pub(crate) fn new(
        db: SchedulerDb,
        bus: Bus,
        leader: Arc<Leader>,
        settings: SchedulerConfig,
    ) -> Self {
        Self {
            db,
            bus,
            leader,
            settings,
            led: None,
            pools: Vec::new(),
            refreshed: None,
            per_pool: HashMap::new(),
            rests_until: None,
            refused: false,
        }
    }

    pub(crate) async fn tick(&mut self) -> Result<TickOutcome, StoreError> {
        if let Some(until) = self.rests_until.take() {
            // Not the ticker's pause, which a wake-up ends: under load there is always one.
            clock::sleep_until(until).await;
        }
        let Some(epoch) = self.leader.epoch() else {
            self.led = None;
            return Ok(TickOutcome::idle(0));
        };
        if self.led != Some(epoch) {
            // What an earlier term knew of rates and turns is out of date.
            self.per_pool.clear();
            self.led = Some(epoch);
        }
        if *self.bus.connection().borrow() != ConnectionState::Connected {
            // Marking tasks only to take them back would cost two row versions each, every tick.
            return Ok(TickOutcome::idle(0));
        }
        let began = clock::monotonic();
        self.refresh(began).await?;
        let (mut done, mut again) = (0, None);
        for pool in self.pools.clone() {
            let dispatched = self.dispatch(epoch, &pool).await?;
            done += dispatched.tasks();
            again = [again, dispatched.again()].into_iter().flatten().min();
        }
        if done > 0 {
            let tasks = u32::try_from(done).unwrap_or(u32::MAX);
            let rest = REST_PER_TASK.saturating_mul(tasks).min(REST);
            let rest = if std::mem::take(&mut self.refused) { REFUSED_REST } else { rest };
            self.rests_until = Some(clock::monotonic() + rest);
        }
        Ok(again.map_or(TickOutcome::idle(done), |pause| TickOutcome::after(pause, done)))
    }

    async fn refresh(&mut self, now: Instant) -> Result<(), StoreError> {
        if self.refreshed.is_some_and(|at| now.saturating_duration_since(at) < REFRESH) {
            return Ok(());
        }
        self.pools = store::pool::list_for_dispatch(&self.db).await?;
        let weights = store::tenant::weights(&self.db).await?;
        for pool in &self.pools {
            let accounts = &mut self.per_pool.entry(pool.clone()).or_default().accounts;
            accounts.forget_idle();
            accounts.set_weights(weights.iter().copied());
        }
        self.refreshed = Some(now);
        Ok(())
    }

    async fn dispatch(
        &mut self,
        epoch: LeaderEpoch,
        pool: &PoolName,
    ) -> Result<Dispatched, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let started = clock::monotonic();
        let (loads, queued) = store::load::read(&self.db, pool).await?;
        let view = state.rate.view(clock::monotonic(), &loads, queued);
        show(pool, &view);
        let slots = batch_slots(view.load, self.settings.horizon);
        let most = u64::from(self.settings.max_batch).min(slots);
        if most == 0 {
            return Ok(Dispatched::Full);
        }
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = candidates(&self.db, pool, limit, view.largest, &view.lacks).await?;
        LAG.with(&["choose"]).observe_duration(started.elapsed());
        if rows.is_empty() {
            return Ok(Dispatched::All(0));
        }
        let by_task: HashMap<TaskId, CandidateRow> =
            rows.iter().map(|row| (row.task, row.clone())).collect();
        let picked = select(rows.iter().map(candidate).collect(), most, &mut state.accounts);
        let keys: Vec<_> = picked.iter().map(|c| (c.tenant, c.task)).collect();
        let marked = transition::dispatched(
            &self.db,
            self.leader.node(),
            epoch,
            &keys,
            self.settings.sweep_age,
        )
        .await?;
        let Some(marked) = marked else {
            self.leader.lost();
            return Ok(Dispatched::All(0));
        };
        let epochs: HashMap<TaskId, i32> =
            marked.iter().map(|m| (m.task, m.dispatch_epoch)).collect();
        for lost in picked.iter().filter(|c| !epochs.contains_key(&c.task)) {
            // Cancelled or expired between the look and the mark.
            state.accounts.refund(lost.tenant, lost.cost);
        }
        // In the order of their turns: that is how they are placed.
        let hints: Vec<Hint> = picked
            .iter()
            .filter_map(|c| {
                Some(Hint {
                    tenant: c.tenant,
                    task: c.task,
                    dispatch_epoch: *epochs.get(&c.task)?,
                    resources: by_task.get(&c.task)?.resources,
                    start_deadline_unix_ms: c.start_deadline.timestamp_millis(),
                })
            })
            .collect();
        DISPATCHED.with(&[pool.as_str()]).inc_by(hints.len() as u64);
        BATCH.with(&[pool.as_str()]).observe(hints.len() as f64);
        let per_message = per_message(hints.len(), &view, self.settings.hint_batch);
        self.refused |= publish(&self.db, &self.bus, pool, &hints, per_message).await? > 0;
        LAG.with(&["whole"]).observe_duration(started.elapsed());
        let tasks = hints.len() as u64;
        let used: u64 = picked.iter().map(|c| u64::from(c.slots)).sum();
        Ok(if used < most {
            Dispatched::All(tasks)
        } else if most < slots {
            Dispatched::Most(tasks)
        } else {
            Dispatched::Limited(tasks)
        })
    }
}

impl Dispatched {
    const fn tasks(self) -> u64 {
        match self {
            Self::Full => 0,
            Self::Most(tasks) | Self::Limited(tasks) | Self::All(tasks) => tasks,
        }
    }

    /// The next look, where nothing wakes the batcher before it; `None`: whenever the timer says.
    const fn again(self) -> Option<Duration> {
        match self {
            Self::Full => Some(FULL),
            Self::Most(_) => Some(Duration::ZERO),
            Self::Limited(_) => Some(LIMITED),
            Self::All(_) => None,
        }
    }
}

/// Two messages for each resource manager with room, so that each gets its part, never more in one than the
/// one with least room can place at once, and never more than `most`.
fn per_message(hints: usize, view: &PoolView, most: usize) -> usize {
    let even = hints.div_ceil(view.owners * 2);
    let room = usize::try_from(view.least_room).unwrap_or(usize::MAX);
    even.min(room).clamp(1, most.max(1))
}

fn candidate(row: &CandidateRow) -> Candidate {
    Candidate {
        tenant: row.tenant,
        task: row.task,
        start_deadline: row.start_deadline,
        slots: row.slots,
        cost: if row.prepaid {
            0.0
        } else {
            f64::from(row.slots) * row.cap.min(FIRST_ESTIMATE).as_secs_f64()
        },
    }
}

fn show(pool: &PoolName, view: &PoolView) {
    FREE_SLOTS.with(&[pool.as_str()]).set(view.load.free_slots as f64);
    QUEUED_SLOTS.with(&[pool.as_str()]).set(view.load.queued_slots as f64);
    COMPLETION_RATE.with(&[pool.as_str()]).set(view.load.completed_slots_per_second);
}
