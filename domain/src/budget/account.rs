//! What one target of one tenant may be sent again.
//!
//! Every success pays for one retry, every first attempt for a part of one, and time for a few. So a target that answers takes
//! all the retries there are, and one that fails takes hardly more than its traffic. After many failures in a row the
//! breaker is open: then time pays for one probe now and then, until the target has answered some times.

use super::rule::{BudgetRule, CLOSE_AFTER};
use std::time::Duration;

/// An account. A new one has its burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    tokens: f64,
    /// Until when time has paid.
    paid_to: Duration,
    /// First attempts that ended since the last tick: as many retries may go at once beyond the burst.
    traffic: f64,
    breaker: Breaker,
    /// Retries wait for this target: those that come now wait behind them.
    waiting: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Breaker {
    Closed { failures: u32 },
    Open { next_probe: Duration, successes: u32 },
}

/// What holds a retry up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Nobody has paid for it yet.
    Budget,
    /// The breaker is open.
    BreakerOpen,
}

/// What becomes of a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// It goes, after its own back-off.
    Granted,
    /// It waits until it is let go.
    Held(Held),
}

impl Account {
    /// An account as new, which has its burst.
    #[must_use]
    pub fn new(rule: &BudgetRule, now: Duration) -> Self {
        let breaker = Breaker::Closed { failures: 0 };
        Self { tokens: rule.burst, paid_to: now, traffic: 0.0, breaker, waiting: false }
    }

    /// An account of a target for which retries wait already: what was paid is not known, so nothing was.
    #[must_use]
    pub fn with_waiting(now: Duration) -> Self {
        let breaker = Breaker::Closed { failures: 0 };
        Self { tokens: 0.0, paid_to: now, traffic: 0.0, breaker, waiting: true }
    }

    /// An attempt ended; `first` where the task had not failed before.
    pub fn attempt_ended(&mut self, rule: &BudgetRule, now: Duration, first: bool, success: bool) {
        if first {
            self.traffic += 1.0;
        }
        match (&mut self.breaker, success) {
            (Breaker::Closed { failures }, false) => {
                *failures = failures.saturating_add(1);
                if *failures >= rule.open_after {
                    let next_probe = now + rule.probe_interval;
                    self.breaker = Breaker::Open { next_probe, successes: 0 };
                    self.tokens = 0.0;
                }
            }
            (Breaker::Closed { failures }, true) => *failures = 0,
            (Breaker::Open { successes, .. }, false) => *successes = 0,
            (Breaker::Open { successes, .. }, true) => {
                *successes += 1;
                if *successes >= CLOSE_AFTER {
                    self.breaker = Breaker::Closed { failures: 0 };
                    self.paid_to = now;
                }
            }
        }
        if self.is_open() {
            return;
        }
        self.pay_by_time(rule, now);
        let paid = f64::from(u8::from(success)) + if first { rule.per_first_attempt } else { 0.0 };
        self.tokens = (self.tokens + paid).min(self.most(rule));
    }

    /// May a retry go? It is paid for by this.
    pub fn ask(&mut self, rule: &BudgetRule, now: Duration) -> Ask {
        if self.is_open() {
            self.waiting = true;
            return Ask::Held(Held::BreakerOpen);
        }
        self.pay_by_time(rule, now);
        if self.waiting || self.tokens < 1.0 {
            self.waiting = true;
            return Ask::Held(Held::Budget);
        }
        self.tokens -= 1.0;
        Ask::Granted
    }

    /// Called some times a second: what was paid in a busy time is not kept for a quiet one.
    pub fn tick(&mut self, rule: &BudgetRule) {
        self.tokens = self.tokens.min(self.most(rule));
        self.traffic = 0.0;
    }

    /// How many of those that wait go now; they are paid for by this. `unit` is a random number in 0.0..1.0.
    pub fn let_go(&mut self, rule: &BudgetRule, now: Duration, unit: f64) -> u32 {
        if let Breaker::Open { next_probe, .. } = &mut self.breaker {
            if now < *next_probe {
                return 0;
            }
            *next_probe = now + rule.probe_interval.mul_f64(0.5 + unit.clamp(0.0, 1.0));
            return 1;
        }
        self.pay_by_time(rule, now);
        // A saturating cast of a small number.
        let going = self.tokens.max(0.0) as u32;
        self.tokens -= f64::from(going);
        going
    }

    /// So many of those that were let go were not there. `more` tells whether any still wait.
    pub fn not_there(&mut self, rule: &BudgetRule, count: u32, more: bool) {
        self.waiting = more;
        if !self.is_open() {
            self.tokens = (self.tokens + f64::from(count)).min(self.most(rule));
        }
    }

    /// Retries wait for this target, as is known from others.
    pub fn set_waiting(&mut self) {
        self.waiting = true;
    }

    /// Retries wait for this target.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The breaker is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.breaker, Breaker::Open { .. })
    }

    /// When the next probe goes; `None` while the breaker is closed.
    #[must_use]
    pub const fn next_probe(&self) -> Option<Duration> {
        match self.breaker {
            Breaker::Open { next_probe, .. } => Some(next_probe),
            Breaker::Closed { .. } => None,
        }
    }

    /// True where it says no more than a new one would: then nobody needs to keep it.
    #[must_use]
    pub fn is_as_new(&self, rule: &BudgetRule, now: Duration) -> bool {
        let paid = self.tokens + rule.per_second * now.saturating_sub(self.paid_to).as_secs_f64();
        !self.waiting && self.breaker == Breaker::Closed { failures: 0 } && paid >= rule.burst
    }

    /// True where nothing waits and nothing was heard of it for `idle`: what is known of it is out of date.
    #[must_use]
    pub fn is_idle(&self, now: Duration, idle: Duration) -> bool {
        !self.waiting && now.saturating_sub(self.paid_to) >= idle
    }

    fn pay_by_time(&mut self, rule: &BudgetRule, now: Duration) {
        let passed = now.saturating_sub(self.paid_to).as_secs_f64();
        self.paid_to = self.paid_to.max(now);
        // By time alone never beyond the burst; what is beyond it stays.
        let paid = (self.tokens + rule.per_second * passed).min(rule.burst);
        self.tokens = self.tokens.max(paid);
    }

    /// The most that is kept.
    fn most(&self, rule: &BudgetRule) -> f64 {
        rule.burst + self.traffic
    }
}
