//! What the attempts in flight have been charged: an estimate at first, never below what has passed, in the end what it was.
//!
//! Kept by the active batcher beside [`Accounts`]. The cost of [`Charges::advance`] follows the tenants with attempts that run
//! longer than expected and the attempts that begin to, not all that run.

use super::{Accounts, Charge, NameKey};
use crate::id::{TaskId, TenantId};
use crate::time::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// The open charges of one pool.
#[derive(Debug, Clone, Default)]
pub struct Charges {
    open: HashMap<TaskId, Open>,
    /// When the estimates of those within them are used up.
    expected: BTreeSet<(Timestamp, TaskId)>,
    /// Beyond their estimates: how many, and the sum of their shares.
    over: HashMap<TenantId, (usize, f64)>,
    /// Until when overruns are charged.
    charged_until: Timestamp,
}

/// A dispatch that is charged.
#[derive(Debug, Clone, Copy)]
struct Open {
    name: NameKey,
    charge: Charge,
    since: Timestamp,
    expected_end: Timestamp,
}

impl Charges {
    /// A task of this name runs since `since`, under this charge.
    pub fn open(&mut self, task: TaskId, name: NameKey, charge: Charge, since: Timestamp) {
        let expected_end = since + charge.expected;
        self.open.insert(task, Open { name, charge, since, expected_end });
        self.expected.insert((expected_end, task));
    }

    /// Charges what runs longer than expected up to `now`.
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
            }
        }
        self.charged_until = now;
    }

    /// The attempt ended after `used`, 0 where it never ran: charges exactly that. Gives whose it was, and its name; nothing
    /// where it is not open.
    pub fn close(
        &mut self,
        accounts: &mut Accounts,
        task: TaskId,
        used: Duration,
    ) -> Option<(TenantId, NameKey)> {
        let open = self.open.remove(&task)?;
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
        let charged = seconds(open.since, charged_until);
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
        charges.open(task(1), NameKey(7), charge, at(0));
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
