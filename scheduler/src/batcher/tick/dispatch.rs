//! One pool's part of a tick: how much may go, who goes, and off it goes.
//!
//! The choice is pure code in `domain`. The rule: what was picked is charged at once, and what then does not go gets its charge back.
//! Where all that waits may go the mark comes first, and all of it is picked then; had anything been marked and not picked, the sweep would
//! take it back, like what a batcher that died has marked.

use super::Batcher;
use crate::batcher::backlog::Plan;
use crate::batcher::load::PoolView;
use crate::metrics::{BATCH, DISPATCHED, LAG, STOPPED};
use bus::Hint;
use domain::batch::{Pick, StopReason, batch_slots};
use domain::id::{PoolName, TaskId};
use domain::placement::Shapes;
use domain::resources::Resources;
use domain::time::Timestamp;
use runtime::clock::{self, Instant};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::leadership::LeaderEpoch;
use store::task::transition::{self, DispatchedRow, Few};
use store::task::{Seen, candidates};
use store::turn::PoolTurn;

/// The next look where more waits than there was room for: nobody tells of each task that is placed.
const LIMITED: Duration = Duration::from_millis(10);
/// The next look where there was no room at all. Its end is told, unless it is the end of a long queue.
const FULL: Duration = Duration::from_millis(50);

/// What a tick did in one pool.
#[derive(Clone, Copy)]
pub(super) enum Dispatched {
    /// No room; what waits is not known.
    Full,
    /// All the tasks it may hand out at a time; `u64` of them.
    Most(u64),
    /// As many as there was room for.
    Limited(u64),
    /// All that waits.
    All(u64),
}

/// What was picked in a pool.
struct Choice {
    /// By the database's clock.
    now: Timestamp,
    picked: Vec<Pick>,
    /// Of each task that was seen.
    resources: HashMap<TaskId, Resources>,
    /// Not all that may wait was seen, and it is worth looking at once.
    unseen: bool,
    /// Something finds no room for its size.
    lack: bool,
    /// Something needs more slots than were left.
    short: bool,
    /// The dispatches of what was picked, where it went without a choice.
    gone: Epochs,
}

/// What is handed out.
struct HandOut {
    dispatched: Dispatched,
    /// In the order of their turns: that is how they are placed.
    hints: Vec<Hint>,
    per_message: usize,
    /// Sizes that were passed by because they had no room when that was read, some time before this tick.
    lacks: Option<Shapes>,
}

/// What was marked, each with its dispatch.
type Epochs = HashMap<TaskId, i32>;

impl Batcher {
    /// Hands out what may go now.
    pub(super) async fn dispatch(
        &mut self,
        epoch: LeaderEpoch,
        pool: &PoolName,
    ) -> Result<Dispatched, StoreError> {
        let started = clock::monotonic();
        let leader = Arc::clone(&self.leader);
        let out = leader.under(epoch, self.take(epoch, pool, started)).await?;
        // These are marked: from here on nothing cuts it short.
        if !out.hints.is_empty() {
            DISPATCHED.with(&[pool.as_str()]).inc_by(out.hints.len() as u64);
            BATCH.with(&[pool.as_str()]).observe(out.hints.len() as f64);
            self.publisher.publish(pool, &out.hints, out.per_message).await?;
            LAG.with(&["whole"]).observe_duration(started.elapsed());
        }
        if let Some(lacks) = out.lacks {
            // The wake-up of this tick may have been for room of that size, and no other follows.
            let state = self.per_pool.entry(pool.clone()).or_default();
            let view = state.read(&self.db, pool, self.settings.horizon).await?;
            if view.lacks != lacks {
                return Ok(Dispatched::Most(out.dispatched.tasks()));
            }
        }
        Ok(out.dispatched)
    }

