//! What a meter knows: tokens in hand, what Redis last said, its own bucket, and what was used of the hour.
//!
//! Plain arithmetic over moments that are passed in; `meter` holds it under a lock. Counting changes its way at any time: then what was in
//! hand is settled here, so that nothing is admitted on the strength of a count that is over.

use super::admission::{Admission, Limit, Rates, Shortage};
use super::counting::{Counted, Way};
use super::demand::Demand;
use super::moment::Moment;
use super::repeats;
use super::shared::{Ask, Lease};
use domain::rate::{Bucket, Hour};
use runtime::clock::Instant;
use std::time::Duration;

/// Leased tokens that were not used by then go back.
const LEASE_TERM: Duration = Duration::from_secs(1);
/// Redis is asked at least this often while there is nothing, since a plan may have changed.
const ASK_AT_LEAST: Duration = Duration::from_secs(1);

/// The answer to a submission, or that a lease is needed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Take {
    Done(Admission),
    Lease,
}

/// One tenant's.
#[derive(Debug)]
pub(super) struct State {
    pub(super) rates: Rates,
    counted: Counted,
    /// Leased, and until when.
    tokens: u64,
    until: Instant,
    /// Leased in vain and to be given back, or below 0 admitted without a lease and to be charged.
    back: i64,
    /// Since when something is owed, where `back` is below 0.
    owed_since: Instant,
    /// The same of the hour.
    hour_back: i64,
    leased_at: Instant,
    /// Until then Redis has nothing more.
    ask_at: Instant,
    /// What it lacked.
    lacked: (Limit, Instant),
    /// Tokens in the shared bucket, when Redis last told or this process last held its share.
    level: (f64, Instant),
    bucket: Bucket,
    local_since: Instant,
    /// Admitted from the bucket while Redis was away.
    lent: u64,
    pub(super) hour: Hour,
    /// Used of the hour, as all know.
    pub(super) used: u64,
    /// Used of the hour, as only this process knows.
    pub(super) own: u64,
    /// Whether the hour's checkpoint has been looked for.
    pub(super) restored: bool,
    demand: Demand,
    /// Look-ups of keys that may be made at the limit.
    look_ups: Bucket,
    pub(super) touched: Instant,
}

impl State {
    pub(super) fn new(rates: Rates, counted: Counted, now: &Moment) -> Self {
        let mut state = Self {
            rates,
            counted,
            tokens: 0,
            until: now.at,
            back: 0,
            owed_since: now.at,
            hour_back: 0,
            leased_at: now.at,
            ask_at: now.at,
            lacked: (Limit::PerSecond, now.at),
            level: (f64::from(rates.burst), now.at),
            bucket: Bucket::default(),
            local_since: now.at,
            lent: 0,
            hour: now.hour(),
            used: 0,
            own: 0,
            restored: false,
            demand: Demand::new(now.at),
            look_ups: Bucket::default(),
            touched: now.at,
        };
        state.begin_local(now);
        state
    }

    /// The tenant's plan as of this request.
    pub(super) fn set_rates(&mut self, rates: Rates, now: &Moment) {
        if self.rates != rates {
            self.rates = rates;
            self.ask_at = now.at;
            // A larger plan does not wait until the smaller one's flow would have filled the bucket.
            self.bucket.take(rates.flow().share(self.holders()), now.since, 0);
        }
    }

    /// Admits up to `wanted` of what is at hand.
    pub(super) fn take(&mut self, wanted: u64, counted: Counted, now: &Moment) -> Take {
        self.bring_to(counted, now);
        self.touched = now.at;
        match self.counted.way {
            Way::Alone { replicas } | Way::Local { replicas } => {
                Take::Done(self.take_local(wanted, replicas, now))
            }
            Way::Shared => self.take_leased(wanted, now),
        }
    }

    /// Counts `wanted` as asked for: leases are made to fit what comes.
    pub(super) fn wants(&mut self, wanted: u64, now: &Moment) {
        self.demand.add(wanted, now.at);
    }

    /// Takes a look-up; false where there were too many.
    pub(super) fn look_up(&mut self, now: &Moment) -> bool {
        self.look_ups.take(repeats::look_ups(), now.since, 1) == 1
    }

    fn take_leased(&mut self, wanted: u64, now: &Moment) -> Take {
        self.expire(now);
        if self.tokens < wanted && now.at >= self.ask_at {
            return Take::Lease;
        }
        let admitted = self.tokens.min(wanted);
        self.tokens -= admitted;
        let (limit, at) = self.lacked;
        let wait = at.max(self.ask_at) - now.at;
        let shortage = (admitted < wanted).then_some(Shortage { limit, wait });
        Take::Done(Admission { admitted, shortage })
    }

