//! The retry accounts of this process, credited by the settler and debited by the releaser.
//!
//! Healthy targets have no account: a success costs one lookup in a small map.

use crate::metrics::RETRIES;
use domain::budget::{AttemptEnd, Books, BudgetRule, Held, RetryDecision, TargetKey};
use domain::id::TenantId;
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use std::sync::Arc;
use std::time::Duration;

/// The accounts; a cheap handle.
#[derive(Debug, Clone)]
pub(crate) struct Budgets(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    whole: BudgetRule,
    max_hold: Duration,
    began: Instant,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    /// This process's share of the whole.
    rule: BudgetRule,
    books: Books,
}

impl Budgets {
    pub(crate) fn new(rule: BudgetRule, max_hold: Duration) -> Self {
        let kept = Mutex::new(Kept { rule, books: Books::default() });
        Self(Arc::new(Shared { whole: rule, max_hold, began: clock::monotonic(), kept }))
    }

    /// Records the end of an attempt; `again`: a retry may follow. Returns its longest hold; `None`: only its own
    /// back-off.
    pub(crate) fn ended(
        &self,
        tenant: TenantId,
        target: &Arc<str>,
        end: AttemptEnd,
        again: bool,
    ) -> Option<Duration> {
        let (now, key) = (self.now(), TargetKey { tenant, target: Arc::clone(target) });
        let mut kept = self.0.kept.lock();
        let rule = kept.rule;
        kept.books.attempt_ended(&rule, now, &key, end);
        if !again {
            return None;
        }
        let (what, hold) = match kept.books.decide(&rule, now, &key) {
            RetryDecision::Granted => ("granted", None),
            RetryDecision::Held(Held::Budget) => ("held_budget", Some(self.0.max_hold)),
            RetryDecision::Held(Held::BreakerOpen) => ("held_breaker", Some(self.0.max_hold)),
        };
        RETRIES.with(&[what]).inc();
        hold
    }

    /// Calls `act` with the accounts, this process's share, and the time.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Books, &BudgetRule, Duration) -> T) -> T {
        let now = self.now();
        let mut kept = self.0.kept.lock();
        let rule = kept.rule;
        act(&mut kept.books, &rule, now)
    }

    /// Sets the number of resource managers that share the limits.
    pub(super) fn share(&self, managers: u32) {
        self.0.kept.lock().rule = self.0.whole.share(managers);
    }

    fn now(&self) -> Duration {
        self.0.began.elapsed()
    }
}
