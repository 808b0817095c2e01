//! What one process knows of one tenant's backlog: a count by the database, and what this process has added since.
//!
//! The count says nothing of what other processes add after it, so it is repeated each second. It costs what there is to
//! count: one that takes long is repeated as rarely as the plan's rate allows, so that the error stays within a percent of the
//! limit. Nothing here outlives a count but what is under way, so that no figure can leak.

use domain::plan::PlanLimits;
use runtime::clock::Instant;
use std::time::Duration;
use store::tenant::Holding;

/// The life of a count.
const LIFE: Duration = Duration::from_secs(1);
/// The longest life of a count.
const LONGEST: Duration = Duration::from_secs(60);
/// A count that takes less is repeated each second.
const CHEAP: Duration = Duration::from_millis(10);
/// Of the time, a count may take one part in so many.
const SHARE: u32 = 10;
/// The longest pause after the database gave no answer.
const PAUSE: Duration = Duration::from_secs(16);
/// A count may be used so long after its life, while another is made.
const PATIENCE: Duration = Duration::from_secs(1);

/// One tenant's figures.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    counted: Option<Holding>,
    /// Stored by this process and perhaps not counted.
    added: u64,
    /// Admitted by this process, and not stored or refused yet.
    under_way: u64,
    /// Until then nothing is asked.
    fresh_until: Option<Instant>,
    /// Counts without an answer since the last one with.
    failures: u32,
    pub(super) used_at: Option<Instant>,
}

/// How good the last count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    Fresh,
    /// Another should be made; until then this one serves.
    Due,
    /// There is none that serves.
    Gone,
    /// Nor will there be: the database was asked in vain a moment ago.
    Away,
}

/// A count that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    began: Instant,
    added_before: u64,
}

impl Ledger {
    pub(super) fn age(&self, now: Instant) -> Age {
        match self.fresh_until {
            Some(until) if now < until && self.counted.is_none() => Age::Away,
            Some(until) if now < until => Age::Fresh,
            Some(until) if now < until + PATIENCE && self.counted.is_some() => Age::Due,
            Some(_) | None => Age::Gone,
        }
    }

    pub(super) const fn begin(&self, now: Instant) -> Counting {
        Counting { began: now, added_before: self.added }
    }

    /// Takes the count. What this process stored before it began is in it; what came later may be counted twice until the
    /// next one, never left out.
    pub(super) fn counted(
        &mut self,
        count: Counting,
        now: Instant,
        holding: Holding,
        limits: &PlanLimits,
    ) {
        self.added -= count.added_before.min(self.added);
        self.counted = Some(holding);
        self.failures = 0;
        let took = now.saturating_duration_since(count.began);
        self.fresh_until = Some(now + self.life(took, limits));
    }

    /// The database gave no answer: what is known serves for a while longer. False where nothing is. It is asked again after a
    /// pause, each longer than the one before.
    pub(super) fn failed(&mut self, now: Instant) -> bool {
        let pause = LIFE * 2u32.saturating_pow(self.failures);
        self.fresh_until = Some(now + pause.min(PAUSE));
        self.failures = self.failures.saturating_add(1);
        self.counted.is_some()
    }

    /// Tasks in the backlog.
    pub(super) fn backlog(&self) -> u64 {
        self.counted.unwrap_or_default().backlog + self.added + self.under_way
    }

    /// What was counted last.
    pub(super) fn holding(&self) -> Holding {
        self.counted.unwrap_or_default()
    }

    /// Makes room for up to `wanted` tasks; says for how many.
    pub(super) fn admit(&mut self, wanted: u64, limits: &PlanLimits) -> u64 {
        let admitted = u64::from(limits.backlog).saturating_sub(self.backlog()).min(wanted);
        self.under_way += admitted;
        admitted
    }

    /// Of `admitted` tasks, `stored` were.
    pub(super) fn settle(&mut self, admitted: u64, stored: u64) {
        self.under_way = self.under_way.saturating_sub(admitted);
        self.added += stored;
    }

