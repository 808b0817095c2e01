//! How many tasks each tenant may still start, by its limit on running ones.
//!
//! Kept by the active batcher, which alone hands tasks out. It counts in the database what each tenant holds (queued, running,
//! cancelling) and adds what it hands out itself from then on: since nobody else adds, that is never less than the truth, and
//! the limit holds at every instant. What ends meanwhile is seen with the next count. No figure here outlives a count, so none
//! can leak.

use super::Candidate;
use crate::id::TenantId;
use std::collections::HashMap;

/// What tenants hold, and their limits.
#[derive(Debug, Clone, Default)]
pub struct Running {
    held: HashMap<TenantId, u64>,
    limits: HashMap<TenantId, u64>,
    held_back: bool,
}

impl Running {
    /// Replaces what is known by a count. Everything that was handed out before must be in it.
    pub fn counted(&mut self, held: impl IntoIterator<Item = (TenantId, u64)>) {
        self.held = held.into_iter().collect();
        self.held_back = false;
    }

    /// Replaces all limits; 0 is for a tenant that may start nothing. Who is not named here has none.
    pub fn set_limits(&mut self, limits: impl IntoIterator<Item = (TenantId, u64)>) {
        self.limits = limits.into_iter().collect();
    }

    /// Tasks that `tenant` may still start; `None` without a limit.
    #[must_use]
    pub fn left(&self, tenant: TenantId) -> Option<u64> {
        let limit = *self.limits.get(&tenant)?;
        Some(limit.saturating_sub(self.held.get(&tenant).copied().unwrap_or_default()))
    }

    /// Of each tenant that may start fewer than `most`, how many are worth looking at: one more than it may start, which tells
    /// that some are held back.
    #[must_use]
    pub fn fewer(&self, most: u64) -> Vec<(TenantId, u64)> {
        let of = |(tenant, limit): (&TenantId, &u64)| match self.left(*tenant) {
            _ if *limit == 0 => Some((*tenant, 0)),
            Some(left) if left < most => Some((*tenant, left + 1)),
            _ => None,
        };
        self.limits.iter().filter_map(of).collect()
    }

    /// Keeps of `candidates` what may start: of each tenant the most urgent.
    #[must_use]
    pub fn admit(&mut self, mut candidates: Vec<Candidate>) -> Vec<Candidate> {
        candidates.sort_by_key(|c| (c.start_deadline, c.task));
        let mut admitted: HashMap<TenantId, u64> = HashMap::new();
        candidates.retain(|candidate| {
            let Some(left) = self.left(candidate.tenant) else { return true };
            let before = admitted.entry(candidate.tenant).or_default();
            *before += 1;
            let may = *before <= left;
            self.held_back |= !may && self.limits.get(&candidate.tenant) != Some(&0);
            may
        });
        candidates
    }

    /// A task of `tenant` is about to be handed out. Say so before it can have happened.
    pub fn started(&mut self, tenant: TenantId) {
        *self.held.entry(tenant).or_default() += 1;
    }

    /// It was not handed out, for certain.
    pub fn undone(&mut self, tenant: TenantId) {
        if let Some(held) = self.held.get_mut(&tenant) {
            *held = held.saturating_sub(1);
        }
    }

    /// Since the last count a task could not start for its tenant's limit: another count may let it go.
    #[must_use]
    pub const fn holds_back(&self) -> bool {
        self.held_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TaskId;
    use crate::time::Timestamp;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn task(owner: u128, number: u128) -> Candidate {
        Candidate {
            tenant: tenant(owner),
            task: TaskId(Uuid::from_u128(owner * 1000 + number)),
            start_deadline: Timestamp::UNIX_EPOCH - chrono::TimeDelta::seconds(number as i64),
            slots: 1,
            cost: 1.0,
        }
    }

    #[test]
    fn the_most_urgent_go_and_the_rest_is_held_back() {
        let mut running = Running::default();
        running.set_limits([(tenant(1), 3)]);
        running.counted([(tenant(1), 1)]);
        let admitted = running.admit((0..5).map(|n| task(1, n)).collect());
        let numbers: Vec<_> = admitted.iter().map(|c| c.task.0.as_u128() % 1000).collect();
        assert_eq!(numbers, [4, 3]);
        assert!(running.holds_back());
        running.counted([]);
        assert!(!running.holds_back());
    }

    #[test]
    fn a_tenant_that_may_start_nothing_is_not_looked_at_and_waits_for_no_count() {
        let mut running = Running::default();
        running.set_limits([(tenant(1), 0), (tenant(2), 10)]);
        running.counted([(tenant(2), 9)]);
        assert!(running.admit(vec![task(1, 1)]).is_empty());
        assert!(!running.holds_back());
        let mut fewer = running.fewer(50);
        fewer.sort_unstable();
        assert_eq!(fewer, [(tenant(1), 0), (tenant(2), 2)]);
        assert_eq!(running.fewer(1), [(tenant(1), 0)]);
    }

    #[test]
    fn without_a_limit_everything_goes() {
        let mut running = Running::default();
        assert_eq!(running.admit((0..50).map(|n| task(1, n)).collect()).len(), 50);
        assert!(!running.holds_back());
    }

    proptest! {
        /// Whatever is handed out, fails, ends and is counted in whatever order: never more than the limit at once.
        #[test]
        fn the_limit_holds_at_every_instant(
            limit in 1u64..6,
            steps in proptest::collection::vec((0u8..4, 1usize..8), 1..60),
        ) {
            let mut running = Running::default();
            running.set_limits([(tenant(1), limit)]);
            let mut truth = 0u64;
            for (kind, size) in steps {
                match kind {
                    0 => running.counted([(tenant(1), truth)]),
                    // Some end, and nobody tells.
                    1 => truth = truth.saturating_sub(size as u64),
                    _ => {
                        let picked = running.admit((0..size as u128).map(|n| task(1, n)).collect());
                        for (at, candidate) in picked.iter().enumerate() {
                            running.started(candidate.tenant);
                            if kind == 3 && at % 2 == 1 {
                                running.undone(candidate.tenant);
                            } else {
                                truth += 1;
                            }
                        }
                    }
                }
                prop_assert!(truth <= limit, "{truth} of {limit}");
            }
        }
    }
}
