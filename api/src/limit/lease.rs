//! What this process may admit for one tenant: tokens leased from Redis, or, without Redis, what its own bucket holds.
//!
//! Plain arithmetic over moments that are passed in; `bucket` holds it under a lock. The rule: every admitted task is counted once, in
//! Redis or, until Redis serves again, as owed to it.

use super::decision::{Decision, Moment, Rates, Shortage};
use super::mode::Mode;
use super::shared::{Grant, LeaseRequest};
use api_types::RateName;
use domain::rate::{Bucket, Flow, Hour};
use runtime::clock::Instant;
use std::time::Duration;

/// Leased tokens that are unused for this long are returned.
const TERM: Duration = Duration::from_secs(1);
/// Leases double while one lasts less than this: a busy tenant costs few calls, a quiet one keeps few tokens from other processes.
const SHORT: Duration = Duration::from_millis(250);
/// A bucket in Redis that was empty is asked again after this at the latest: the plan may have changed.
const RETRY_AT_LEAST: Duration = Duration::from_secs(1);
/// An unused lease is forgotten after this.
const IDLE: Duration = Duration::from_secs(600);

/// Redis granted less than was wanted.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    limit: RateName,
    more_at: Instant,
    /// Redis is not called before.
    retry_at: Instant,
}

/// The use of one rate, for headers and `GET /v1/limits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateUse {
    pub limit: RateName,
    /// Tasks that may be submitted where none was: the burst, or those of the hour.
    pub most: u64,
    /// Used of these, by all processes.
    pub used: u64,
    /// Tasks that may be submitted now.
    pub left: u64,
    /// Until nothing of it is used, if nothing is submitted.
    pub whole_in: Duration,
}

/// One tenant's.
#[derive(Debug)]
pub(super) struct Lease {
    rates: Rates,
    mode: Mode,
    created: Instant,
    touched: Instant,
    /// Leased tokens, and until when they are kept.
    tokens: u64,
    until: Instant,
    /// Leased tokens that are kept for the submission that calls Redis for the rest.
    reserved: u64,
    /// Tokens to return to Redis; below 0: owed to it, because they were admitted without it.
    balance: i64,
    /// When the first of these arose.
    balance_since: Instant,
    /// The same balance, of the hour's count.
    hour_balance: i64,
    /// Tokens of the last lease, and when it was requested.
    size: u64,
    requested_at: Instant,
    /// When Redis answered last, and the tokens that were left in its bucket.
    answered_at: Instant,
    left: u64,
    refusal: Option<Refusal>,
    /// This process's share of the tenant's bucket, used without Redis.
    share: Bucket,
    hour: Hour,
    /// Used of the hour, as Redis or the checkpoint had it.
    used: u64,
}

impl Lease {
    pub(super) fn new(rates: Rates, mode: Mode, now: &Moment) -> Self {
        Self {
            rates,
            mode,
            created: now.at,
            touched: now.at,
            tokens: 0,
            until: now.at,
            reserved: 0,
            balance: 0,
            balance_since: now.at,
            hour_balance: 0,
            size: 1,
            requested_at: now.at,
            answered_at: now.at,
            left: u64::from(rates.burst),
            refusal: None,
            share: Bucket::default(),
            hour: now.hour(),
            used: 0,
        }
    }

    pub(super) fn rates(&self) -> Rates {
        self.rates
    }

    /// The plan changed.
    pub(super) fn set_rates(&mut self, rates: Rates, now: &Moment) {
        self.rates = rates;
        self.refusal = None;
        // A bucket emptied under a smaller plan fills at the rate of the larger one.
        self.share.take(self.flow(), self.age(now), 0);
    }

    /// Admits the first of `wanted` tasks; `None`: Redis must be asked for a lease.
    pub(super) fn admit(&mut self, wanted: u64, mode: Mode, now: &Moment) -> Option<Decision> {
        self.enter(mode, now);
        self.expire(now);
        self.touched = now.at;
        let may_call = self.refusal.is_none_or(|refusal| now.at >= refusal.retry_at);
        let needs_call = mode == Mode::Shared && self.tokens < wanted && may_call;
        (!needs_call).then(|| self.admit_without_call(wanted, mode, now))
    }