    fn take_local(&mut self, wanted: u64, holders: u32, now: &Moment) -> Admission {
        self.turn_hour(now.hour());
        let flow = self.rates.flow().share(holders);
        let of_hour = match u64::from(self.rates.per_hour) {
            0 => u64::MAX,
            per_hour => (per_hour.saturating_sub(self.used) / u64::from(holders.max(1)))
                .saturating_sub(self.untold()),
        };
        let admitted = self.bucket.take(flow, now.since, wanted.min(of_hour));
        self.lent = self.lent.saturating_add(admitted);
        self.own = self.own.saturating_add(admitted);
        let shortage = (admitted < wanted).then(|| {
            if admitted == of_hour {
                return Shortage { limit: Limit::PerHour, wait: self.hour.left(now.wall) };
            }
            Shortage { limit: Limit::PerSecond, wait: self.bucket.wait(flow, now.since) }
        });
        Admission { admitted, shortage }
    }

    /// What to ask of Redis for `wanted`; what is to be given back goes with it.
    pub(super) fn ask(&mut self, wanted: u64, now: &Moment) -> Ask {
        let missing = wanted.saturating_sub(self.tokens);
        let fitting = self.demand.of_window().min(self.rates.chunk());
        Ask {
            rates: self.rates,
            wanted: if wanted == 0 { 0 } else { missing.max(fitting) },
            back: std::mem::take(&mut self.back),
            owed_for: now.at - self.owed_since,
            hour_back: std::mem::take(&mut self.hour_back),
            hour: self.hour,
            used: self.used,
            known_for: now.at - self.leased_at,
        }
    }

    /// What Redis answered.
    pub(super) fn leased(&mut self, ask: &Ask, lease: &Lease, now: &Moment) {
        self.tokens = self.tokens.saturating_add(lease.granted);
        if lease.granted > 0 {
            self.until = now.at + LEASE_TERM;
        }
        self.leased_at = now.at;
        self.level = (lease.left as f64, now.at);
        if lease.hour != self.hour {
            (self.hour, self.own, self.hour_back) = (lease.hour, 0, 0);
        }
        self.used = lease.used;
        if let Some(Shortage { limit, wait }) = lease.shortage {
            let pause = wait.min(ASK_AT_LEAST).max(self.rates.pause_after(ask.wanted));
            self.ask_at = now.at + pause;
            self.lacked = (limit, now.at + wait);
        } else if ask.wanted > 0 {
            self.ask_at = now.at;
        }
    }

    /// The lease was not answered: what was owed is owed still, what was to be given back is lost.
    pub(super) fn unanswered(&mut self, ask: &Ask) {
        self.back += ask.back.min(0);
        self.hour_back += ask.hour_back.min(0);
    }

    /// Takes back tokens that were admitted for nothing. They are no better than those in hand: a lease ends when it ends, and
    /// more than one of them is not kept.
    pub(super) fn give_back(&mut self, count: u64, counted: Counted, now: &Moment) {
        self.bring_to(counted, now);
        match self.counted.way {
            Way::Shared => {
                self.expire(now);
                let kept = count.min(self.rates.chunk().saturating_sub(self.tokens));
                self.tokens += kept;
                self.return_soon(count - kept);
            }
            Way::Alone { .. } | Way::Local { .. } => {
                self.bucket.give_back(self.rates.flow().share(self.holders()), count);
                self.lent = self.lent.saturating_sub(count);
                self.own = self.own.saturating_sub(count);
            }
        }
    }

    /// What to give back to Redis where no request will do it soon.
    pub(super) fn idle(&mut self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.bring_to(counted, now);
        if self.counted.way != Way::Shared {
            return None;
        }
        self.expire(now);
        let pending = self.back != 0 || self.hour_back != 0;
        (pending && now.at - self.leased_at >= LEASE_TERM).then(|| self.ask(0, now))
    }

    /// What to ask of Redis to learn how things stand; nothing is taken.
    pub(super) fn look(&mut self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.bring_to(counted, now);
        (self.counted.way == Way::Shared).then(|| self.ask(0, now))
    }

    /// All that is in hand, at the end of the process.
    pub(super) fn all_back(&mut self, counted: Counted, now: &Moment) -> Option<Ask> {
        self.bring_to(counted, now);
        if self.counted.way != Way::Shared {
            return None;
        }
        self.put_back();
        (self.back != 0 || self.hour_back != 0).then(|| self.ask(0, now))
    }

