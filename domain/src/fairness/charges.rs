//! Charges of attempts in flight: first an estimate, at least the elapsed time, finally the actual use.
//!
//! Used by the active batcher with [`Accounts`]. The cost of [`Charges::advance`] depends on attempts that exceed their
//! estimates and their tenants, not on all running attempts.

use super::{Accounts, Charge, NameKey};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// An attempt that has run beyond its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubtful {
    /// The tenant.
    pub tenant: TenantId,
    /// Its task.
    pub task: TaskId,
    /// When it was dispatched.
    pub since: Timestamp,
}

/// The open charges of one pool.
#[derive(Debug, Clone, Default)]
pub struct Charges {
    open: HashMap<TaskId, Open>,
    /// When estimates are used up.
    expected: BTreeSet<(Timestamp, TaskId)>,
    /// Attempts beyond their estimates: number and sum of shares.
    over: HashMap<TenantId, (usize, f64)>,
    /// Until when overruns are charged.
    charged_until: Timestamp,
    /// Attempts beyond their estimates, by the time of the next check.
    doubted: BTreeSet<(Timestamp, TaskId)>,
    lag: Duration,
}

/// An attempt this far beyond its estimate is checked: its end may not have been reported, or it never started.
const FIRST_DOUBT: TimeDelta = TimeDelta::seconds(2);
/// Interval of further checks.
const DOUBT: TimeDelta = TimeDelta::seconds(10);

/// A charged dispatch.
#[derive(Debug, Clone, Copy)]
struct Open {
    name: NameKey,
    charge: Charge,
    since: Timestamp,
    expected_end: Timestamp,
    doubt_at: Timestamp,
}

impl Charges {
    /// For attempts whose start or reported end lags by up to `lag`: only time beyond the estimate plus `lag` is
    /// charged while running. Otherwise all attempts would be overcharged for a while, which would distort the order.
    #[must_use]
    pub fn lagging(lag: Duration) -> Self {
        Self { lag, ..Self::default() }
    }

    /// Opens the charge of a task that runs since `since`. If one is open, its earlier dispatch failed: its charge is
    /// refunded, except for the estimate if the new charge has none.
    pub fn open(
        &mut self,
        accounts: &mut Accounts,
        (task, name): (TaskId, NameKey),
        mut charge: Charge,
        since: Timestamp,
    ) {
        if let Some(before) = self.open.get(&task).map(|open| open.charge) {
            self.close(accounts, task, Duration::ZERO);
            if charge.expected.is_zero() {
                charge = before;
                accounts.correct(charge, charge.share * charge.expected.as_secs_f64());
            }
        }
        let expected_end = since + charge.expected + self.lag;
        let doubt_at = expected_end + FIRST_DOUBT;
        self.open.insert(task, Open { name, charge, since, expected_end, doubt_at });
        self.expected.insert((expected_end, task));
    }

    /// Charges overruns up to `now`.
    pub fn advance(&mut self, accounts: &mut Accounts, now: Timestamp) {
        let now = now.max(self.charged_until);
        let passed = seconds(self.charged_until, now);
        for (tenant, (_, shares)) in &self.over {
            accounts.overrun(*tenant, shares * passed);
        }
        while let Some((at, task)) = self.expected.first().copied().filter(|(at, _)| *at <= now) {
            self.expected.pop_first();
            if let Some(open) = self.open.get(&task) {
                accounts.overrun(open.charge.tenant, open.charge.share * seconds(at, now));
                let (count, shares) = self.over.entry(open.charge.tenant).or_default();
                (*count, *shares) = (*count + 1, *shares + open.charge.share);
                self.doubted.insert((open.doubt_at, task));
            }
        }
        self.charged_until = now;
    }

    /// Up to `most` attempts to check, with their start: those that no longer run must be closed.
    pub fn doubtful(&mut self, now: Timestamp, most: usize) -> Vec<Doubtful> {
        let due = |(at, _): &(Timestamp, TaskId)| *at <= now;
        let doubtful: Vec<_> =
            self.doubted.iter().take_while(|d| due(d)).take(most).copied().collect();
        let ask = |(at, task): (Timestamp, TaskId)| {
            self.doubted.remove(&(at, task));
            let open = self.open.get_mut(&task)?;
            open.doubt_at = now + DOUBT;
            self.doubted.insert((open.doubt_at, task));
            Some(Doubtful { tenant: open.charge.tenant, task, since: open.since })
        };
        doubtful.into_iter().filter_map(ask).collect()
    }

    /// Closes the charge of an attempt after `used` (0: never ran). Returns its tenant and name; `None` if not open.
    pub fn close(
        &mut self,
        accounts: &mut Accounts,
        task: TaskId,
        used: Duration,
    ) -> Option<(TenantId, NameKey)> {
        let open = self.open.remove(&task)?;
        self.doubted.remove(&(open.doubt_at, task));
        let mut charged_until = open.expected_end;
        if !self.expected.remove(&(open.expected_end, task)) {
            charged_until = self.charged_until;
            if let Some((count, shares)) = self.over.get_mut(&open.charge.tenant) {
                (*count, *shares) = (*count - 1, *shares - open.charge.share);
                if *count == 0 {
                    self.over.remove(&open.charge.tenant);
                }
            }
        }
        let charged = seconds(open.since + self.lag, charged_until);
        accounts.correct(open.charge, open.charge.share * (used.as_secs_f64() - charged));
        Some((open.charge.tenant, open.name))
    }