    /// Admits the first of `wanted` tasks from what is at hand.
    pub(super) fn admit_without_call(&mut self, wanted: u64, mode: Mode, now: &Moment) -> Decision {
        self.enter(mode, now);
        self.touched = now.at;
        if mode == Mode::Shared {
            self.admit_leased(wanted, now)
        } else {
            self.admit_from_share(wanted, now)
        }
    }

    fn admit_leased(&mut self, wanted: u64, now: &Moment) -> Decision {
        let admitted = self.tokens.min(wanted);
        self.tokens -= admitted;
        let shortage = (admitted < wanted).then(|| match self.refusal {
            Some(Refusal { limit, more_at, retry_at }) => {
                Shortage { limit, wait: more_at.max(retry_at) - now.at }
            }
            None => Shortage { limit: RateName::SubmitsPerSecond, wait: Duration::ZERO },
        });
        Decision { admitted, shortage }
    }

    fn admit_from_share(&mut self, wanted: u64, now: &Moment) -> Decision {
        self.turn_hour(now.hour());
        let of_hour = self.hour_share().unwrap_or(u64::MAX);
        let admitted = self.share.take(self.flow(), self.age(now), wanted.min(of_hour));
        self.add_to_balance(admitted, -1, now);
        let shortage = (admitted < wanted).then(|| {
            if admitted == of_hour {
                return Shortage {
                    limit: RateName::SubmitsPerHour,
                    wait: self.hour.left(now.wall),
                };
            }
            let wait = self.share.wait(self.flow(), self.age(now));
            Shortage { limit: RateName::SubmitsPerSecond, wait }
        });
        Decision { admitted, shortage }
    }

    /// What to ask of Redis for `wanted` tasks, besides the tokens at hand. Tokens to return, and debts, go with it. What `wanted` is
    /// for must end in [`Self::granted`], [`Self::not_answered`] or [`Self::not_applied`].
    pub(super) fn request(&mut self, wanted: u64, now: &Moment) -> LeaseRequest {
        if wanted > 0 {
            // Nobody else may take them meanwhile: the submission would lack what it did not ask for.
            self.reserved += std::mem::take(&mut self.tokens);
            let is_short = now.at - self.requested_at < SHORT;
            let size = if is_short { self.size * 2 } else { self.size / 2 };
            self.size = size.clamp(1, self.chunk());
            self.requested_at = now.at;
        }
        let missing = wanted.saturating_sub(self.reserved).max(self.size);
        LeaseRequest {
            rates: self.rates,
            wanted: if wanted == 0 { 0 } else { missing },
            balance: std::mem::take(&mut self.balance),
            balance_since: self.balance_since,
            hour_balance: std::mem::take(&mut self.hour_balance),
            hour: self.hour,
            used: self.used,
            used_at: self.answered_at,
        }
    }

    /// Redis answered: admits the first of `wanted` tasks.
    pub(super) fn granted(
        &mut self,
        (request, grant): (&LeaseRequest, &Grant),
        wanted: u64,
        now: &Moment,
    ) -> Decision {
        self.release(request);
        if grant.hour != self.hour {
            self.begin_hour(grant.hour);
        }
        self.tokens = self.tokens.saturating_add(grant.tokens);
        if grant.tokens > 0 {
            self.until = now.at + TERM;
        }
        (self.answered_at, self.left) = (now.at, grant.left);
        self.used = grant.used;
        if request.wanted > 0 {
            self.touched = now.at;
            self.refusal = grant.shortage.map(|Shortage { limit, wait }| {
                let pause = wait.min(RETRY_AT_LEAST).max(self.pause_after(request.wanted));
                Refusal { limit, more_at: now.at + wait, retry_at: now.at + pause }
            });
        }
        self.admit_leased(wanted, now)
    }

    /// Redis did not answer: debts remain; what was to be returned is lost, as it may have been.
    pub(super) fn not_answered(&mut self, request: &LeaseRequest) {
        let (balance, hour_balance) = (request.balance.min(0), request.hour_balance.min(0));
        self.not_applied(&LeaseRequest { balance, hour_balance, ..*request });
    }

