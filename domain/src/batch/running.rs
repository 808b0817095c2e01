//! How many tasks may start under the limits of running tasks, by tenant and by concurrency key.
//!
//! Used by the active batcher, the only one that dispatches. It counts queued, running and cancelling tasks in the
//! database and adds its own dispatches since: so the value is never too low, and the limits hold at every instant.
//! Ends are seen at the next count. Each count replaces all values, so none can leak.

use super::{Candidate, ConcurrencyKey};
use crate::id::TenantId;
use std::collections::HashMap;

/// Use and limits of tenants and keys.
#[derive(Debug, Clone, Default)]
pub struct Running {
    tenants: HashMap<TenantId, Held>,
    keys: HashMap<(TenantId, ConcurrencyKey), Held>,
    held_back: bool,
}

/// Running tasks and their limit.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    tasks: u64,
    limit: Option<u64>,
}

/// Whether a task may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may start, and is counted.
    Starts,
    /// Its tenant is at its limit.
    TenantFull,
    /// Its key is at its limit; others of its tenant may start.
    KeyFull(ConcurrencyKey),
}

impl Held {
    fn left(self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.tasks))
    }

    /// Of a key, which always has a limit.
    fn left_of_key(self) -> u64 {
        self.limit.unwrap_or(ConcurrencyKey::USUAL_LIMIT.into()).saturating_sub(self.tasks)
    }
}

impl Running {
    /// Replaces the use of tenants by a count, which must include every earlier dispatch.
    pub fn counted(&mut self, held: impl IntoIterator<Item = (TenantId, u64)>) {
        count(&mut self.tenants, held);
        self.tenants.retain(|_, held| held.tasks > 0 || held.limit.is_some());
        self.held_back = false;
    }

    /// The same for concurrency keys. Unused ones are dropped with their limits.
    pub fn counted_keys(
        &mut self,
        held: impl IntoIterator<Item = ((TenantId, ConcurrencyKey), u64)>,
    ) {
        count(&mut self.keys, held);
        self.keys.retain(|_, held| held.tasks > 0);
    }

    /// Replaces all limits of tenants; 0: no task may start. Others have no limit.
    pub fn set_limits(&mut self, limits: impl IntoIterator<Item = (TenantId, u64)>) {
        self.tenants.retain(|_, held| held.tasks > 0);
        self.tenants.values_mut().for_each(|held| held.limit = None);
        for (tenant, limit) in limits {
            self.tenants.entry(tenant).or_default().limit = Some(limit);
        }
    }

    /// Sets limits of concurrency keys. Others have the default limit.
    pub fn set_key_limits(
        &mut self,
        limits: impl IntoIterator<Item = ((TenantId, ConcurrencyKey), u64)>,
    ) {
        for (key, limit) in limits {
            self.keys.entry(key).or_default().limit = Some(limit);
        }
    }

    /// Tasks that `tenant` may still start; `None` without a limit.
    #[must_use]
    pub fn left(&self, tenant: TenantId) -> Option<u64> {
        self.tenants.get(&tenant).filter(|held| held.limit.is_some()).map(|held| held.left())
    }

    /// How many tasks of `tenant` to read: one more than may start, to detect that some are held back; 0 if none may
    /// start.
    #[must_use]
    pub fn worth_reading(&self, tenant: TenantId) -> u64 {
        let held = self.tenants.get(&tenant).copied().unwrap_or_default();
        if held.limit == Some(0) { 0 } else { held.left().saturating_add(1) }
    }

    /// Number of keys in memory.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Tasks of this key that may still start.
    pub(super) fn left_of_key(&self, tenant: TenantId, key: &ConcurrencyKey) -> u64 {
        self.keys.get(&(tenant, key.clone())).copied().unwrap_or_default().left_of_key()
    }

    /// Counts `candidate` if it may start. Call it before the dispatch.
    pub(super) fn start(&mut self, candidate: &Candidate) -> Verdict {
        let tenant = candidate.tenant;
        let of_tenant = self.tenants.entry(tenant).or_default();
        if of_tenant.left() == 0 {
            self.held_back |= of_tenant.limit != Some(0);
            return Verdict::TenantFull;
        }
        if let Some(key) = &candidate.concurrency_key {
            let of_key = self.keys.entry((tenant, key.clone())).or_default();
            if of_key.left_of_key() == 0 {
                self.held_back |= of_key.limit != Some(0);
                return Verdict::KeyFull(key.clone());
            }
            of_key.tasks += 1;
        }
        of_tenant.tasks += 1;
        Verdict::Starts
    }

    /// Subtracts a task that was certainly not dispatched, or has ended.
    pub fn undone(&mut self, candidate: &Candidate) {
        let key = candidate.concurrency_key.as_ref();
        let of_key = key.and_then(|key| self.keys.get_mut(&(candidate.tenant, key.clone())));
        for held in self.tenants.get_mut(&candidate.tenant).into_iter().chain(of_key) {
            held.tasks = held.tasks.saturating_sub(1);
        }
    }

    /// Whether a limit has held back a task since the last count, so that another count may help.
    #[must_use]
    pub const fn holds_back(&self) -> bool {
        self.held_back
    }
}