    /// Attempts in flight, for metrics and tests.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// True when nothing is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

fn seconds(from: Timestamp, until: Timestamp) -> f64 {
    (until - from).as_seconds_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(millis: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + chrono::TimeDelta::milliseconds(millis)
    }

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    fn task(n: u128) -> TaskId {
        TaskId(Uuid::from_u128(n))
    }

    /// Two tenants, the first of which was dispatched a task of the whole pool for an expected second at 0.
    fn one_runs() -> (Accounts, Charges) {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        accounts.wait(tenant(2));
        let mut charges = Charges::default();
        let charge = accounts.charge(tenant(1), 1.0, Duration::from_secs(1));
        charges.open(&mut accounts, (task(1), NameKey(7)), charge, at(0));
        (accounts, charges)
    }

    /// What the other tenant may have before it is the first's turn again: its debt, to a thousandth.
    fn debt(accounts: &Accounts) -> f64 {
        let mut accounts = accounts.clone();
        let mut given = 0.0;
        while accounts.turns().next() == Some(tenant(2)) {
            let _charge = accounts.charge(tenant(2), 0.001, Duration::from_secs(1));
            given += 0.001;
        }
        given
    }

    #[test]
    fn the_estimate_is_charged_at_once_and_what_runs_longer_as_it_runs() {
        let (mut accounts, mut charges) = one_runs();
        for (now, charged) in [(500, 1.0), (1000, 1.0), (1500, 1.5), (4000, 4.0)] {
            charges.advance(&mut accounts, at(now));
            assert!((debt(&accounts) - charged).abs() < 0.005, "{now}: {}", debt(&accounts));
        }
    }

    #[test]
    fn what_runs_long_is_asked_for_now_and_then_until_it_is_closed() {
        let (mut accounts, mut charges) = one_runs();
        charges.advance(&mut accounts, at(900));
        assert!(charges.doubtful(at(900_000), 9).is_empty());
        charges.advance(&mut accounts, at(20_000));
        let runs = [Doubtful { tenant: tenant(1), task: task(1), since: at(0) }];
        assert!(charges.doubtful(at(2999), 9).is_empty());
        assert_eq!(charges.doubtful(at(20_000), 9), runs);
        assert!(charges.doubtful(at(29_999), 9).is_empty());
        assert_eq!(charges.doubtful(at(30_000), 9), runs);
        charges.close(&mut accounts, task(1), Duration::from_secs(20));
        assert!(charges.doubtful(at(90_000), 9).is_empty());
    }

    #[test]
    fn what_is_told_late_is_not_charged_meanwhile_and_exactly_in_the_end() {
        let mut accounts = Accounts::default();
        accounts.wait(tenant(1));
        accounts.wait(tenant(2));
        let mut charges = Charges::lagging(Duration::from_millis(300));
        let charge = accounts.charge(tenant(1), 1.0, Duration::from_secs(1));
        charges.open(&mut accounts, (task(1), NameKey(7)), charge, at(0));
        for (now, charged) in [(1300, 1.0), (1800, 1.5)] {
            charges.advance(&mut accounts, at(now));
            assert!((debt(&accounts) - charged).abs() < 0.005, "{now}: {}", debt(&accounts));
        }
        charges.close(&mut accounts, task(1), Duration::from_millis(1100));
        assert!((debt(&accounts) - 1.1).abs() < 0.005, "{}", debt(&accounts));
    }

    #[test]
    fn another_dispatch_of_the_same_is_not_another_charge() {
        let (mut accounts, mut charges) = one_runs();
        let again = accounts.charge(tenant(1), 1.0, Duration::ZERO);
        charges.open(&mut accounts, (task(1), NameKey(7)), again, at(500));
        charges.close(&mut accounts, task(1), Duration::from_secs(2));
        let charged = debt(&accounts);
        assert!((charged - 2.0).abs() < 0.005, "{charged}");
    }

    #[test]
    fn what_waited_for_another_dispatch_is_not_charged_for_waiting() {
        // Without an estimate of its own, and with one.
        for estimate in [0, 1] {
            let (mut accounts, mut charges) = one_runs();
            charges.advance(&mut accounts, at(60_000));
            assert!(debt(&accounts) > 50.0);
            let again = accounts.charge(tenant(1), 1.0, Duration::from_secs(estimate));
            charges.open(&mut accounts, (task(1), NameKey(7)), again, at(60_000));
            assert!((debt(&accounts) - 1.0).abs() < 0.005, "{}", debt(&accounts));
            charges.advance(&mut accounts, at(61_500));
            assert!((debt(&accounts) - 1.5).abs() < 0.005, "{}", debt(&accounts));
            assert_eq!(charges.len(), 1);
        }
    }

    #[test]
    fn the_end_charges_what_was_used() {
        for (looked, used) in [(0, 0), (0, 200), (200, 200), (0, 3000), (2500, 3000), (4000, 3000)]
        {
            let (mut accounts, mut charges) = one_runs();
            charges.advance(&mut accounts, at(looked));
            let closed = charges.close(&mut accounts, task(1), Duration::from_millis(used));
            assert_eq!(closed, Some((tenant(1), NameKey(7))));
            let charged = debt(&accounts);
            assert!((charged - used as f64 / 1000.0).abs() < 0.005, "{looked} {used}: {charged}");
            assert_eq!(charges.close(&mut accounts, task(1), Duration::from_secs(9)), None);
            charges.advance(&mut accounts, at(9000));
            assert!((charged - debt(&accounts)).abs() < 0.005, "an end counts once");
            assert!(charges.is_empty());
        }
    }
}
