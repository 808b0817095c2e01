//! Tasks of all tenants that compete for the same room, and their dispatch order.
//!
//! Tenants are ordered by what they have consumed ([`crate::fairness`]); within a tenant its queue decides. The cost of
//! a pick depends on what is picked, not on the backlog: tenants with tasks are indexed by virtual time.

use super::queue::{Next, Queue};
use super::running::Verdict;
use super::unread::{Unknown, Unread};
use super::{Candidate, ConcurrencyKey, Running, Turn, Window};
use crate::fairness::{Accounts, Charge, Charges, Estimates};
use crate::id::TenantId;
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// A picked task and its charge.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// The candidate.
    pub candidate: Candidate,
    pub(super) charge: Charge,
    /// A flexible task in spare room.
    pub(super) spare: bool,
}

/// Input of a pick.
pub(super) struct Round<'a> {
    pub now: Timestamp,
    pub slots: u64,
    pub running: &'a mut Running,
    pub estimates: &'a Estimates,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    pub(super) accounts: Accounts,
    pub(super) charges: Charges,
    queues: HashMap<TenantId, Queue>,
    /// Tenants at their limits: they wait for themselves and have no claim on room.
    held_back: Vec<TenantId>,
    /// In the last pick the next task needed more slots than were left.
    short_of_slots: bool,
    /// Tasks whose concurrency key is at its limit.
    parked: HashMap<(TenantId, ConcurrencyKey), BTreeMap<Turn, Candidate>>,
}

impl Lane {
    pub(super) fn put(&mut self, now: Timestamp, candidate: Candidate) {
        self.accounts.wait(candidate.tenant);
        self.queues.entry(candidate.tenant).or_default().put(now, candidate);
    }

    /// Removes a task; returns whether it was present.
    pub(super) fn remove(&mut self, candidate: &Candidate) -> bool {
        let tenant = candidate.tenant;
        let queue = self.queues.get_mut(&tenant);
        let waited = queue.is_some_and(|queue| queue.remove(candidate));
        self.leave_if_empty(tenant);
        let key = candidate.concurrency_key.clone().map(|key| (tenant, key));
        let parked = key.and_then(|key| self.parked.get_mut(&key));
        waited || parked.is_some_and(|tasks| tasks.remove(&candidate.turn()).is_some())
    }

    /// Forgets the waiting tasks, but not which tenants wait.
    pub(super) fn forget_tasks(&mut self) {
        self.parked.clear();
        self.queues.values_mut().for_each(|queue| queue.clear(Unread::something()));
    }

    /// Sets the first tasks of `tenant` to those of `windows`; `others`: some of its strands were not read. A tenant
    /// with tasks before and after has not been idle.
    pub(super) fn see(
        &mut self,
        now: Timestamp,
        tenant: TenantId,
        windows: Vec<Window>,
        others: bool,
    ) {
        let unread = if others { Unread::something() } else { Unread::default() };
        let queue = self.queues.entry(tenant).or_default();
        queue.clear(unread);
        for window in windows {
            queue.more(&window);
            window.tasks.into_iter().for_each(|candidate| queue.put(now, candidate));
        }
        if queue.is_empty() { self.leave_if_empty(tenant) } else { self.accounts.wait(tenant) }
    }

    /// Tenants in dispatch order.
    pub(super) fn turns(&self) -> impl Iterator<Item = TenantId> {
        self.accounts.turns()
    }

    /// In the last pick the next task needed more slots than were left.
    pub(super) const fn is_short_of_slots(&self) -> bool {
        self.short_of_slots
    }

    /// Tenants whose tasks wait for the tenant's limit of running tasks.
    pub(super) fn held_back(&self) -> &[TenantId] {
        &self.held_back
    }

    pub(super) fn len(&self) -> usize {
        self.queues.values().map(Queue::len).sum::<usize>()
            + self.parked.values().map(BTreeMap::len).sum::<usize>()
    }

    pub(super) fn advance(&mut self, now: Timestamp) {
        self.charges.advance(&mut self.accounts, now);
        self.accounts.advance();
    }

    /// Adds to `picked` what fits into `slots` with what is already picked.
    ///
    /// A tenant whose next task was not read is skipped and stays next; returns whether there was one.
    ///
    /// A task larger than what is left ends its tenant's part in this pick: no other task of the tenant overtakes it,
    /// so small tasks do not starve large ones. The first pick is always allowed; otherwise a task larger than K would
    /// never be dispatched.
    pub(super) fn pick(&mut self, round: Round<'_>, picked: &mut Vec<Pick>) -> Unknown {
        let Round { now, slots, running, estimates } = round;
        self.short_of_slots = false;
        self.let_in(now, running);
        let taken: u64 = picked.iter().map(|pick| u64::from(pick.candidate.slots)).sum();
        let mut left = slots.saturating_sub(taken);
        let (mut passed_over, mut unknown) = (Vec::new(), Unknown::Not);
        while left > 0 {
            let Some(tenant) = self.accounts.turns().next() else { break };
            let Some(queue) = self.queues.get_mut(&tenant) else {
                self.accounts.leave(tenant);
                continue;
            };
            let first = match queue.next(now) {
                Next::Task(first) => first.clone(),
                Next::Unread(what) => {
                    unknown = unknown.max(what);
                    self.accounts.leave(tenant);
                    passed_over.push(tenant);
                    continue;
                }
                Next::Nothing => {
                    self.leave_if_empty(tenant);
                    continue;
                }
            };
            if u64::from(first.slots) > left && !picked.is_empty() {
                self.short_of_slots = true;
                self.accounts.leave(tenant);
                passed_over.push(tenant);
                continue;
            }
            match running.start(&first) {
                Verdict::Starts => {
                    queue.went(now, &first);
                    left = left.saturating_sub(u64::from(first.slots));
                    let charge =
                        self.accounts.charge(tenant, first.share, first.expected(estimates));
                    picked.push(Pick { candidate: first, charge, spare: false });
                    self.leave_if_empty(tenant);
                }
                Verdict::TenantFull => {
                    self.accounts.leave(tenant);
                    self.held_back.push(tenant);
                }
                Verdict::KeyFull(key) => {
                    queue.remove(&first);
                    queue.hold_back(&key);
                    self.parked.entry((tenant, key)).or_default().insert(first.turn(), first);
                    self.leave_if_empty(tenant);
                }
            }
        }
        passed_over.into_iter().for_each(|tenant| self.accounts.resume(tenant));
        self.accounts.advance();
        unknown
    }

    /// Restores tenants that limits have held back.
    fn let_in(&mut self, now: Timestamp, running: &Running) {
        for tenant in std::mem::take(&mut self.held_back) {
            if self.queues.contains_key(&tenant) {
                self.accounts.wait(tenant);
            }
        }
        let mut free = Vec::new();
        for ((tenant, key), tasks) in &mut self.parked {
            let left = usize::try_from(running.left_of_key(*tenant, key)).unwrap_or(usize::MAX);
            free.extend(std::iter::from_fn(|| tasks.pop_first()).map(|(_, task)| task).take(left));
        }
        self.parked.retain(|_, tasks| !tasks.is_empty());
        free.into_iter().for_each(|candidate| self.put(now, candidate));
    }

    fn leave_if_empty(&mut self, tenant: TenantId) {
        if self.queues.get(&tenant).is_none_or(Queue::is_empty) {
            self.queues.remove(&tenant);
            self.accounts.leave(tenant);
        }
    }
}