    /// Redis answered that it did nothing: what was to be returned, and debts, remain.
    pub(super) fn not_applied(&mut self, request: &LeaseRequest) {
        self.release(request);
        if request.balance != 0 {
            self.balance_since = request.balance_since;
        }
        self.balance = self.balance.saturating_add(request.balance);
        if request.hour == self.hour {
            self.hour_balance = self.hour_balance.saturating_add(request.hour_balance);
        }
    }

    /// Gives tokens back that were admitted for nothing. They are kept no longer than the lease, and no more of them than one.
    pub(super) fn give_back(&mut self, count: u64, mode: Mode, now: &Moment) {
        self.enter(mode, now);
        if mode == Mode::Shared {
            self.expire(now);
            let kept = count.min(self.chunk().saturating_sub(self.tokens));
            self.tokens += kept;
            if kept < count {
                // Redis is about to have more than when it refused.
                self.refusal = None;
            }
            self.add_to_balance(count - kept, 1, now);
        } else {
            self.share.give_back(self.flow(), count);
            self.add_to_balance(count, 1, now);
        }
    }

    /// What to report to Redis where no submission will do it soon.
    pub(super) fn unreported(&mut self, mode: Mode, now: &Moment) -> Option<LeaseRequest> {
        self.enter(mode, now);
        self.expire(now);
        let is_due = now.at - self.answered_at >= TERM;
        (mode == Mode::Shared && is_due && self.has_unreported()).then(|| self.request(0, now))
    }

    /// The use of the burst, and of the hour where it has a limit, as far as this process knows.
    pub(super) fn uses(&mut self, mode: Mode, now: &Moment) -> (RateUse, Option<RateUse>) {
        self.enter(mode, now);
        let flow = self.flow();
        let tokens = match (mode, self.refusal) {
            // An exhausted hour says nothing about the burst.
            (Mode::Shared, Some(Refusal { limit: RateName::SubmitsPerSecond, retry_at, .. }))
                if now.at < retry_at =>
            {
                self.tokens as f64
            }
            (Mode::Shared, _) => self.level(now),
            (Mode::Alone { .. } | Mode::Fallback { .. }, _) => {
                self.share.tokens(flow, self.age(now))
            }
        };
        let missing = (flow.burst() - tokens).max(0.0);
        let burst = RateUse {
            limit: RateName::SubmitsPerSecond,
            most: u64::from(self.rates.burst),
            used: (missing * f64::from(mode.divisor())).ceil() as u64,
            left: tokens.floor() as u64,
            whole_in: flow.time_of(missing),
        };
        self.turn_hour(now.hour());
        let hour = self.hour_share().map(|left| RateUse {
            limit: RateName::SubmitsPerHour,
            most: u64::from(self.rates.per_hour),
            used: self.used_of_hour(now),
            left,
            whole_in: now.hour().left(now.wall),
        });
        (burst, hour)
    }

    /// Used of the present hour, as far as this process knows.
    pub(super) fn used_of_hour(&self, now: &Moment) -> u64 {
        if self.hour == now.hour() { self.used + self.hour_owed() } else { 0 }
    }

    /// What the checkpoint says was used of the present hour. What is owed to Redis will be reported to it: it is added only where it
    /// will not be, or a Redis that lost the hour would count it twice.
    pub(super) fn kept_of_hour(&self, adds_owed: bool, now: &Moment) -> u64 {
        let later = if adds_owed { 0 } else { self.hour_owed() };
        self.used_of_hour(now).saturating_sub(later)
    }

    /// The checkpoint of the hour says so.
    pub(super) fn restore(&mut self, hour: Hour, used: u64) {
        if hour == self.hour {
            self.used = self.used.max(used);
        }
    }

    /// Whether nothing is lost with it.
    pub(super) fn is_idle(&self, now: &Moment) -> bool {
        let flow = self.flow();
        let is_full = self.share.tokens(flow, self.age(now)) >= flow.burst();
        // Without a Redis nothing is reported but by the checkpoint, which has been written since.
        let is_reported =
            matches!(self.mode, Mode::Alone { .. }) || self.leased() == 0 && !self.has_unreported();
        now.at - self.touched >= IDLE && is_full && is_reported
    }

