//! The stored fairness state of tenants.
//!
//! Stored about once a second: a new batcher continues from it, and `explain` reads the position of a tenant from it.

use domain::batch::{Running, Turns};
use domain::id::TenantId;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use store::turn::{PoolTurn, TenantTurn};

/// Tenants stored at a time: those that are next, and some of the others in rotation.
const MOST: usize = 1000;
/// Half-life of the rate, seconds.
const HALF_LIFE_S: f64 = 3.0;

/// Recent dispatches of a pool.
#[derive(Debug)]
pub(super) struct Standing {
    /// Tasks dispatched since the last store, and the rate before.
    rates: HashMap<TenantId, (u64, f64)>,
    last: Option<PoolTurn>,
    /// Position of the rotation.
    from: usize,
}

impl Default for Standing {
    fn default() -> Self {
        Self { rates: HashMap::new(), last: None, from: MOST / 2 }
    }
}

impl Standing {
    pub(super) fn add_dispatched(&mut self, tenants: impl Iterator<Item = TenantId>) {
        for tenant in tenants {
            self.rates.entry(tenant).or_default().0 += 1;
        }
    }

    pub(super) const fn set_pool(&mut self, turn: PoolTurn) {
        self.last = Some(turn);
    }

    /// What to store, `passed` after the last time.
    pub(super) fn turns_to_store(
        &mut self,
        passed: Duration,
        turns: &Turns,
        running: &Running,
    ) -> Option<(PoolTurn, Vec<TenantTurn>)> {
        let of_pool = self.last?;
        let passed_s = passed.as_secs_f64().max(0.001);
        let fade = 0.5f64.powf(passed_s / HALF_LIFE_S);
        for (count, rate) in self.rates.values_mut() {
            *rate = *rate * fade + (*count as f64 / passed_s) * (1.0 - fade);
            *count = 0;
        }
        self.rates.retain(|_, (_, rate)| *rate > 0.001);
        let held_back: HashSet<TenantId> = turns.held_back().collect();
        let ahead: Vec<_> = turns.ahead().collect();
        let known: HashSet<TenantId> = ahead.iter().map(|(tenant, _)| *tenant).collect();
        // A tenant at its own limit has no position: it is dispatched as soon as it may run.
        let aside = held_back.difference(&known).map(|tenant| (0, (*tenant, 0.0)));
        let all: Vec<_> = aside.chain(ahead.into_iter().enumerate()).collect();
        let (next, others) = all.split_at(all.len().min(MOST / 2));
        let from = if self.from < all.len() { self.from } else { next.len() };
        let until = all.len().min(from + MOST / 2);
        self.from = until.max(MOST / 2);
        let others = &others[from - next.len()..until - next.len()];
        let turn = |(before, (tenant, ahead)): &(usize, (TenantId, f64))| TenantTurn {
            tenant: *tenant,
            ahead: *ahead,
            before: u32::try_from(*before).unwrap_or(u32::MAX),
            rate: self.rates.get(tenant).map_or(0.0, |(_, rate)| *rate),
            at_limit: running.left(*tenant) == Some(0) || held_back.contains(tenant),
        };
        Some((of_pool, next.iter().chain(others).map(turn).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::batch::{Candidate, Priority, StopReason};
    use domain::fairness::NameKey;
    use domain::id::TaskId;
    use domain::time::Timestamp;

    fn task(tenant: TenantId) -> Candidate {
        Candidate {
            tenant,
            task: TaskId::fresh(),
            due: Timestamp::default(),
            start_deadline: Timestamp::default(),
            priority: Priority::default(),
            slots: 1,
            share: 0.1,
            name: NameKey(0),
            prepaid: true,
            cap: Duration::ZERO,
            concurrency_key: None,
            spare_until: None,
        }
    }

    #[test]
    fn a_tenant_that_waits_for_nothing_but_its_own_limit_is_stored_as_such() {
        let (limited, free) = (TenantId::fresh(), TenantId::fresh());
        let (mut turns, mut running, mut standing) =
            (Turns::default(), Running::default(), Standing::default());
        running.set_limits([(limited, 1)]);
        running.counted([(limited, 1)]);
        let now = Timestamp::default();
        [limited, free].into_iter().for_each(|tenant| turns.offer(now, task(tenant)));
        assert_eq!(turns.pick(now, 9, &mut running).len(), 1);
        standing.set_pool(PoolTurn {
            stopped: StopReason::Limits,
            slots: 1,
            handed_out: 1,
            rate: 0.0,
            free_slots: 1,
        });
        let (_, stored) =
            standing.turns_to_store(Duration::from_secs(1), &turns, &running).unwrap();
        let of_limited: Vec<_> = stored.iter().filter(|turn| turn.tenant == limited).collect();
        assert!(matches!(of_limited[..], [TenantTurn { at_limit: true, .. }]), "{stored:?}");
        assert!(stored.iter().all(|turn| turn.at_limit == (turn.tenant == limited)), "{stored:?}");
    }
}
