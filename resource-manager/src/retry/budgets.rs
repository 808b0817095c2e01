//! The accounts of this process, told by the settler and emptied by the releaser.
//!
//! Of targets whose calls go well there is no account: a result that is a success costs one look into a small map.

use crate::metrics::RETRIES;
use domain::budget::{Ask, Books, BudgetRule, Held, TargetKey};
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

    /// An attempt ended, `(first, success)`; `again`: another may follow. Says how long that is held at most; `None`: it goes
    /// after its own back-off.
    pub(crate) fn ended(
        &self,
        tenant: TenantId,
        target: &Arc<str>,
        how: (bool, bool),
        again: bool,
    ) -> Option<Duration> {
        let (now, key) = (self.now(), TargetKey { tenant, target: Arc::clone(target) });
        let mut kept = self.0.kept.lock();
        let rule = kept.rule;
        kept.books.attempt_ended(&rule, now, &key, how);
        if !again {
            return None;
        }
        let (what, hold) = match kept.books.ask(&rule, now, &key) {
            Ask::Granted => ("granted", None),
            Ask::Held(Held::Budget) => ("held_budget", Some(self.0.max_hold)),
            Ask::Held(Held::BreakerOpen) => ("held_breaker", Some(self.0.max_hold)),
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

    /// So many resource managers divide it among them.
    pub(super) fn share(&self, managers: u32) {
        self.0.kept.lock().rule = self.0.whole.share(managers);
    }

    fn now(&self) -> Duration {
        self.0.began.elapsed()
    }
}