    /// Most tokens that are leased in advance: those of 100 ms.
    fn chunk(&self) -> u64 {
        u64::from(self.rates.per_second.div_ceil(10))
    }

    /// How long Redis is not called after it granted less than `wanted`: until that many tokens have come, as far as the bucket does
    /// not fill meanwhile. Calls are rare then, and a tenant far below a large rate is not refused for long.
    fn pause_after(&self, wanted: u64) -> Duration {
        let flow = self.rates.flow();
        flow.time_of((wanted as f64).min(flow.burst() / 2.0))
            .clamp(Duration::from_millis(2), Duration::from_millis(100))
    }

    /// This process's part of the rate.
    fn flow(&self) -> Flow {
        self.rates.flow().share(self.mode.divisor())
    }

    fn age(&self, now: &Moment) -> Duration {
        now.at - self.created
    }

    /// Tokens in the bucket in Redis by now, with those leased here.
    fn level(&self, now: &Moment) -> f64 {
        let flow = self.rates.flow();
        let come = (now.at - self.answered_at).as_secs_f64() * flow.per_second();
        (self.left as f64 + come + self.leased() as f64).min(flow.burst())
    }

    /// All leased tokens that are not used.
    fn leased(&self) -> u64 {
        self.tokens + self.reserved
    }

    /// What this process may still admit of the hour; `None`: any number.
    fn hour_share(&self) -> Option<u64> {
        let rest = u64::from(self.rates.per_hour).saturating_sub(self.used);
        // Rounded up: where less is left than there are processes, no process could admit it otherwise.
        let share = rest.div_ceil(u64::from(self.mode.divisor()));
        (self.rates.per_hour > 0).then(|| share.saturating_sub(self.hour_owed()))
    }

    fn hour_owed(&self) -> u64 {
        self.hour_balance.min(0).unsigned_abs()
    }

    fn has_unreported(&self) -> bool {
        self.balance != 0 || self.hour_balance != 0
    }

    fn add_to_balance(&mut self, tokens: u64, sign: i64, now: &Moment) {
        if self.balance == 0 {
            self.balance_since = now.at;
        }
        let tokens = sign.saturating_mul(i64::try_from(tokens).unwrap_or(i64::MAX));
        self.balance = self.balance.saturating_add(tokens);
        self.hour_balance = self.hour_balance.saturating_add(tokens);
    }

    fn expire(&mut self, now: &Moment) {
        if now.at >= self.until {
            let tokens = std::mem::take(&mut self.tokens);
            self.add_to_balance(tokens, 1, now);
        }
    }

    fn turn_hour(&mut self, hour: Hour) {
        if hour > self.hour {
            self.begin_hour(hour);
        }
    }

    /// Counts `hour` from now on. What was owed was owed in another hour. Leased tokens were counted in it, too, and will be used in
    /// this one: they are owed to this one, and where they are returned instead nothing of it is.
    fn begin_hour(&mut self, hour: Hour) {
        let carried = if hour > self.hour { self.leased() } else { 0 };
        (self.hour, self.used, self.hour_balance) = (hour, 0, 0);
        self.hour_balance = self.hour_balance.saturating_sub_unsigned(carried);
    }

    /// The call of `request` is over.
    fn release(&mut self, request: &LeaseRequest) {
        // A call that only reports goes beside the one that leases.
        if request.wanted > 0 {
            self.tokens = self.tokens.saturating_add(std::mem::take(&mut self.reserved));
        }
    }

    /// Counts in another way from now on.
    fn enter(&mut self, mode: Mode, now: &Moment) {
        if self.mode == Mode::Shared && mode != Mode::Shared {
            let known = (self.level(now) - self.leased() as f64).max(0.0);
            (self.until, self.refusal) = (now.at, None);
            self.expire(now);
            self.mode = mode;
            // The share of what Redis is known to hold, and no more than this process left in its share before: a Redis that comes
            // and goes fills nothing.
            let flow = self.flow();
            let before = self.share.tokens(flow, self.age(now));
            let tokens = before.min(known / f64::from(mode.divisor()));
            self.share = Bucket::with(tokens, flow, self.age(now));
        }
        self.mode = mode;
    }
}

#[cfg(test)]
mod tests;
