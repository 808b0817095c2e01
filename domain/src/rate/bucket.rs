//! A token bucket, as a generic cell rate algorithm.
//!
//! It stores only the time at which it is full again. So it needs one number, does not drift, and a changed rate
//! applies at once. Times are relative to a fixed start.

use std::time::Duration;

/// How fast a bucket fills and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    per_second: f64,
    burst: f64,
}

impl Flow {
    /// `per_second` tokens a second, `burst` at most; each at least 1.
    #[must_use]
    pub fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: f64::from(per_second.max(1)), burst: f64::from(burst.max(1)) }
    }

    /// What each of `holders` has of it. No holder's bucket is so small that it never has a token.
    #[must_use]
    pub fn share(self, holders: u32) -> Self {
        let holders = f64::from(holders.max(1));
        Self { per_second: self.per_second / holders, burst: (self.burst / holders).max(1.0) }
    }

    /// Tokens a second.
    #[must_use]
    pub const fn per_second(self) -> f64 {
        self.per_second
    }

    /// The most that a bucket holds.
    #[must_use]
    pub const fn burst(self) -> f64 {
        self.burst
    }

    /// The time in which so many tokens come.
    #[must_use]
    pub fn time_of(self, tokens: f64) -> Duration {
        Duration::try_from_secs_f64((tokens / self.per_second).max(0.0)).unwrap_or(Duration::MAX)
    }
}

/// A bucket; full by default.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bucket {
    /// Seconds.
    full_at: f64,
}

/// Less than a token is lost by rounding.
const SLACK: f64 = 1e-6;

impl Bucket {
    /// A bucket with so many tokens in it.
    #[must_use]
    pub fn with(tokens: f64, flow: Flow, now: Duration) -> Self {
        let lacking = flow.burst - tokens.clamp(0.0, flow.burst);
        Self { full_at: now.as_secs_f64() + lacking / flow.per_second }
    }

    /// The tokens in it, parts of one included.
    #[must_use]
    pub fn tokens(&self, flow: Flow, now: Duration) -> f64 {
        let lacking = (self.full_at - now.as_secs_f64()).max(0.0) * flow.per_second;
        (flow.burst - lacking).max(0.0)
    }

    /// Takes up to `wanted` whole tokens; says how many.
    pub fn take(&mut self, flow: Flow, now: Duration, wanted: u64) -> u64 {
        // A saturating cast: the bucket holds far less than 2^53.
        let there = (self.tokens(flow, now) + SLACK).floor() as u64;
        let taken = there.min(wanted);
        // A smaller burst than before leaves a bucket that is emptier than empty: then it is just empty.
        let empty_at = now.as_secs_f64() + flow.burst / flow.per_second;
        let full_at = self.full_at.clamp(now.as_secs_f64(), empty_at);
        self.full_at = full_at + taken as f64 / flow.per_second;
        taken
    }

    /// Puts tokens back that were taken for nothing.
    pub fn give_back(&mut self, flow: Flow, tokens: u64) {
        self.full_at -= tokens as f64 / flow.per_second;
    }

    /// How long until a whole token is there; nothing where one is.
    #[must_use]
    pub fn wait(&self, flow: Flow, now: Duration) -> Duration {
        flow.time_of(1.0 - self.tokens(flow, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_full_bucket_gives_its_burst_and_then_what_flows_in() {
        let (flow, mut bucket) = (Flow::new(10, 20), Bucket::default());
        assert_eq!(bucket.take(flow, at(0), 100), 20);
        assert_eq!(bucket.take(flow, at(0), 1), 0);
        assert_eq!(bucket.wait(flow, at(0)), at(100));
        assert_eq!(bucket.take(flow, at(99), 1), 0);
        assert_eq!(bucket.take(flow, at(100), 5), 1);
        assert_eq!(bucket.take(flow, at(1100), 100), 10);
        assert_eq!(bucket.take(flow, at(100_000), 100), 20, "no more than the burst gathers");
    }

    #[test]
    fn what_is_given_back_is_there_again() {
        let (flow, mut bucket) = (Flow::new(1, 5), Bucket::default());
        assert_eq!(bucket.take(flow, at(0), 5), 5);
        bucket.give_back(flow, 3);
        assert_eq!(bucket.take(flow, at(0), 5), 3);
        bucket.give_back(flow, 100);
        assert_eq!(bucket.take(flow, at(0), 100), 5, "and never more than the burst");
    }

    #[test]
    fn a_bucket_can_begin_with_some_tokens() {
        let flow = Flow::new(10, 20);
        assert_eq!(Bucket::with(0.0, flow, at(7000)).take(flow, at(7000), 9), 0);
        assert_eq!(Bucket::with(3.5, flow, at(7000)).take(flow, at(7050), 9), 4);
        assert_eq!(Bucket::with(1e9, flow, at(7000)).take(flow, at(7000), 99), 20);
    }

    #[test]
    fn a_smaller_plan_acts_at_once_and_a_larger_one_does_not_wait_for_the_old_debt() {
        let (small, large) = (Flow::new(1, 1000), Flow::new(1000, 1000));
        let mut bucket = Bucket::default();
        assert_eq!(bucket.take(small, at(0), 1000), 1000);
        assert_eq!(bucket.take(large, at(0), 1), 0);
        assert_eq!(bucket.wait(large, at(0)), at(1), "it is held to be no emptier than empty");
        assert_eq!(bucket.take(large, at(1), 10), 1);
    }

    #[test]
    fn shares_add_up_and_none_is_without_a_token() {
        let share = Flow::new(9, 3).share(3);
        assert_eq!((share.per_second(), share.burst()), (3.0, 1.0));
        let tiny = Flow::new(1, 1).share(10);
        let mut bucket = Bucket::with(0.0, tiny, at(0));
        assert_eq!((bucket.take(tiny, at(9_900), 1), bucket.take(tiny, at(10_001), 1)), (0, 1));
    }

    proptest! {
        #[test]
        fn no_stretch_of_time_gives_more_than_burst_and_flow(
            per_second in 1_u32..100_000, burst in 1_u32..100_000,
            steps in prop::collection::vec((0_u64..2_000, 0_u64..1_000), 1..200),
        ) {
            let flow = Flow::new(per_second, burst);
            let (mut bucket, mut now, mut given) = (Bucket::default(), 3_600_000_u64, vec![]);
            for (pause, wanted) in steps {
                now += pause;
                given.push((now, bucket.take(flow, at(now), wanted)));
            }
            for from in 0..given.len() {
                let total: u64 = given[from..].iter().map(|(_, n)| n).sum();
                let seconds = (now - given[from].0) as f64 / 1000.0;
                let most = f64::from(burst) + seconds * f64::from(per_second);
                prop_assert!(total as f64 <= most + 0.01, "{total} of {most}");
            }
        }

        #[test]
        fn a_steady_overload_gets_all_of_the_flow(per_second in 1_u32..50_000, burst in 2_u32..1000) {
            let flow = Flow::new(per_second, burst);
            let mut bucket = Bucket::with(0.0, flow, at(0));
            // Often enough that the bucket never runs over, even with a token in it that lacks a nanosecond.
            let step_us = 500_000.0 * f64::from(burst) / f64::from(per_second);
            let (mut taken, mut time) = (0, 0.0);
            for _ in 0..1000 {
                time += step_us;
                taken += bucket.take(flow, Duration::from_nanos((time * 1000.0) as u64), u64::MAX);
            }
            let flowed = time / 1e6 * f64::from(per_second);
            prop_assert!((taken as f64 - flowed).abs() < 1.5, "{taken} of {flowed}");
        }
    }
}
