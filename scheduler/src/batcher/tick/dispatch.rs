//! One pool's part of a tick: picks tasks for the free room, marks them `queued` and publishes their hints.
//!
//! The choice is pure code in `domain`. The rule: a pick is charged at once; a pick that is not marked is refunded.

use super::Batcher;
use crate::batcher::load::PoolView;
use crate::batcher::next_tick::WaitsFor;
use crate::metrics::{BATCH, DISPATCHED, LAG, STOPPED};
use bus::Hint;
use domain::batch::{Pick, StopReason, batch_slots};
use domain::epoch::Epoch;
use domain::id::{PoolName, TaskId};
use domain::placement::Lacks;
use domain::resources::Resources;
use domain::task::{Dispatch, DriverName, DriverSet};
use domain::time::Timestamp;
use runtime::clock::{self, Instant};
use std::collections::HashMap;
use std::sync::Arc;
use store::StoreError;
use store::task::{ReadyStrand, ReadyTask, select_ready, transition};
use store::turn::PoolTurn;

/// Result of a tick in one pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dispatched {
    pub tasks: u64,
    pub waits_for: WaitsFor,
}

/// Picks of one pool.
struct Choice {
    /// By the database's clock.
    now: Timestamp,
    picked: Vec<Pick>,
    /// What each read task needs.
    needs: HashMap<TaskId, Need>,
    /// More tasks may be waiting than were read, and reading on at once is useful.
    unread: bool,
    /// A task has no room for its size, or no executor has its driver.
    lack: bool,
    /// A task needs more slots than were left.
    short: bool,
}

/// Marked tasks and their messages.
struct Batch {
    dispatched: Dispatched,
    /// In dispatch order, which is the order of placement.
    hints: Vec<Hint>,
    per_message: usize,
    /// The estimate that skipped tasks, because it had no room for their size or lacked their driver.
    skipped_by: Option<(Lacks, DriverSet)>,
}

/// What a hint tells of a task.
type Need = (Option<DriverName>, Resources);

/// The dispatch of each marked task.
type Marked = HashMap<TaskId, Dispatch>;

impl Batcher {
    /// Dispatches what has room now.
    pub(super) async fn dispatch(
        &mut self,
        epoch: Epoch,
        pool: &PoolName,
    ) -> Result<Dispatched, StoreError> {
        let started = clock::monotonic();
        let leader = Arc::clone(&self.leader);
        let batch = leader.under(epoch, self.mark_batch(epoch, pool, started)).await?;
        // Marked: from here on the dispatch is not interrupted.
        if !batch.hints.is_empty() {
            DISPATCHED.with(&[pool.as_str()]).inc_by(batch.hints.len() as u64);
            BATCH.with(&[pool.as_str()]).observe(batch.hints.len() as f64);
            self.publisher.publish(pool, &batch.hints, batch.per_message).await?;
            LAG.with(&["whole"]).observe_duration(started.elapsed());
        }
        if let Some(estimate) = batch.skipped_by {
            // This tick's wake-up may have been for room of that size or for that driver, and no other follows.
            let state = self.per_pool.entry(pool.clone()).or_default();
            let room = state.read_room(&self.db, pool, self.settings.horizon);
            let view = leader.under(epoch, room).await?;
            if (view.lacks, view.drivers) != estimate {
                return Ok(Dispatched { waits_for: WaitsFor::Nothing, ..batch.dispatched });
            }
        }
        Ok(batch.dispatched)
    }

    /// Picks and marks tasks.
    async fn mark_batch(
        &mut self,
        epoch: Epoch,
        pool: &PoolName,
        started: Instant,
    ) -> Result<Batch, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let (view, is_estimate) = state.view(&self.db, pool, self.settings.horizon).await?;
        let slots = batch_slots(view.load, self.settings.horizon);
        let most = u64::from(self.settings.max_batch).min(slots);
        if most == 0 {
            self.stopped(pool, StopReason::NoRoom, &view, (slots, 0));
            // The end of a queue is not reported; room on executors is.
            let queued = view.load.queued_slots > 0;
            return Ok(Batch::none(if queued { WaitsFor::Room } else { WaitsFor::WakeUp }));
        }
        state.take_over(&self.db, pool, view.total).await?;
        let Choice { now, picked, needs, unread, lack, short } =
            self.choose(pool, &view, most, started).await?;
        let marked = self.mark(epoch, &picked).await;
        let state = self.per_pool.entry(pool.clone()).or_default();
        if marked.is_err() {
            // A mark without a response counts in `running` until the next count.
            picked.iter().for_each(|pick| state.turns.undo(pick));
            state.room = None;
        }
        let Some(marked) = marked? else {
            self.leader.lost();
            return Ok(Batch::none(WaitsFor::WakeUp));
        };
        for pick in &picked {
            if marked.contains_key(&pick.candidate.task) {
                state.turns.dispatched(now, pick);
            } else {
                // Cancelled or expired between the selection and the mark.
                state.turns.undo(pick);
                self.running.undone(&pick.candidate);
            }
        }
        let hints = hints(&picked, &marked, &needs);
        state.standing.add_dispatched(hints.iter().map(|hint| hint.dispatch.tenant));
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.room.iter_mut().for_each(|room| room.subtract(used));
        let reason = if used >= slots {
            StopReason::RoomUsed
        } else if used >= most || (short && most < slots) {
            StopReason::BatchFull
        } else if short {
            // Too few slots are left for the next task: it waits for room.
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
        let waits_for = match reason {
            // There may be more room than estimated.
            StopReason::RoomUsed if is_estimate => WaitsFor::Nothing,
            StopReason::RoomUsed => WaitsFor::Room,
            StopReason::BatchFull => WaitsFor::Nothing,
            // A tenant may have more tasks than were read.
            _ if unread && tasks > 0 => WaitsFor::Nothing,
            _ if unread => WaitsFor::Room,
            _ => WaitsFor::WakeUp,
        };
        let skipped_by = (lack && is_estimate).then_some((view.lacks, view.drivers));
        Ok(Batch { dispatched: Dispatched { tasks, waits_for }, hints, per_message, skipped_by })
    }

