//! Which tasks go next: fair across tenants, earliest start deadline first inside one.
//!
//! Called once a tick by the batcher with, per active tenant, the tasks it could start next. Takes
//! from the tenant whose virtual start is least (see [`crate::fairness::Accounts`]) until the slots are
//! used up. Pure and deterministic: the same input gives the same choice on every replica and in `sim`.

use crate::fairness::Accounts;
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use std::collections::{BTreeMap, VecDeque};

/// A task that may be dispatched.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub task: TaskId,
    /// Until when it should have started.
    pub start_deadline: Timestamp,
    /// Room it takes, in basic tasks (1 upwards).
    pub slots: u32,
    /// What it is expected to consume, in slot-seconds; the charge at dispatch.
    pub cost: f64,
}

/// Picks from `candidates` what fits into `slots`, charges `accounts`, and returns the picked in the order of their turn.
///
/// A candidate larger than what is left ends its tenant's part in this batch: nothing of that tenant
/// overtakes it, so large tasks are not starved by small ones. A first pick is always allowed when
/// there is any room, else a task larger than K would never move.
#[must_use]
pub fn select(candidates: Vec<Candidate>, slots: u64, accounts: &mut Accounts) -> Vec<Candidate> {
    let mut waiting: BTreeMap<TenantId, VecDeque<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        waiting.entry(candidate.tenant).or_default().push_back(candidate);
    }
    for queue in waiting.values_mut() {
        queue.make_contiguous().sort_by_key(|c| (c.start_deadline, c.task));
    }
    let mut left = slots;
    let mut picked = Vec::new();
    while left > 0 {
        let Some(tenant) = accounts.next_of(waiting.keys().copied()) else { break };
        let Some(queue) = waiting.get_mut(&tenant) else { break };
        let fits = queue.front().is_some_and(|c| u64::from(c.slots) <= left || picked.is_empty());
        match queue.pop_front().filter(|_| fits) {
            Some(candidate) => {
                left = left.saturating_sub(u64::from(candidate.slots));
                accounts.charge(tenant, candidate.cost);
                picked.push(candidate);
                if queue.is_empty() {
                    waiting.remove(&tenant);
                }
            }
            None => {
                waiting.remove(&tenant);
            }
        }
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn task(owner: u128, number: u128, deadline_s: i64) -> Candidate {
        Candidate {
            tenant: tenant(owner),
            task: TaskId(Uuid::from_u128(owner * 1_000_000 + number)),
            start_deadline: Timestamp::UNIX_EPOCH + chrono::TimeDelta::seconds(deadline_s),
            slots: 1,
            cost: 1.0,
        }
    }

    #[test]
    fn a_flood_takes_no_more_than_its_turn() {
        let mut all: Vec<_> = (0..1000).map(|n| task(1, n, 5)).collect();
        all.extend((0..3).map(|n| task(2, n, 900)));
        let picked = select(all, 8, &mut Accounts::default());
        assert_eq!(picked.len(), 8);
        assert_eq!(picked.iter().filter(|c| c.tenant == tenant(2)).count(), 3);
    }

    #[test]
    fn inside_a_tenant_the_earliest_deadline_goes_first() {
        let all = vec![task(1, 1, 30), task(1, 2, 10), task(1, 3, 20)];
        let order: Vec<_> = select(all, 9, &mut Accounts::default())
            .iter()
            .map(|c| c.start_deadline.timestamp())
            .collect();
        assert_eq!(order, [10, 20, 30]);
    }

    #[test]
    fn weights_divide_the_slots() {
        let mut accounts = Accounts::default();
        accounts.set_weight(tenant(1), 3.0);
        let all = (0..400).flat_map(|n| [task(1, n, 5), task(2, n, 5)]).collect();
        let picked = select(all, 400, &mut accounts);
        let heavy = picked.iter().filter(|c| c.tenant == tenant(1)).count();
        assert!((298..=302).contains(&heavy), "{heavy}");
    }

    #[test]
    fn a_large_task_is_not_overtaken_by_its_own_tenants_small_ones() {
        let large = Candidate { slots: 20, ..task(1, 1, 1) };
        let all = vec![task(2, 9, 1), large, task(1, 2, 2)];
        let picked = select(all, 5, &mut Accounts::default());
        assert!(picked.iter().all(|c| c.task != TaskId(Uuid::from_u128(1_000_002))), "{picked:?}");
    }

    #[test]
    fn no_room_means_no_pick() {
        assert!(select(vec![task(1, 1, 1)], 0, &mut Accounts::default()).is_empty());
    }
}