fn count<Id: Eq + std::hash::Hash>(
    known: &mut HashMap<Id, Held>,
    held: impl IntoIterator<Item = (Id, u64)>,
) {
    known.values_mut().for_each(|held| held.tasks = 0);
    for (id, tasks) in held {
        known.entry(id).or_default().tasks = tasks;
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::tests::{task, tenant};
    use super::super::{Pick, Turns};
    use super::*;
    use crate::time::Timestamp;
    use proptest::prelude::*;

    /// Picks up to 100 of `tasks`.
    fn pick(running: &mut Running, tasks: impl IntoIterator<Item = Candidate>) -> Vec<Pick> {
        let mut turns = Turns::default();
        tasks.into_iter().for_each(|task| turns.offer(Timestamp::UNIX_EPOCH, task));
        turns.pick(Timestamp::UNIX_EPOCH, 100, running)
    }

    #[test]
    fn the_most_urgent_go_and_the_rest_is_held_back() {
        let mut running = Running::default();
        running.set_limits([(tenant(1), 3)]);
        running.counted([(tenant(1), 1)]);
        let picked = pick(&mut running, (0..5).map(|n| task(1, n, 100 - n as i64)));
        let numbers: Vec<_> = picked.iter().map(|p| p.candidate.task.0.as_u128() % 1000).collect();
        assert_eq!(numbers, [4, 3]);
        assert!(running.holds_back());
        running.counted([]);
        assert!(!running.holds_back());
        assert_eq!(running.left(tenant(1)), Some(3));
    }

    #[test]
    fn a_tenant_that_may_start_nothing_is_not_looked_at_and_waits_for_no_count() {
        let mut running = Running::default();
        running.set_limits([(tenant(1), 0), (tenant(2), 10)]);
        running.counted([(tenant(2), 9)]);
        assert!(pick(&mut running, [task(1, 1, 1)]).is_empty());
        assert!(!running.holds_back());
        let looks = [1, 2, 3].map(|owner| running.worth_reading(tenant(owner)));
        assert_eq!(looks, [0, 2, u64::MAX]);
    }

    #[test]
    fn without_a_limit_everything_goes() {
        let mut running = Running::default();
        assert_eq!(pick(&mut running, (0..50).map(|n| task(1, n, 1))).len(), 50);
        assert!(!running.holds_back());
        assert_eq!(running.left(tenant(1)), None);
    }

    #[test]
    fn a_key_without_a_known_limit_has_the_usual_one() {
        let key = ConcurrencyKey("k".into());
        let keyed = |n| Candidate { concurrency_key: Some(key.clone()), ..task(1, n, 1) };
        let mut running = Running::default();
        assert_eq!(pick(&mut running, (0..9).map(keyed)).len(), 1);
        running.set_key_limits([((tenant(1), key.clone()), 3)]);
        assert_eq!(pick(&mut running, (0..9).map(keyed)).len(), 2);
    }

    #[test]
    fn keys_that_hold_nothing_are_forgotten_with_the_next_count() {
        let mut running = Running::default();
        let key = |n: u32| (tenant(1), ConcurrencyKey(n.to_string().into()));
        running.set_key_limits((0..1000).map(|n| (key(n), 1)));
        assert_eq!(running.keys(), 1000);
        running.counted_keys([(key(1), 1), (key(2000), 1)]);
        assert_eq!(running.keys(), 2);
        assert_eq!(running.left_of_key(tenant(1), &key(1).1), 0);
    }

    #[test]
    fn limits_that_are_lifted_are_gone_and_what_is_held_is_not() {
        let mut running = Running::default();
        running.set_limits([(tenant(1), 2)]);
        running.counted([(tenant(1), 2)]);
        running.set_limits([]);
        assert_eq!(running.left(tenant(1)), None);
        running.set_limits([(tenant(1), 3)]);
        assert_eq!(running.left(tenant(1)), Some(1));
    }

    proptest! {
        /// Whatever is handed out, fails, ends and is counted in whatever order: never more than the limit at once.
        #[test]
        fn the_limits_hold_at_every_instant(
            limit in 1u64..6,
            key_limit in 1u64..6,
            steps in proptest::collection::vec((0u8..4, 1usize..8), 1..60),
        ) {
            let key = ConcurrencyKey("k".into());
            let mut running = Running::default();
            running.set_limits([(tenant(1), limit)]);
            running.set_key_limits([((tenant(1), key.clone()), key_limit)]);
            let mut truth: Vec<Candidate> = Vec::new();
            let keyed = |truth: &[Candidate]| truth.iter().filter(|c| c.concurrency_key.is_some()).count() as u64;
            for (kind, size) in steps {
                match kind {
                    0 => {
                        running.counted([(tenant(1), truth.len() as u64)]);
                        running.counted_keys([((tenant(1), key.clone()), keyed(&truth))]);
                    }
                    // Some end, and nobody tells.
                    1 => truth.truncate(truth.len().saturating_sub(size)),
                    _ => {
                        let wanted = (0..size as u128).map(|n| Candidate {
                            concurrency_key: (n % 2 == 0).then(|| key.clone()),
                            ..task(1, n, 1)
                        });
                        for (at, pick) in pick(&mut running, wanted).into_iter().enumerate() {
                            if kind == 3 && at % 2 == 1 {
                                running.undone(&pick.candidate);
                            } else {
                                truth.push(pick.candidate);
                            }
                        }
                    }
                }
                prop_assert!(truth.len() as u64 <= limit, "{} of {limit}", truth.len());
                prop_assert!(keyed(&truth) <= key_limit, "{} of {key_limit}", keyed(&truth));
            }
        }
    }
}