    /// Takes what may go now, and marks it.
    async fn take(
        &mut self,
        epoch: LeaderEpoch,
        pool: &PoolName,
        started: Instant,
    ) -> Result<HandOut, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let (view, is_known) = state.view(&self.db, pool, self.settings.horizon).await?;
        let slots = batch_slots(view.load, self.settings.horizon);
        let most = u64::from(self.settings.max_batch).min(slots);
        if most == 0 {
            self.stopped(pool, StopReason::NoRoom, &view, (slots, 0));
            return Ok(HandOut::none(Dispatched::Full));
        }
        state.take_over(&self.db, pool, view.total).await?;
        let Choice { now, picked, resources, unseen, lack, short, gone } =
            self.choose((epoch, pool), &view, most, started).await?;
        let marked = if gone.is_empty() { self.mark(epoch, &picked).await } else { Ok(Some(gone)) };
        let state = self.per_pool.entry(pool.clone()).or_default();
        if marked.is_err() {
            // What a mark without an answer has handed out counts in `running` until the next count.
            picked.iter().for_each(|pick| state.turns.undo(pick));
            state.room = None;
        }
        let Some(epochs) = marked? else {
            self.leader.lost();
            return Ok(HandOut::none(Dispatched::All(0)));
        };
        for pick in &picked {
            if epochs.contains_key(&pick.candidate.task) {
                state.turns.dispatched(now, pick);
            } else {
                // Cancelled or expired between the look and the mark.
                state.turns.undo(pick);
                self.running.undone(&pick.candidate);
            }
        }
        let hints = hints(&picked, &epochs, &resources);
        state.standing.handed_out(hints.iter().map(|hint| hint.tenant));
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.room.iter_mut().for_each(|room| room.take(used));
        let reason = if used >= slots {
            StopReason::RoomUsed
        } else if used >= most || (short && most < slots) {
            StopReason::BatchFull
        } else if short {
            // Some slots are left, and too few for the next: it waits for room as if none were.
            StopReason::RoomUsed
        } else if self.running.holds_back() {
            StopReason::Limits
        } else if lack {
            StopReason::SizesLack
        } else {
            StopReason::NothingWaits
        };
        self.stopped(pool, reason, &view, (slots, used));
        let tasks = hints.len() as u64;
        let per_message = per_message(hints.len(), &view, self.settings.hint_batch);
        let dispatched = match reason {
            // There may be more by now than was known.
            StopReason::RoomUsed if is_known => Dispatched::Most(tasks),
            StopReason::RoomUsed => Dispatched::Limited(tasks),
            StopReason::BatchFull => Dispatched::Most(tasks),
            // Somebody has more than was looked at, or may have.
            _ if unseen && tasks > 0 => Dispatched::Most(tasks),
            _ if unseen => Dispatched::Limited(0),
            _ => Dispatched::All(tasks),
        };
        let lacks = (lack && is_known).then_some(view.lacks);
        Ok(HandOut { dispatched, hints, per_message, lacks })
    }

    /// Looks at what may have its turn, and picks `most` slots of it. Where that is all that waits it may be gone already.
    async fn choose(
        &mut self,
        (epoch, pool): (LeaderEpoch, &PoolName),
        view: &PoolView,
        most: u64,
        started: Instant,
    ) -> Result<Choice, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let few = match state.backlog.few() {
            Some(few) => self.take_few(epoch, pool, view, (few, most)).await?,
            None => None,
        };
        let state = self.per_pool.entry(pool.clone()).or_default();
        let (plan, seen, gone) = if let Some((seen, gone)) = few {
            (Plan::of_all(), seen, epochs(&gone))
        } else {
            let plan = state.backlog.plan(state.turns.next(), most, &self.running);
            let seen = candidates(&self.db, pool, plan.look(view)).await?;
            (plan, seen, Epochs::new())
        };
        LAG.with(&["choose"]).observe_duration(started.elapsed());
        self.learn(&seen, started).await?;
        let now = seen.now;
        let rows = seen.strands.iter().flat_map(|strand| &strand.rows);
        let resources = rows.map(|row| (row.task, row.resources)).collect();
        let lack = seen.strands.iter().any(|strand| strand.lacks_room);
        let state = self.per_pool.entry(pool.clone()).or_default();
        let by_tenant = state.backlog.seen(&plan, seen);
        state.see(now, by_tenant, view.total);
        let picked = state.turns.pick(now, most, &mut self.running);
        let goes_on = state.backlog.goes_on(picked.len());
        let passed_over = state.turns.was_passed_over();
        let short = state.turns.was_short_of_slots();
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.backlog.saw_too_little(passed_over && used < most / 2);
        let unseen = passed_over || !state.backlog.is_all(&plan);
        Ok(Choice { now, picked, resources, unseen: unseen && goes_on, lack, short, gone })
    }

    /// All that waits, where that is no more than `few` tasks; marked where `slots` and limits have room for all of it, so that each will be picked.
    async fn take_few(
        &self,
        epoch: LeaderEpoch,
        pool: &PoolName,
        view: &PoolView,
        (few, slots): (u64, u64),
    ) -> Result<Option<(Seen, Vec<DispatchedRow>)>, StoreError> {
        let (free, each) = self.tenants.free(&self.running);
        let (largest, lacks) = (view.largest, &view.lacks);
        let few = Few { most: few, slots, free: &free, each, largest, lacks };
        let (by, age) = ((self.leader.node(), epoch), self.settings.sweep_age);
        let taken = transition::all_dispatched(&self.db, by, pool, few, age).await;
        if free.is_empty() { taken } else { self.heed(taken) }
    }

    fn stopped(&mut self, pool: &PoolName, stopped: StopReason, view: &PoolView, of: (u64, u64)) {
        STOPPED.with(&[pool.as_str(), stopped.as_str()]).inc();
        let turn = PoolTurn {
            stopped,
            slots: of.0,
            handed_out: of.1,
            rate: view.load.completed_slots_per_second,
            free_slots: view.load.free_slots,
        };
        self.per_pool.entry(pool.clone()).or_default().standing.stopped(turn);
    }

    /// Marks what was picked as queued: each task's dispatch. `None`: another leads.
    async fn mark(
        &self,
        epoch: LeaderEpoch,
        picked: &[Pick],
    ) -> Result<Option<Epochs>, StoreError> {
        if picked.is_empty() {
            return Ok(Some(Epochs::new()));
        }
        let key = |pick: &Pick| (pick.candidate.tenant, pick.candidate.task);
        let keys: Vec<_> = picked.iter().map(key).collect();
        let (node, age) = (self.leader.node(), self.settings.sweep_age);
        let marked = transition::dispatched(&self.db, node, epoch, &keys, age).await;
        Ok(self.heed(marked)?.map(|marked| epochs(&marked)))
    }

    /// Gives the lead up where it is not known what a mark did.
    fn heed<T>(&self, marked: Result<T, StoreError>) -> Result<T, StoreError> {
        if marked.as_ref().is_err_and(StoreError::outcome_unknown) {
            // It may take effect even after the next count, which would not know of it.
            self.leader.renounce();
        }
        marked
    }
}

