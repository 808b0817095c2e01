//! The dispatch order of tasks of all tenants of a pool.
//!
//! Used by the batcher and by the simulator; pure, so the same calls give the same picks. The batcher passes the first
//! tasks of the next tenants ([`Window`]), which bounds memory. Flexible tasks are in a separate lane with the room
//! that the other leaves, until their flexible time is over; what they consume there does not count against their
//! tenant's share.

use super::lane::{Lane, Round};
use super::unread::Unknown;
use super::{Candidate, Pick, Running, Window};
use crate::fairness::{Charges, Doubtful, Estimates};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long spare room is kept for unread tasks before flexible tasks use it.
const KEPT: TimeDelta = TimeDelta::milliseconds(250);

/// Waiting tasks of one pool and the accounts of their tenants.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    due: Lane,
    spare: Lane,
    /// End of the flexible time of tasks in `spare`.
    ripe: BTreeMap<(Timestamp, TaskId), Candidate>,
    estimates: Estimates,
    passed_over: bool,
    short_of_slots: bool,
    /// Since when non-flexible tasks have left room at every pick.
    room_since: Option<Timestamp>,
}

impl Turns {
    /// For a pool whose starts or reports of ends lag by up to `lag`: see [`Charges::lagging`].
    #[must_use]
    pub fn lagging(lag: Duration) -> Self {
        let mut turns = Self::default();
        for lane in [&mut turns.due, &mut turns.spare] {
            lane.charges = Charges::lagging(lag);
        }
        turns
    }

    /// Replaces all weights; others have weight 1. Applies to the whole backlog.
    pub fn set_weights(&mut self, weights: impl IntoIterator<Item = (TenantId, f64)>) {
        let weights: Vec<_> = weights.into_iter().collect();
        self.due.accounts.set_weights(weights.iter().copied());
        self.spare.accounts.set_weights(weights);
    }

    /// Adds a waiting task at `now`.
    pub fn offer(&mut self, now: Timestamp, candidate: Candidate) {
        match candidate.spare_until.filter(|until| *until > now) {
            Some(until) => {
                self.ripe.insert((until, candidate.task), candidate.clone());
                self.spare.put(now, candidate);
            }
            None => self.due.put(now, candidate),
        }
    }

    /// Forgets waiting tasks, but not which tenants wait: they must be read again.
    pub fn forget_tasks(&mut self) {
        self.ripe.clear();
        self.due.forget_tasks();
        self.spare.forget_tasks();
    }

    /// Sets the first tasks of `tenant` at `now` to those of `windows`. Without windows and `others` (unread strands)
    /// it no longer waits.
    pub fn see(&mut self, now: Timestamp, tenant: TenantId, windows: Vec<Window>, others: bool) {
        let (mut due, mut spare) = (Vec::new(), Vec::new());
        for window in windows {
            let is_spare = |c: &Candidate| c.spare_until.is_some_and(|until| until > now);
            let last_is_spare = window.tasks.last().is_some_and(is_spare);
            let (own, rest): (Vec<_>, Vec<_>) = window.tasks.into_iter().partition(is_spare);
            let ripe = |c: &Candidate| Some(((c.spare_until?, c.task), c.clone()));
            self.ripe.extend(own.iter().filter_map(ripe));
            spare.push(Window {
                key: window.key.clone(),
                tasks: own,
                more_late: false,
                more_on_time: window.more_on_time && last_is_spare,
            });
            due.push(Window {
                tasks: rest,
                more_on_time: window.more_on_time && !last_is_spare,
                ..window
            });
        }
        self.due.see(now, tenant, due, others);
        self.spare.see(now, tenant, spare, false);
    }

    /// Waiting tenants in dispatch order; those with only flexible tasks are last.
    pub fn next(&self) -> impl Iterator<Item = TenantId> {
        self.due.turns().chain(self.spare.turns())
    }

    /// Removes a task that was not dispatched.
    pub fn remove(&mut self, candidate: &Candidate) {
        if !self.due.remove(candidate) {
            self.spare.remove(candidate);
        }
    }

    /// Advances accounts and classes to `now`. A pick does it too; call it before offers after a long pause.
    pub fn advance(&mut self, now: Timestamp) {
        self.due.advance(now);
        self.spare.advance(now);
        while let Some(ripe) = self.ripe.first_entry().filter(|entry| entry.key().0 <= now) {
            let candidate = ripe.remove();
            if self.spare.remove(&candidate) {
                self.due.put(now, candidate);
            }
        }
    }

