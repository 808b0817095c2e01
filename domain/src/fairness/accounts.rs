//! Weighted start-time fair queueing over tenants.
//!
//! Each tenant has a tag in virtual time: its charges divided by its weight. The waiting tenant with the smallest tag
//! is next, and its tag becomes the virtual time. A tenant that begins to wait starts at the virtual time or later, so
//! idle time gives no credit. The algorithm needs no capacity, so it suits executors that join and leave (Goyal, Vin,
//! Cheng: "Start-time Fair Queueing", SIGCOMM 1996). Unlike in the paper, a charge is an estimate that is corrected
//! later.

use crate::id::TenantId;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The accounts of the tenants of one pool, in memory of the active batcher. Costs are in share-seconds: share of the
/// pool times duration.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    virtual_time: f64,
    /// Upper bound of all tags.
    ceiling: f64,
    accounts: HashMap<TenantId, Account>,
    weights: HashMap<TenantId, f64>,
    waiting: BTreeSet<(Tag, TenantId)>,
}

#[derive(Debug, Clone, Copy)]
struct Account {
    tag: f64,
    /// The virtual time when it began to wait; refunds do not bring the tag below it.
    floor: f64,
    waits: bool,
}

/// The charge of a dispatch, to compute its correction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct Charge {
    pub(super) tenant: TenantId,
    pub(super) share: f64,
    pub(super) expected: Duration,
    weight: f64,
}

/// A point in virtual time, ordered.
#[derive(Debug, Clone, Copy)]
struct Tag(f64);

impl Accounts {
    /// Replaces all weights; missing ones and those not above 0 are 1. Applies from the next charge, so to the whole
    /// backlog.
    pub fn set_weights(&mut self, weights: impl IntoIterator<Item = (TenantId, f64)>) {
        let valid = |(_, weight): &(TenantId, f64)| weight.is_finite() && *weight > 0.0;
        self.weights = weights.into_iter().filter(valid).collect();
    }

    /// `tenant` has waiting tasks. If it had none before, it gets no credit for that time.
    pub fn wait(&mut self, tenant: TenantId) {
        let level = self.level();
        let account = self.account(tenant);
        if account.waits {
            return;
        }
        let tag = account.tag.max(level);
        *account = Account { tag, floor: level, waits: true };
        self.waiting.insert((Tag(tag), tenant));
    }

    /// `tenant` has no more waiting tasks.
    pub fn leave(&mut self, tenant: TenantId) {
        if let Some(account) = self.accounts.get_mut(&tenant).filter(|account| account.waits) {
            account.waits = false;
            self.waiting.remove(&(Tag(account.tag), tenant));
        }
    }

    /// `tenant` waits again with its previous tag.
    pub fn resume(&mut self, tenant: TenantId) {
        if let Some(account) = self.accounts.get_mut(&tenant) {
            account.waits = true;
            self.waiting.insert((Tag(account.tag), tenant));
        }
    }

    /// Waiting tenants in dispatch order; ties by id.
    pub fn turns(&self) -> impl Iterator<Item = TenantId> {
        self.waiting.iter().map(|(_, tenant)| *tenant)
    }

    /// How far waiting and indebted tenants are ahead of the virtual time, from 0; waiting ones in dispatch order.
    pub fn ahead(&self) -> impl Iterator<Item = (TenantId, f64)> {
        let ahead = |tag: f64| (tag - self.virtual_time).max(0.0);
        let waiting = self.waiting.iter().map(move |(tag, tenant)| (*tenant, ahead(tag.0)));
        let owe = self.accounts.iter().filter(|(_, a)| !a.waits && a.tag > self.virtual_time);
        waiting.chain(owe.map(move |(tenant, account)| (*tenant, ahead(account.tag))))
    }

    /// Restores the state of [`Self::ahead`].
    pub fn restore(&mut self, ahead: impl IntoIterator<Item = (TenantId, f64)>) {
        for (tenant, ahead) in ahead {
            let behind = self.virtual_time - self.account(tenant).tag;
            self.add(tenant, behind + ahead.max(0.0));
        }
    }

    /// The charge of a dispatch by another batcher, already charged for the `expected` time.
    pub fn charged(&self, tenant: TenantId, share: f64, expected: Duration) -> Charge {
        Charge { tenant, share, expected, weight: self.weight(tenant) }
    }

    /// Charges a dispatch of `share` of the pool, from 0, for the `expected` time, and advances the virtual time to its
    /// tenant's tag.
    pub fn charge(&mut self, tenant: TenantId, share: f64, expected: Duration) -> Charge {
        let weight = self.weight(tenant);
        let tag = self.account(tenant).tag;
        self.virtual_time = self.virtual_time.max(tag);
        self.add(tenant, share * expected.as_secs_f64() / weight);
        Charge { tenant, share, expected, weight }
    }