impl HandOut {
    const fn none(dispatched: Dispatched) -> Self {
        Self { dispatched, hints: Vec::new(), per_message: 1, lacks: None }
    }
}

impl Dispatched {
    /// How many tasks went.
    pub(super) const fn tasks(self) -> u64 {
        match self {
            Self::Full => 0,
            Self::Most(tasks) | Self::Limited(tasks) | Self::All(tasks) => tasks,
        }
    }

    /// The next look, where nothing wakes the batcher before it; `None`: whenever the timer says.
    pub(super) const fn again(self) -> Option<Duration> {
        match self {
            Self::Full => Some(FULL),
            Self::Most(_) => Some(Duration::ZERO),
            Self::Limited(_) => Some(LIMITED),
            Self::All(_) => None,
        }
    }
}

fn epochs(marked: &[DispatchedRow]) -> Epochs {
    marked.iter().map(|row| (row.task, row.dispatch_epoch)).collect()
}

/// One hint for each that was marked.
fn hints(picked: &[Pick], epochs: &Epochs, resources: &HashMap<TaskId, Resources>) -> Vec<Hint> {
    let hint = |pick: &Pick| {
        let candidate = &pick.candidate;
        Some(Hint {
            tenant: candidate.tenant,
            task: candidate.task,
            dispatch_epoch: *epochs.get(&candidate.task)?,
            resources: *resources.get(&candidate.task)?,
            start_deadline_unix_ms: candidate.start_deadline.timestamp_millis(),
        })
    };
    picked.iter().filter_map(hint).collect()
}

/// Two messages for each resource manager with room, so that each gets its part, and one where it is alone, which claims them all at
/// once; never more in one than the one with least room can place at once, and never more than `most`.
fn per_message(hints: usize, view: &PoolView, most: usize) -> usize {
    let messages = if view.owners <= 1 { 1 } else { view.owners * 2 };
    let even = hints.div_ceil(messages);
    let room = usize::try_from(view.least_room).unwrap_or(usize::MAX);
    even.min(room).clamp(1, most.max(1))
}
