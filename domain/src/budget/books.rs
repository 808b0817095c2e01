//! The accounts of one resource manager.
//!
//! An account is created at the first failure and dropped when it equals a new one, so healthy targets cost nothing.
//! The number is bounded per tenant and in total. Without an account every retry is granted: a memory limit must not
//! hold up tasks.

use super::account::{Account, AttemptEnd, RetryDecision};
use super::rule::BudgetRule;
use crate::id::TenantId;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Targets of one tenant, at most.
const MOST_OF_A_TENANT: usize = 1000;
/// Targets of all, at most.
const MOST: usize = 20_000;
/// An unused account is dropped after this time.
const IDLE: Duration = Duration::from_secs(600);

/// Whose target.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetKey {
    /// The tenant.
    pub tenant: TenantId,
    /// Scheme, host and port; see [`crate::target::origin_of`].
    pub target: Arc<str>,
}

/// All accounts.
#[derive(Debug, Default)]
pub struct Books {
    tenants: HashMap<TenantId, HashMap<Arc<str>, Account>>,
    len: usize,
}

impl Books {
    /// Records the end of an attempt.
    pub fn attempt_ended(
        &mut self,
        rule: &BudgetRule,
        now: Duration,
        key: &TargetKey,
        end: AttemptEnd,
    ) {
        let account = if end.success {
            self.tenants.get_mut(&key.tenant).and_then(|of| of.get_mut(&key.target))
        } else {
            self.open(key, || Account::new(rule, now))
        };
        if let Some(account) = account {
            account.attempt_ended(rule, now, end);
        }
    }

    /// Decides about a retry.
    pub fn decide(&mut self, rule: &BudgetRule, now: Duration, key: &TargetKey) -> RetryDecision {
        let account = self.open(key, || Account::new(rule, now));
        account.map_or(RetryDecision::Granted, |account| account.decide(rule, now))
    }

    /// Records held retries for `key` from the database. Without an account none would be released before its latest
    /// time.
    pub fn know_waiting(&mut self, now: Duration, key: &TargetKey) {
        if let Some(account) = self.open(key, || Account::with_waiting(now)) {
            account.set_waiting();
        }
    }

    /// How many held retries to release now, by target; called several times a second. `unit` returns random numbers in
    /// 0.0..1.0.
    pub fn let_go(
        &mut self,
        rule: &BudgetRule,
        now: Duration,
        mut unit: impl FnMut() -> f64,
    ) -> Vec<(TargetKey, u32)> {
        let mut going = Vec::new();
        for (tenant, accounts) in &mut self.tenants {
            for (target, account) in accounts.iter_mut() {
                let waiting = account.is_waiting();
                let count = if waiting { account.let_go(rule, now, unit()) } else { 0 };
                account.tick(rule);
                if count > 0 {
                    going.push((TargetKey { tenant: *tenant, target: Arc::clone(target) }, count));
                }
            }
        }
        going
    }

    /// Credits released retries that did not exist; `more`: some are still held.
    pub fn not_there(&mut self, rule: &BudgetRule, key: &TargetKey, count: u32, more: bool) {
        if let Some(account) =
            self.tenants.get_mut(&key.tenant).and_then(|of| of.get_mut(&key.target))
        {
            account.not_there(rule, count, more);
        }
    }

    /// Targets with held retries and, if the breaker is open, the time of the next probe.
    pub fn waiting(&self) -> impl Iterator<Item = (TargetKey, Option<Duration>)> {
        self.tenants.iter().flat_map(|(tenant, accounts)| {
            accounts.iter().filter(|(_, account)| account.is_waiting()).map(|(target, account)| {
                let key = TargetKey { tenant: *tenant, target: Arc::clone(target) };
                (key, account.next_probe())
            })
        })
    }

    /// Drops accounts that equal new ones.
    pub fn forget(&mut self, rule: &BudgetRule, now: Duration) {
        self.tenants.retain(|_, accounts| {
            accounts.retain(|_, a| !a.is_as_new(rule, now) && !a.is_idle(now, IDLE));
            !accounts.is_empty()
        });
        self.len = self.tenants.values().map(HashMap::len).sum();
    }

    /// Number of accounts, and of those with an open breaker.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let all = self.tenants.values().flat_map(HashMap::values);
        (self.len, all.filter(|account| account.is_open()).count())
    }

    /// The account of `key`; `None` if the limit is reached.
    fn open(&mut self, key: &TargetKey, new: impl FnOnce() -> Account) -> Option<&mut Account> {
        let known = self.tenants.get(&key.tenant);
        if known.is_none_or(|of| !of.contains_key(&key.target)) {
            if self.len >= MOST || known.is_some_and(|of| of.len() >= MOST_OF_A_TENANT) {
                return None;
            }
            self.len += 1;
            let of = self.tenants.entry(key.tenant).or_default();
            of.insert(Arc::clone(&key.target), new());
        }
        self.tenants.get_mut(&key.tenant)?.get_mut(&key.target)
    }
}
