//! Tasks of all tenants that compete for the same room, and whose turn it is among them.
//!
//! Tenants take turns by what they have consumed ([`crate::fairness`]), and inside one its queue decides. What a pick costs
//! follows what is picked, not what waits: tenants stand in an index by virtual time, and only those with tasks are known.

use super::queue::{Next, Queue};
use super::running::Verdict;
use super::unseen::{Unknown, Unseen};
use super::{Candidate, ConcurrencyKey, Running, Turn, Window};
use crate::fairness::{Accounts, Charge, Charges, Estimates};
use crate::id::TenantId;
use crate::time::Timestamp;
use std::collections::{BTreeMap, HashMap};

/// A task that was picked, and what its tenant was charged.
#[derive(Debug, Clone, PartialEq)]
pub struct Pick {
    /// Which.
    pub candidate: Candidate,
    pub(super) charge: Charge,
    /// It was a flexible task's turn on spare room.
    pub(super) spare: bool,
}

/// What a pick goes by.
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
    /// Tenants at their limits: while they wait for themselves they have no claim on what others use.
    held_back: Vec<TenantId>,
    /// In the last pick a task whose turn it was needed more slots than were left.
    short_of_slots: bool,
    /// Tasks whose concurrency key is at its limit.
    parked: HashMap<(TenantId, ConcurrencyKey), BTreeMap<Turn, Candidate>>,
}

impl Lane {
    pub(super) fn put(&mut self, now: Timestamp, candidate: Candidate) {
        self.accounts.wait(candidate.tenant);
        self.queues.entry(candidate.tenant).or_default().put(now, candidate);
    }

    /// Takes a task out; says whether it was there.
    pub(super) fn remove(&mut self, candidate: &Candidate) -> bool {
        let tenant = candidate.tenant;
        let queue = self.queues.get_mut(&tenant);
        let waited = queue.is_some_and(|queue| queue.remove(candidate));
        self.leave_if_empty(tenant);
        let key = candidate.concurrency_key.clone().map(|key| (tenant, key));
        let parked = key.and_then(|key| self.parked.get_mut(&key));
        waited || parked.is_some_and(|tasks| tasks.remove(&candidate.turn()).is_some())
    }

    /// What waits is not known any more, only whose.
    pub(super) fn forget_tasks(&mut self) {
        self.parked.clear();
        self.queues.values_mut().for_each(|queue| queue.clear(Unseen::something()));
    }

    /// The first of `tenant`'s tasks are those of `windows`; `others` of its strands were not looked at.
    /// A tenant that has some both before and after has not been idle.
    pub(super) fn see(
        &mut self,
        now: Timestamp,
        tenant: TenantId,
        windows: Vec<Window>,
        others: bool,
    ) {
        let unseen = if others { Unseen::something() } else { Unseen::default() };
        let queue = self.queues.entry(tenant).or_default();
        queue.clear(unseen);
        for window in windows {
            queue.more(&window);
            window.tasks.into_iter().for_each(|candidate| queue.put(now, candidate));
        }
        if queue.is_empty() { self.leave_if_empty(tenant) } else { self.accounts.wait(tenant) }
    }

    /// Tenants in the order of their turns.
    pub(super) fn turns(&self) -> impl Iterator<Item = TenantId> {
        self.accounts.turns()
    }

    /// In the last pick a task whose turn it was needed more slots than were left.
    pub(super) const fn is_short_of_slots(&self) -> bool {
        self.short_of_slots
    }

    /// Tenants with tasks that wait for the tenant's own limit on running tasks.
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

    /// Adds to `picked` what fits into `slots` together with what is there already.
    ///
    /// Whose turn belongs to something that is not known here is passed over, and keeps it: says whether that was so.
    ///
    /// A task larger than what is left ends its tenant's part in this pick: nothing of that tenant overtakes it, so large tasks
    /// are not starved by small ones. A first pick is always allowed, else a task larger than K would never move.
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
                Next::Unseen(what) => {
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

    /// Lets those wait again that limits have held back.
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