    /// Picks tasks that fit into `slots` and may start, in dispatch order. Each is charged and counted as `running`. A
    /// tenant whose next task was not read is skipped and stays next: see [`Self::was_passed_over`].
    #[must_use]
    pub fn pick(&mut self, now: Timestamp, slots: u64, running: &mut Running) -> Vec<Pick> {
        self.advance(now);
        let mut picked = Vec::new();
        let estimates = &self.estimates;
        let unknown = self.due.pick(Round { now, slots, running, estimates }, &mut picked);
        let (due, mut unknown_spare) = (picked.len(), Unknown::Not);
        self.short_of_slots = self.due.is_short_of_slots();
        let used: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        if self.is_spare(now, used < slots, unknown) {
            let estimates = &self.estimates;
            unknown_spare = self.spare.pick(Round { now, slots, running, estimates }, &mut picked);
            picked[due..].iter_mut().for_each(|pick| pick.spare = true);
            self.short_of_slots |= self.spare.is_short_of_slots();
        }
        self.passed_over = unknown.max(unknown_spare) > Unknown::Not;
        picked
    }

    /// Whether spare room may be used by flexible tasks: no, if other tasks may certainly start; if that is unknown,
    /// only after the room was spare for some time.
    fn is_spare(&mut self, now: Timestamp, room: bool, unknown: Unknown) -> bool {
        if !room || unknown == Unknown::Surely {
            self.room_since = None;
            return false;
        }
        let since = *self.room_since.get_or_insert(now);
        unknown == Unknown::Not || now - since >= KEPT
    }

    /// Whether the last pick skipped a tenant whose next task was not read.
    #[must_use]
    pub const fn was_passed_over(&self) -> bool {
        self.passed_over
    }

    /// Whether slots were left in the last pick and the next task needed more: it waits for room.
    #[must_use]
    pub const fn was_short_of_slots(&self) -> bool {
        self.short_of_slots
    }

    /// Tenants whose tasks waited for the tenant's limit of running tasks in the last pick.
    pub fn held_back(&self) -> impl Iterator<Item = TenantId> {
        self.due.held_back().iter().chain(self.spare.held_back()).copied()
    }

    /// Refunds a pick that was not dispatched. It waits again only if it is offered again.
    pub fn undo(&mut self, pick: &Pick) {
        self.lane_of(pick).accounts.refund(pick.charge);
    }

    /// Records that a pick was dispatched at `now`: from here on its charge follows its run time until [`Self::ended`].
    /// Without this call the estimate stays.
    pub fn dispatched(&mut self, now: Timestamp, pick: &Pick) {
        let Candidate { task, name, .. } = pick.candidate;
        let lane = self.lane_of(pick);
        lane.charges.open(&mut lane.accounts, (task, name), pick.charge, now);
    }

    /// Records the end of an attempt after `used` (0: never ran) and updates the estimate of its name.
    pub fn ended(&mut self, task: TaskId, used: Duration) {
        for lane in [&mut self.due, &mut self.spare] {
            let closed = lane.charges.close(&mut lane.accounts, task, used);
            if let Some((tenant, name)) = closed.filter(|_| used > Duration::ZERO) {
                self.estimates.ended(tenant, name, used);
            }
        }
    }

    /// The state for the next batcher: how far each waiting or indebted tenant is ahead. Waiting ones are first, in
    /// dispatch order.
    pub fn ahead(&self) -> impl Iterator<Item = (TenantId, f64)> {
        self.due.accounts.ahead()
    }

    /// Restores the state of [`Self::ahead`].
    pub fn restore(&mut self, ahead: impl IntoIterator<Item = (TenantId, f64)>) {
        self.due.accounts.restore(ahead);
    }

    /// Adds a task that runs since `since` and was dispatched by another batcher: from `now` its charge follows its run
    /// time. Its earlier charge is unknown, but at least the time that has passed.
    pub fn runs(&mut self, now: Timestamp, task: &Candidate, since: Timestamp) {
        let passed = (now - since).to_std().unwrap_or_default();
        let Lane { accounts, charges, .. } = &mut self.due;
        let charge = accounts.charged(task.tenant, task.share, passed);
        charges.open(accounts, (task.task, task.name), charge, since);
    }

    /// Up to `most` attempts, with their start, to check in the database: some may have [ended](Self::ended) without a
    /// report.
    pub fn doubtful(&mut self, now: Timestamp, most: usize) -> Vec<Doubtful> {
        let mut doubtful = self.due.charges.doubtful(now, most);
        doubtful.extend(self.spare.charges.doubtful(now, most - doubtful.len()));
        doubtful
    }

    /// Drops tenants that are idle and owe nothing.
    pub fn forget_idle(&mut self) {
        self.due.accounts.forget_idle();
        self.spare.accounts.forget_idle();
    }

    /// Number of waiting tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.due.len() + self.spare.len()
    }

    /// Whether no task waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    const fn lane_of(&mut self, pick: &Pick) -> &mut Lane {
        if pick.spare { &mut self.spare } else { &mut self.due }
    }
}

#[cfg(test)]
mod tests;
