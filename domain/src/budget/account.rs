//! The retry account of one target of one tenant.
//!
//! A token bucket: each success adds one retry, each first attempt a fraction, and time a few. So a healthy target gets
//! all retries, and a failing one hardly more than its traffic. After many consecutive failures the circuit breaker is
//! open and only probes are sent, until some succeed.

use super::rule::{BudgetRule, CLOSE_AFTER};
use std::time::Duration;

/// An account. A new one has a full burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    tokens: f64,
    /// Time of the last refill.
    paid_to: Duration,
    /// First attempts that ended since the last tick: this many retries may go beyond the burst.
    traffic: f64,
    breaker: Breaker,
    /// Whether retries are held: new ones wait behind them.
    waiting: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Breaker {
    Closed { failures: u32 },
    Open { next_probe: Duration, successes: u32 },
}

/// How an attempt ended, for its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptEnd {
    /// The task had not failed before.
    pub first: bool,
    /// It succeeded.
    pub success: bool,
}

/// Why a retry is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The budget is used up.
    Budget,
    /// The breaker is open.
    BreakerOpen,
}

/// Decision about a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// It runs after its back-off.
    Granted,
    /// It is held until it is released.
    Held(Held),
}

impl Account {
    /// A new account with a full burst.
    #[must_use]
    pub fn new(rule: &BudgetRule, now: Duration) -> Self {
        let breaker = Breaker::Closed { failures: 0 };
        Self { tokens: rule.burst, paid_to: now, traffic: 0.0, breaker, waiting: false }
    }

    /// An account of a target with held retries: its balance is unknown, so empty.
    #[must_use]
    pub fn with_waiting(now: Duration) -> Self {
        let breaker = Breaker::Closed { failures: 0 };
        Self { tokens: 0.0, paid_to: now, traffic: 0.0, breaker, waiting: true }
    }

    /// Records the end of an attempt.
    pub fn attempt_ended(&mut self, rule: &BudgetRule, now: Duration, end: AttemptEnd) {
        let AttemptEnd { first, success } = end;
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

    /// Decides about a retry; a granted one is debited.
    pub fn decide(&mut self, rule: &BudgetRule, now: Duration) -> RetryDecision {
        if self.is_open() {
            self.waiting = true;
            return RetryDecision::Held(Held::BreakerOpen);
        }
        self.pay_by_time(rule, now);
        if self.waiting || self.tokens < 1.0 {
            self.waiting = true;
            return RetryDecision::Held(Held::Budget);
        }
        self.tokens -= 1.0;
        RetryDecision::Granted
    }

    /// Called several times a second: removes tokens beyond the burst and recent traffic.
    pub fn tick(&mut self, rule: &BudgetRule) {
        self.tokens = self.tokens.min(self.most(rule));
        self.traffic = 0.0;
    }

    /// How many held retries to release now; they are debited. `unit` is a random number in 0.0..1.0.
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

    /// Credits `absent` released retries that did not exist. `more`: some are still held.
    pub fn not_there(&mut self, rule: &BudgetRule, count: u32, more: bool) {
        self.waiting = more;
        if !self.is_open() {
            self.tokens = (self.tokens + f64::from(count)).min(self.most(rule));
        }
    }

    /// Records that the database has held retries for this target.
    pub fn set_waiting(&mut self) {
        self.waiting = true;
    }

    /// Whether retries are held for this target.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// The breaker is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.breaker, Breaker::Open { .. })
    }

    /// Time of the next probe; `None`: the breaker is closed.
    #[must_use]
    pub const fn next_probe(&self) -> Option<Duration> {
        match self.breaker {
            Breaker::Open { next_probe, .. } => Some(next_probe),
            Breaker::Closed { .. } => None,
        }
    }

    /// Whether it equals a new account, so that it can be dropped.
    #[must_use]
    pub fn is_as_new(&self, rule: &BudgetRule, now: Duration) -> bool {
        let paid = self.tokens + rule.per_second * now.saturating_sub(self.paid_to).as_secs_f64();
        !self.waiting && self.breaker == Breaker::Closed { failures: 0 } && paid >= rule.burst
    }

    /// Whether it has no held retries and was not used for `idle`.
    #[must_use]
    pub fn is_idle(&self, now: Duration, idle: Duration) -> bool {
        !self.waiting && now.saturating_sub(self.paid_to) >= idle
    }

    fn pay_by_time(&mut self, rule: &BudgetRule, now: Duration) {
        let passed = now.saturating_sub(self.paid_to).as_secs_f64();
        self.paid_to = self.paid_to.max(now);
        // Time never fills beyond the burst; tokens beyond it stay.
        let paid = (self.tokens + rule.per_second * passed).min(rule.burst);
        self.tokens = self.tokens.max(paid);
    }

    /// Maximum balance.
    fn most(&self, rule: &BudgetRule) -> f64 {
        rule.burst + self.traffic
    }
}