    /// What may be submitted now, what of the burst is used by all, both as far as this process knows, and the time in which
    /// nothing more is missing.
    pub(super) fn left(&self, now: &Moment) -> (u64, u64, Duration) {
        let whole = self.rates.flow();
        let (tokens, flow) = match self.counted.way {
            Way::Shared if now.at < self.ask_at => (self.tokens as f64, whole),
            Way::Shared => {
                let (level, at) = self.level;
                let come = (now.at - at).as_secs_f64() * whole.per_second();
                ((level + come + self.tokens as f64).min(whole.burst()), whole)
            }
            Way::Alone { .. } | Way::Local { .. } => {
                let flow = whole.share(self.holders());
                (self.bucket.tokens(flow, now.since), flow)
            }
        };
        let lacking = (flow.burst() - tokens).max(0.0);
        let used = lacking * f64::from(self.holders());
        (tokens.floor() as u64, used.ceil() as u64, flow.time_of(lacking))
    }

    /// Used of the hour, as far as this process knows.
    pub(super) fn used_of_hour(&self, now: &Moment) -> u64 {
        if self.hour == now.hour() { self.used + self.untold() } else { 0 }
    }

    /// Used of the hour, and not told to Redis yet.
    fn untold(&self) -> u64 {
        self.own + self.hour_back.min(0).unsigned_abs()
    }

    /// The hour's checkpoint says so.
    pub(super) fn restore(&mut self, hour: Hour, used: u64) {
        self.restored = true;
        if hour == self.hour {
            self.used = self.used.max(used);
        }
    }

    /// Whether forgetting it changes nothing: its bucket is full, nothing is in hand, and no one came for long.
    pub(super) fn is_forgettable(&self, now: &Moment) -> bool {
        const QUIET: Duration = Duration::from_secs(600);
        let flow = self.rates.flow();
        let full = self.bucket.tokens(flow, now.since) >= flow.burst();
        let in_hand = self.tokens > 0 || self.back != 0 || self.hour_back != 0;
        // Alone there is nobody to tell but the checkpoint, which has been written since.
        let untold = self.own > 0 && !matches!(self.counted.way, Way::Alone { .. });
        now.at - self.touched >= QUIET && full && !in_hand && !untold
    }

    fn holders(&self) -> u32 {
        match self.counted.way {
            Way::Alone { replicas } | Way::Local { replicas } => replicas.max(1),
            Way::Shared => 1,
        }
    }

    fn expire(&mut self, now: &Moment) {
        if now.at >= self.until {
            self.put_back();
        }
    }

    fn put_back(&mut self) {
        let tokens = std::mem::take(&mut self.tokens);
        self.return_soon(tokens);
    }

    fn return_soon(&mut self, tokens: u64) {
        let tokens = signed(tokens);
        self.back = self.back.saturating_add(tokens);
        self.hour_back = self.hour_back.saturating_add(tokens);
    }

    fn turn_hour(&mut self, hour: Hour) {
        if hour > self.hour {
            // What was owed was owed in an hour that is over.
            (self.hour, self.used, self.own, self.hour_back) = (hour, 0, 0, 0);
        }
    }

    /// Goes over to another way of counting.
    fn bring_to(&mut self, counted: Counted, now: &Moment) {
        if self.counted.term == counted.term {
            self.counted = counted;
            return;
        }
        match self.counted.way {
            Way::Shared => self.put_back(),
            Way::Alone { .. } | Way::Local { .. } => self.end_local(now),
        }
        self.counted = counted;
        match self.counted.way {
            Way::Shared => (self.tokens, self.ask_at, self.until) = (0, now.at, now.at),
            Way::Alone { .. } | Way::Local { .. } => self.begin_local(now),
        }
    }

    /// Fills the own bucket with this process's share of what the shared one is known to hold.
    fn begin_local(&mut self, now: &Moment) {
        let (whole, holders) = (self.rates.flow(), self.holders());
        let (level, at) = self.level;
        let come = (now.at - at).as_secs_f64() * whole.per_second();
        let known = (level + come).min(whole.burst()) / f64::from(holders);
        self.bucket = Bucket::with(known, whole.share(holders), now.since);
        self.local_since = now.at;
        // What was leased in vain is no part of the shared bucket's level; of the hour it was counted. What is owed stays so.
        self.back = self.back.min(0);
    }

    /// What was lent is owed. The others are taken to have used their shares as this process did: so a Redis that comes and goes
    /// fills nothing.
    fn end_local(&mut self, now: &Moment) {
        let (holders, flow) = (self.holders(), self.rates.flow().share(self.holders()));
        self.level = (self.bucket.tokens(flow, now.since) * f64::from(holders), now.at);
        if self.back >= 0 {
            self.owed_since = self.local_since;
        }
        self.back = self.back.saturating_sub(signed(self.lent));
        self.hour_back = self.hour_back.saturating_sub(signed(self.own));
        (self.lent, self.own) = (0, 0);
    }
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