    /// Reads the first tasks of the next tenants and picks up to `most` slots.
    async fn choose(
        &mut self,
        pool: &PoolName,
        view: &PoolView,
        most: u64,
        started: Instant,
    ) -> Result<Choice, StoreError> {
        let state = self.per_pool.entry(pool.clone()).or_default();
        let plan = state.backlog.plan(state.turns.next(), most, &self.running);
        let selection = select_ready(&self.db, pool, plan.query(view)).await?;
        LAG.with(&["choose"]).observe_duration(started.elapsed());
        self.read_terms(&selection, started).await?;
        let now = selection.now;
        // A resource manager of an earlier release says nothing of drivers, and could not read them.
        let known = view.drivers.names().is_some();
        let of_strand = |strand: &ReadyStrand| {
            let driver = strand.driver.filter(|_| known);
            let need = move |task: &ReadyTask| (task.task, (driver, task.resources));
            strand.tasks.iter().map(need).collect::<Vec<_>>()
        };
        let needs = selection.strands.iter().flat_map(of_strand).collect();
        let lack = selection.strands.iter().any(|strand| strand.lacks_room);
        let state = self.per_pool.entry(pool.clone()).or_default();
        let by_tenant = state.backlog.record(&plan, selection);
        state.offer(now, by_tenant, view.total);
        let picked = state.turns.pick(now, most, &mut self.running);
        let reads_on = state.backlog.reads_on(picked.len());
        let passed_over = state.turns.was_passed_over();
        let short = state.turns.was_short_of_slots();
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        state.backlog.adjust_rows(passed_over && used < most / 2);
        let unread = (passed_over || !state.backlog.is_all(&plan)) && reads_on;
        Ok(Choice { now, picked, needs, unread, lack, short })
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
        self.per_pool.entry(pool.clone()).or_default().standing.set_pool(turn);
    }

    /// Marks picks as `queued`; returns their dispatches. `None`: another batcher leads.
    async fn mark(&self, epoch: Epoch, picked: &[Pick]) -> Result<Option<Marked>, StoreError> {
        if picked.is_empty() {
            return Ok(Some(Marked::new()));
        }
        let key = |pick: &Pick| (pick.candidate.tenant, pick.candidate.task);
        let keys: Vec<_> = picked.iter().map(key).collect();
        let (node, age) = (self.leader.node(), self.settings.sweep_age);
        let marked = transition::dispatched(&self.db, node, epoch, &keys, age).await;
        if marked.as_ref().is_err_and(StoreError::outcome_unknown) {
            // It may take effect after the next count, which would miss it.
            self.leader.renounce();
        }
        let by_task = |dispatch: Dispatch| (dispatch.task, dispatch);
        Ok(marked?.map(|marked| marked.into_iter().map(by_task).collect()))
    }
}

impl Batch {
    const fn none(waits_for: WaitsFor) -> Self {
        let dispatched = Dispatched { tasks: 0, waits_for };
        Self { dispatched, hints: Vec::new(), per_message: 1, skipped_by: None }
    }
}

/// One hint per marked task.
fn hints(picked: &[Pick], marked: &Marked, needs: &HashMap<TaskId, Need>) -> Vec<Hint> {
    let hint = |pick: &Pick| {
        let candidate = &pick.candidate;
        let (driver, resources) = *needs.get(&candidate.task)?;
        Some(Hint {
            dispatch: *marked.get(&candidate.task)?,
            resources,
            start_deadline_unix_ms: candidate.start_deadline.timestamp_millis(),
            driver,
        })
    };
    picked.iter().filter_map(hint).collect()
}

/// Hints per message: two messages for each resource manager with room, so that each gets a share, and one message for
/// a single resource manager. Never more than the one with least room can place at once, and never more than `most`.
fn per_message(hints: usize, view: &PoolView, most: usize) -> usize {
    let messages = if view.owners <= 1 { 1 } else { view.owners * 2 };
    let even = hints.div_ceil(messages);
    let room = usize::try_from(view.least_room).unwrap_or(usize::MAX);
    even.min(room).clamp(1, most.max(1))
}
