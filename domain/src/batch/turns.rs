//! Whose turn it is: the order in which tasks of all tenants of a pool are dispatched.
//!
//! Used by the batcher and by the simulator alike; pure, so the same calls give the same picks. It holds what it is given and
//! nothing else: the batcher shows it the first tasks of those tenants whose turn it is ([`Window`]), so its memory is the
//! batcher's choice. Flexible tasks stand in a lane of their own, which has what the other leaves, until their time for that is
//! over; what they consume there does not count against their tenant's share.

use super::lane::{Lane, Round};
use super::unseen::Unknown;
use super::{Candidate, Pick, Running, Window};
use crate::fairness::{Charges, Estimates};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::collections::BTreeMap;
use std::time::Duration;

/// Room that others leave is kept so long for those of them that may be unseen, before flexible tasks have it.
const KEPT: TimeDelta = TimeDelta::milliseconds(250);

/// The tasks that wait in one pool, and the accounts of their tenants.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    due: Lane,
    spare: Lane,
    /// When the tasks in `spare` are due.
    ripe: BTreeMap<(Timestamp, TaskId), Candidate>,
    estimates: Estimates,
    passed_over: bool,
    short_of_slots: bool,
    /// Since when the tasks that are due leave room at every pick.
    room_since: Option<Timestamp>,
}

impl Turns {
    /// For a pool in which starts come up to `lag` after the turns, or ends are told so late: see [`Charges::lagging`].
    #[must_use]
    pub fn lagging(lag: Duration) -> Self {
        let mut turns = Self::default();
        for lane in [&mut turns.due, &mut turns.spare] {
            lane.charges = Charges::lagging(lag);
        }
        turns
    }

    /// Replaces all weights: what is not named here has weight 1. Acts on everything that waits.
    pub fn set_weights(&mut self, weights: impl IntoIterator<Item = (TenantId, f64)>) {
        let weights: Vec<_> = weights.into_iter().collect();
        self.due.accounts.set_weights(weights.iter().copied());
        self.spare.accounts.set_weights(weights);
    }

    /// A task waits for its turn, as of `now`.
    pub fn offer(&mut self, now: Timestamp, candidate: Candidate) {
        match candidate.spare_until.filter(|until| *until > now) {
            Some(until) => {
                self.ripe.insert((until, candidate.task), candidate.clone());
                self.spare.put(now, candidate);
            }
            None => self.due.put(now, candidate),
        }
    }

    /// Who waits goes on waiting, and what of theirs waits is to be seen anew.
    pub fn forget_tasks(&mut self) {
        self.ripe.clear();
        self.due.forget_tasks();
        self.spare.forget_tasks();
    }

    /// The first tasks of `tenant` are those of `windows`, as of `now`: without any, and without `others`, which are strands
    /// that were not looked at, it waits for nothing more.
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

    /// Those who wait, in the order of their turns; who waits for spare room only comes last.
    pub fn next(&self) -> impl Iterator<Item = TenantId> {
        self.due.turns().chain(self.spare.turns())
    }

    /// A task waits no more, though it had no turn.
    pub fn remove(&mut self, candidate: &Candidate) {
        if !self.due.remove(candidate) {
            self.spare.remove(candidate);
        }
    }

    /// Brings accounts and classes up to `now`. A pick does it too; do it before offers where none has been for long.
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

    /// Picks what fits into `slots` and may start, in the order of the turns. Each is charged, and counted as `running`.
    /// Where the turn belongs to a task that was not seen, its tenant is passed over, and has its turn the next time: see
    /// [`Self::was_passed_over`].
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

    /// Whether the room that tasks which are due have left is for flexible ones: not where more of them may surely start, and where
    /// that is not known, once they have left some for a moment. Something may always be unseen.
    fn is_spare(&mut self, now: Timestamp, room: bool, unknown: Unknown) -> bool {
        if !room || unknown == Unknown::Surely {
            self.room_since = None;
            return false;
        }
        let since = *self.room_since.get_or_insert(now);
        unknown == Unknown::Not || now - since >= KEPT
    }

    /// In the last pick somebody whose turn it was had nothing to show for it but what is unseen.
    #[must_use]
    pub const fn was_passed_over(&self) -> bool {
        self.passed_over
    }

    /// In the last pick slots were left, and a task whose turn it was needed more of them: it waits for room, whatever is left.
    #[must_use]
    pub const fn was_short_of_slots(&self) -> bool {
        self.short_of_slots
    }

    /// Tenants whose tasks wait for the tenant's own limit on running tasks, as of the last pick.
    pub fn held_back(&self) -> impl Iterator<Item = TenantId> {
        self.due.held_back().iter().chain(self.spare.held_back()).copied()
    }

    /// What was picked did not go: gives the charge back. It waits again only if it is offered again.
    pub fn undo(&mut self, pick: &Pick) {
        self.lane_of(pick).accounts.refund(pick.charge);
    }

    /// What was picked has gone, at `now`: from here on its charge follows what it takes, until it has [`Self::ended`].
    /// Without this the estimate stays.
    pub fn dispatched(&mut self, now: Timestamp, pick: &Pick) {
        let Candidate { task, name, .. } = pick.candidate;
        let lane = self.lane_of(pick);
        lane.charges.open(&mut lane.accounts, (task, name), pick.charge, now);
    }

    /// An attempt ended after `used`, 0 where it never ran: what is expected of its name follows.
    pub fn ended(&mut self, task: TaskId, used: Duration) {
        for lane in [&mut self.due, &mut self.spare] {
            let closed = lane.charges.close(&mut lane.accounts, task, used);
            if let Some((tenant, name)) = closed.filter(|_| used > Duration::ZERO) {
                self.estimates.ended(tenant, name, used);
            }
        }
    }

    /// Who waits or owes, for whoever takes over: how far each is ahead. Those that wait come first, in the order of their turns.
    pub fn ahead(&self) -> impl Iterator<Item = (TenantId, f64)> {
        self.due.accounts.ahead()
    }

    /// Goes on from what [`Self::ahead`] gave elsewhere.
    pub fn restore(&mut self, ahead: impl IntoIterator<Item = (TenantId, f64)>) {
        self.due.accounts.restore(ahead);
    }

    /// This runs since `since`, and was dispatched elsewhere: from `now` on its charge follows what it takes. What it was charged
    /// there is not known: at least what has passed.
    pub fn runs(&mut self, now: Timestamp, task: &Candidate, since: Timestamp) {
        let passed = (now - since).to_std().unwrap_or_default();
        let Lane { accounts, charges, .. } = &mut self.due;
        let charge = accounts.charged(task.tenant, task.share, passed);
        charges.open(accounts, (task.task, task.name), charge, since);
    }

    /// Up to `most` attempts, and since when they run, of which to ask whether they do: those that do not have
    /// [ended](Self::ended), and nobody told.
    pub fn doubtful(&mut self, now: Timestamp, most: usize) -> Vec<(TenantId, TaskId, Timestamp)> {
        let mut doubtful = self.due.charges.doubtful(now, most);
        doubtful.extend(self.spare.charges.doubtful(now, most - doubtful.len()));
        doubtful
    }

    /// Forgets tenants that are idle and owe nothing.
    pub fn forget_idle(&mut self) {
        self.due.accounts.forget_idle();
        self.spare.accounts.forget_idle();
    }

    /// Tasks that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.due.len() + self.spare.len()
    }

    /// True where nothing waits.
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
