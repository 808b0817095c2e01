//! Weighted start-time fair queueing over tenants.
//!
//! Each tenant has a virtual finish time; its next task starts at the later of that and the virtual
//! time, and is charged cost / weight. The least start goes next, and becomes the virtual time. An
//! idle tenant hoards no credit: on return it starts at the virtual time. Needs no knowledge of capacity, so it
//! suits executors that come and go (Goyal, Vin, Cheng: "Start-time Fair Queueing", SIGCOMM 1996).

use crate::id::TenantId;
use std::collections::BTreeMap;

/// The accounts of all tenants of one pool. In memory, kept by the active batcher.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    virtual_time: f64,
    finish: BTreeMap<TenantId, f64>,
    weights: BTreeMap<TenantId, f64>,
}

impl Accounts {
    /// Sets a tenant's weight; 1 unless set. Anything not above 0 counts as 1. Acts from the next charge on.
    pub fn set_weight(&mut self, tenant: TenantId, weight: f64) {
        if weight.is_finite() && weight > 0.0 {
            self.weights.insert(tenant, weight);
        } else {
            self.weights.remove(&tenant);
        }
    }

    /// Replaces all weights: what is not named here has weight 1.
    pub fn set_weights(&mut self, weights: impl Iterator<Item = (TenantId, f64)>) {
        self.weights.clear();
        for (tenant, weight) in weights {
            self.set_weight(tenant, weight);
        }
    }

    /// The tenant among `waiting` whose turn it is; ties go to the least id.
    #[must_use]
    pub fn next_of(&self, waiting: impl Iterator<Item = TenantId>) -> Option<TenantId> {
        waiting.min_by(|a, b| self.start(*a).total_cmp(&self.start(*b)).then(a.cmp(b)))
    }

    /// Charges `cost` (slot-seconds, 0 upwards) for a dispatch and moves the virtual time to its start.
    pub fn charge(&mut self, tenant: TenantId, cost: f64) {
        let start = self.start(tenant);
        self.virtual_time = start;
        self.finish.insert(tenant, start + cost.max(0.0) / self.weight(tenant));
    }

    /// Gives a charge back: the task was not placed and keeps its place.
    pub fn refund(&mut self, tenant: TenantId, cost: f64) {
        let weight = self.weight(tenant);
        if let Some(finish) = self.finish.get_mut(&tenant) {
            *finish -= cost.max(0.0) / weight;
        }
    }

    /// Forgets tenants whose finish lies behind the virtual time: to return is the same as to be new.
    pub fn forget_idle(&mut self) {
        let now = self.virtual_time;
        self.finish.retain(|_, finish| *finish > now);
    }

    /// Tenants with an account, for metrics and tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.finish.len()
    }

    /// True when no tenant has an account.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finish.is_empty()
    }

    fn start(&self, tenant: TenantId) -> f64 {
        self.finish.get(&tenant).copied().unwrap_or(self.virtual_time).max(self.virtual_time)
    }

    fn weight(&self, tenant: TenantId) -> f64 {
        self.weights.get(&tenant).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn serve(accounts: &mut Accounts, tenants: &[(TenantId, f64)], turns: usize) -> Vec<f64> {
        let mut served = vec![0.0; tenants.len()];
        for _ in 0..turns {
            let next = accounts.next_of(tenants.iter().map(|t| t.0)).unwrap();
            let at = tenants.iter().position(|t| t.0 == next).unwrap();
            accounts.charge(next, tenants[at].1);
            served[at] += tenants[at].1;
        }
        served
    }

    #[test]
    fn an_idle_tenant_hoards_no_credit() {
        let mut accounts = Accounts::default();
        serve(&mut accounts, &[(tenant(1), 1.0)], 1000);
        let served = serve(&mut accounts, &[(tenant(1), 1.0), (tenant(2), 1.0)], 100);
        assert!((served[0] - served[1]).abs() <= 2.0, "{served:?}");
    }

    #[test]
    fn a_refund_gives_the_turn_back() {
        let mut accounts = Accounts::default();
        accounts.charge(tenant(1), 5.0);
        accounts.charge(tenant(2), 5.0);
        accounts.refund(tenant(2), 5.0);
        assert_eq!(accounts.next_of([tenant(1), tenant(2)].into_iter()), Some(tenant(2)));
    }

    #[test]
    fn accounts_of_idle_tenants_are_forgotten() {
        let mut accounts = Accounts::default();
        for n in 0..1000 {
            accounts.charge(tenant(n), 0.001);
        }
        serve(&mut accounts, &[(tenant(1), 1.0)], 10);
        accounts.forget_idle();
        assert!(accounts.len() <= 1, "{}", accounts.len());
    }

    proptest! {
        /// The bound of the paper: two backlogged flows differ by at most one largest cost each.
        #[test]
        fn backlogged_tenants_stay_within_the_bound(costs in proptest::collection::vec(0.1f64..10.0, 2..8), turns in 50usize..400) {
            let tenants: Vec<_> = costs.iter().enumerate().map(|(i, c)| (tenant(i as u128 + 1), *c)).collect();
            let served = serve(&mut Accounts::default(), &tenants, turns);
            let largest = costs.iter().copied().fold(0.0, f64::max);
            for a in &served {
                for b in &served {
                    prop_assert!((a - b).abs() <= 2.0 * largest + 1e-6, "{:?}", served);
                }
            }
        }
    }
}