    /// Corrects a charge by `more`, which may be negative, at the weight of the dispatch. A tenant that was idle since
    /// gets no credit: the excess charge has not delayed it.
    pub fn correct(&mut self, charge: Charge, more: f64) {
        self.add(charge.tenant, more / charge.weight);
    }

    /// The task was not placed: refunds its whole charge.
    pub fn refund(&mut self, charge: Charge) {
        self.correct(charge, -charge.share * charge.expected.as_secs_f64());
    }

    /// Charges `cost` for a run beyond its estimate, at the current weight.
    pub fn overrun(&mut self, tenant: TenantId, cost: f64) {
        self.add(tenant, cost / self.weight(tenant));
    }

    /// Advances the virtual time to the waiting tenants. If none waits, no tenant is at a disadvantage: all debts end.
    pub fn advance(&mut self) {
        let least = self.waiting.first().map_or(self.ceiling, |(tag, _)| tag.0);
        self.virtual_time = self.virtual_time.max(least);
    }

    /// Drops tenants that are idle and owe nothing, which equal new ones.
    pub fn forget_idle(&mut self) {
        let now = self.virtual_time;
        self.accounts.retain(|_, account| account.waits || account.tag > now);
    }

    /// Tenants with an account, for metrics and tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.accounts.len()
    }

    /// True when no tenant has an account.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    fn add(&mut self, tenant: TenantId, virtual_cost: f64) {
        if !virtual_cost.is_finite() {
            // In a tag it would be permanent, and its tenant would never be next again.
            return;
        }
        let account = self.account(tenant);
        let before = account.tag;
        account.tag = (before + virtual_cost).max(account.floor);
        let Account { tag, waits, .. } = *account;
        self.ceiling = self.ceiling.max(tag);
        if waits {
            self.waiting.remove(&(Tag(before), tenant));
            self.waiting.insert((Tag(tag), tenant));
        }
    }

    fn account(&mut self, tenant: TenantId) -> &mut Account {
        let level = self.level();
        self.accounts.entry(tenant).or_insert(Account { tag: level, floor: level, waits: false })
    }

    /// The tag of a new tenant: that of the waiting tenants, even if corrections have brought them below the virtual
    /// time. Otherwise it would wait for their excess charges.
    fn level(&self) -> f64 {
        self.waiting.first().map_or(self.virtual_time, |(tag, _)| tag.0.min(self.virtual_time))
    }

    fn weight(&self, tenant: TenantId) -> f64 {
        self.weights.get(&tenant).copied().unwrap_or(1.0)
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Tag {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    const SECOND: Duration = Duration::from_secs(1);

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn next(accounts: &Accounts) -> TenantId {
        accounts.turns().next().unwrap()
    }

    /// Serves tenants 1 to n, whose tasks cost `costs`, and gives what each had.
    fn serve(accounts: &mut Accounts, costs: &[f64], turns: usize) -> Vec<f64> {
        let mut served = vec![0.0; costs.len()];
        (1..=costs.len()).for_each(|n| accounts.wait(tenant(n as u128)));
        for _ in 0..turns {
            let at = next(accounts).0.as_u128() as usize - 1;
            let _charge = accounts.charge(tenant(at as u128 + 1), costs[at], SECOND);
            served[at] += costs[at];
        }
        served
    }

    #[test]
    fn an_idle_tenant_hoards_no_credit() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(2));
        accounts.leave(tenant(2));
        serve(&mut accounts, &[1.0], 1000);
        let served = serve(&mut accounts, &[1.0, 1.0], 100);
        assert!((served[0] - served[1]).abs() <= 2.0, "{served:?}");
    }

    #[test]
    fn a_tenant_that_ran_alone_owes_nothing_to_newcomers() {
        let mut accounts = Accounts::default();
        serve(&mut accounts, &[100.0], 10);
        accounts.leave(tenant(1));
        accounts.advance();
        let served = serve(&mut accounts, &[1.0, 1.0], 100);
        assert!((served[0] - served[1]).abs() <= 2.0, "{served:?}");
    }

    #[test]
    fn what_runs_on_alone_while_only_its_own_tenant_waits_is_no_debt_either() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        accounts.overrun(tenant(1), 1000.0);
        accounts.advance();
        let served = serve(&mut accounts, &[1.0, 1.0], 100);
        assert!((served[0] - served[1]).abs() <= 2.0, "{served:?}");
    }

    #[test]
    fn who_takes_over_goes_on_with_the_same_turns() {
        let mut accounts = Accounts::default();
        accounts.set_weights([(tenant(2), 3.0)]);
        serve(&mut accounts, &[1.0, 2.0, 5.0], 31);
        let mut restored = Accounts::default();
        restored.set_weights([(tenant(2), 3.0)]);
        restored.restore(accounts.ahead());
        let before = serve(&mut accounts, &[1.0, 2.0, 5.0], 40);
        assert_eq!(serve(&mut restored, &[1.0, 2.0, 5.0], 40), before);
    }

    #[test]
    fn a_refund_gives_the_turn_back() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        accounts.wait(tenant(2));
        let _kept = accounts.charge(tenant(1), 5.0, SECOND);
        let charge = accounts.charge(tenant(2), 5.0, SECOND);
        accounts.refund(charge);
        assert_eq!(next(&accounts), tenant(2));
    }

    #[test]
    fn who_comes_does_not_wait_for_what_others_were_charged_too_much() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        let charge = accounts.charge(tenant(1), 1.0, SECOND);
        accounts.overrun(tenant(1), 1000.0);
        let _next = accounts.charge(tenant(1), 1.0, SECOND);
        accounts.correct(charge, -1000.0);
        let served = serve(&mut accounts, &[1.0, 1.0], 100);
        assert!((served[0] - served[1]).abs() <= 3.0, "{served:?}");
    }

    #[test]
    fn a_refund_is_no_credit_after_the_tenant_was_idle() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        let charge = accounts.charge(tenant(1), 1000.0, SECOND);
        accounts.leave(tenant(1));
        accounts.advance();
        serve(&mut accounts, &[1.0, 1.0], 2);
        accounts.leave(tenant(1));
        accounts.leave(tenant(2));
        accounts.advance();
        accounts.wait(tenant(1));
        accounts.correct(charge, -1000.0);
        let served = serve(&mut accounts, &[1.0, 1.0], 100);
        assert!((served[0] - served[1]).abs() <= 2.0, "{served:?}");
    }

    #[test]
    fn a_weight_divides_what_is_charged_and_a_charge_is_corrected_at_its_own_weight() {
        let mut accounts = Accounts::default();
        accounts.set_weights([(tenant(1), 3.0), (tenant(2), f64::NAN)]);
        let served = serve(&mut accounts, &[1.0, 1.0], 400);
        assert!((298.0..=302.0).contains(&served[0]), "{served:?}");
        let before = accounts.accounts[&tenant(1)].tag;
        let charge = accounts.charge(tenant(1), 6.0, SECOND);
        accounts.set_weights([(tenant(1), 1.0)]);
        accounts.refund(charge);
        assert!((accounts.accounts[&tenant(1)].tag - before).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_number_is_not_charged() {
        let ways: [fn(&mut Accounts, f64); 3] = [
            |accounts, cost| {
                let _charge = accounts.charge(tenant(1), cost, SECOND);
            },
            |accounts, cost| accounts.overrun(tenant(1), cost),
            |accounts, ahead| accounts.restore([(tenant(1), ahead)]),
        ];
        for (way, charge) in ways.into_iter().enumerate() {
            for nonsense in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
                let mut accounts = Accounts::default();
                accounts.wait(tenant(1));
                charge(&mut accounts, nonsense);
                let served = serve(&mut accounts, &[1.0, 1.0], 100);
                assert!((served[0] - served[1]).abs() <= 2.0, "{way} {nonsense}: {served:?}");
            }
        }
    }

    #[test]
    fn accounts_of_idle_tenants_are_forgotten() {
        let mut accounts = Accounts::default();
        serve(&mut accounts, &[0.001; 1000], 1000);
        (1..=1000).for_each(|n| accounts.leave(tenant(n)));
        accounts.advance();
        accounts.forget_idle();
        assert!(accounts.is_empty(), "{}", accounts.len());
    }

    proptest! {
        /// The bound of the paper: two backlogged flows differ by at most one largest cost each.
        #[test]
        fn backlogged_tenants_stay_within_the_bound(costs in proptest::collection::vec(0.1f64..10.0, 2..8), turns in 50usize..400) {
            let served = serve(&mut Accounts::default(), &costs, turns);
            let largest = costs.iter().copied().fold(0.0, f64::max);
            for a in &served {
                for b in &served {
                    prop_assert!((a - b).abs() <= 2.0 * largest + 1e-6, "{:?}", served);
                }
            }
        }

        /// However wrong the estimates: once corrected they leave no trace.
        #[test]
        fn corrected_estimates_share_what_was_really_consumed(
            estimates in proptest::collection::vec(0.01f64..50.0, 2),
            costs in proptest::collection::vec(0.1f64..10.0, 2),
        ) {
            let mut accounts = Accounts::default();
            let mut served = [0.0; 2];
            accounts.wait(tenant(0));
            accounts.wait(tenant(1));
            for _ in 0..300 {
                let at = next(&accounts).0.as_u128() as usize;
                let charge = accounts.charge(tenant(at as u128), estimates[at], SECOND);
                accounts.correct(charge, costs[at] - estimates[at]);
                served[at] += costs[at];
            }
            prop_assert!((served[0] - served[1]).abs() <= 20.0, "{served:?}");
        }
    }
}