    fn life(&self, took: Duration, limits: &PlanLimits) -> Duration {
        let share = took * SHARE;
        if took < CHEAP {
            return share.max(LIFE);
        }
        // Half the time in which the plan's rate could fill what is left.
        let left = u64::from(limits.backlog).saturating_sub(self.backlog());
        let rate = f64::from(limits.submits_per_second.max(1));
        let safe = Duration::from_secs_f64((left as f64 / rate / 2.0).min(LONGEST.as_secs_f64()));
        share.min(LONGEST / 6).max(safe).clamp(LIFE, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use runtime::clock::monotonic;

    fn limits(backlog: u32) -> PlanLimits {
        PlanLimits { backlog, submits_per_second: 100, ..PlanLimits::default() }
    }

    fn holding(backlog: u64) -> Holding {
        Holding { backlog, running_tasks: 0 }
    }

    fn count(ledger: &mut Ledger, backlog: u64, took: Duration, limits: &PlanLimits) -> Instant {
        let now = monotonic();
        let counting = ledger.begin(now);
        ledger.counted(counting, now + took, holding(backlog), limits);
        now + took
    }

    #[test]
    fn room_is_given_up_to_the_limit_and_comes_back_with_what_was_not_stored() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        count(&mut ledger, 4, Duration::ZERO, &limits);
        assert_eq!((ledger.admit(4, &limits), ledger.admit(4, &limits)), (4, 2));
        ledger.settle(4, 1);
        assert_eq!((ledger.backlog(), ledger.admit(9, &limits)), (7, 3));
    }

    #[test]
    fn what_is_under_way_while_it_is_counted_is_not_lost() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        count(&mut ledger, 0, Duration::ZERO, &limits);
        ledger.admit(3, &limits);
        ledger.settle(3, 3);
        ledger.admit(2, &limits);
        let counting = ledger.begin(monotonic());
        ledger.settle(2, 2);
        ledger.counted(counting, monotonic(), holding(3), &limits);
        assert_eq!(ledger.backlog(), 5);
    }

    #[test]
    fn a_count_is_repeated_each_second_and_serves_a_second_more() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        assert_eq!(ledger.age(monotonic()), Age::Gone);
        let at = count(&mut ledger, 0, Duration::ZERO, &limits);
        assert_eq!(ledger.age(at + Duration::from_millis(999)), Age::Fresh);
        assert_eq!(ledger.age(at + Duration::from_millis(1001)), Age::Due);
        assert_eq!(ledger.age(at + Duration::from_millis(2001)), Age::Gone);
    }

    #[test]
    fn without_an_answer_the_last_count_serves_and_with_none_nothing_does() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        let failed = monotonic();
        assert!(!ledger.failed(failed));
        assert_eq!(ledger.age(failed + Duration::from_millis(999)), Age::Away);
        assert_eq!(ledger.age(failed + Duration::from_millis(1001)), Age::Gone);
        let at = count(&mut ledger, 3, Duration::ZERO, &limits);
        assert!(ledger.failed(at + Duration::from_secs(60)));
        assert_eq!(ledger.age(at + Duration::from_secs(60)), Age::Fresh);
    }

    #[test]
    fn a_database_that_does_not_answer_is_asked_ever_less_often_until_it_does() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        let mut at = count(&mut ledger, 3, Duration::ZERO, &limits);
        for pause in [1, 2, 4, 8, 16, 16, 16] {
            assert!(ledger.failed(at));
            assert_eq!(ledger.age(at + Duration::from_millis(pause * 1000 - 1)), Age::Fresh);
            at += Duration::from_secs(pause);
            assert_eq!(ledger.age(at), Age::Due);
        }
        let at = count(&mut ledger, 3, Duration::ZERO, &limits);
        assert!(ledger.failed(at));
        assert_eq!(ledger.age(at + LIFE), Age::Due, "from the start");
    }

    proptest! {
        /// A long count is repeated before the plan's rate could pass the limit by a percent, and never takes more than its
        /// share where there is room.
        #[test]
        fn the_error_stays_within_a_second_or_a_percent(
            backlog in 1_000_000u32..100_000_000,
            part in 0.0f64..1.2,
            took_ms in 0u64..500,
        ) {
            let limits = PlanLimits { backlog, ..PlanLimits::default() };
            let mut ledger = Ledger::default();
            let took = Duration::from_millis(took_ms);
            let used = (f64::from(backlog) * part) as u64;
            let at = count(&mut ledger, used, took, &limits);
            let life = ledger.fresh_until.unwrap().saturating_duration_since(at);
            let left = u64::from(backlog).saturating_sub(used) as f64;
            let beyond = life.as_secs_f64() * f64::from(limits.submits_per_second) - left;
            let allowed = (f64::from(backlog) / 100.0).max(f64::from(limits.submits_per_second));
            prop_assert!(life >= LIFE && life <= LONGEST);
            // A count of half a second is of some millions of tasks, of which a percent is more than this.
            let allowed = allowed.max(f64::from(limits.submits_per_second) * took.as_secs_f64() * f64::from(SHARE));
            prop_assert!(beyond <= allowed + 1.0, "{beyond} of {allowed}");
        }
    }
}
