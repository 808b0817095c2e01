//! What one process knows of one tenant's backlog: a count by the database, and what this process has added since.
//!
//! The count says nothing of what other processes add after it, so it is repeated each second. It costs what there is to
//! count: one that takes long is repeated as rarely as the plan's rate allows, so that the error stays within a percent of the
//! limit. Before the first, a tenth of that percent is let in: ten processes that have just started stay within it together. Nothing
//! here outlives a count but what is under way, so that no figure can leak.

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
/// The longest pause after the database gave no answer: it is noticed soon enough that it is back.
const PAUSE: Duration = Duration::from_secs(8);
/// A count may be used so long after its life, or twice as long as it took, while another is made.
const PATIENCE: Duration = Duration::from_secs(1);
/// Before the first count, one part in so many of the limit is let in.
const UNCOUNTED: u32 = 1000;

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
    /// When the last count began that was made, or when the last one failed.
    tried_at: Option<Instant>,
    /// So long after that the count serves.
    patience: Duration,
    /// Counts without an answer since the last one with.
    failures: u32,
    pub(super) used_at: Option<Instant>,
}

/// How good the last count is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// It is young, or the database was asked in vain a moment ago: nothing is asked now.
    Fresh,
    /// Another should be made; until then this one serves.
    Due,
    /// There is none, or it is too old: another is worth a moment's wait.
    Gone,
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
            Some(until) if now < until => Age::Fresh,
            Some(until) if now < until + self.patience && self.is_counted() => Age::Due,
            Some(_) | None => Age::Gone,
        }
    }

    /// False where nothing is known but what this process added.
    pub(super) const fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// True where all that was stored by `then` is in the count; or where the database gave no answer since.
    pub(super) fn was_tried_since(&self, then: Instant) -> bool {
        self.tried_at.is_some_and(|at| at >= then)
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
        self.tried_at = Some(count.began);
        self.failures = 0;
        let took = now.saturating_duration_since(count.began);
        self.fresh_until = Some(now + self.life(took, limits));
        self.patience = PATIENCE.max(took * 2);
    }

    /// The database gave no answer, or none in time: what is known serves for a while longer. It is asked again after a pause, each
    /// longer than the one before.
    pub(super) fn failed(&mut self, now: Instant) {
        self.tried_at = Some(now);
        let pause = LIFE * 2u32.saturating_pow(self.failures);
        self.fresh_until = Some(now + pause.min(PAUSE));
        self.failures = self.failures.saturating_add(1);
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
        let most = if self.is_counted() { limits.backlog } else { limits.backlog / UNCOUNTED };
        let admitted = u64::from(most).saturating_sub(self.backlog()).min(wanted);
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
    fn a_count_that_took_long_serves_while_another_takes_as_long() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        let at = count(&mut ledger, 0, Duration::from_secs(20), &limits);
        let until = ledger.fresh_until.unwrap();
        assert!(until >= at + LIFE);
        assert_eq!(ledger.age(until + Duration::from_secs(39)), Age::Due);
        assert_eq!(ledger.age(until + Duration::from_secs(41)), Age::Gone);
    }

    #[test]
    fn without_an_answer_the_last_count_serves_and_before_the_first_a_thousandth_of_the_limit() {
        let (mut ledger, limits) = (Ledger::default(), limits(5000));
        let failed = monotonic();
        ledger.failed(failed);
        assert_eq!(ledger.age(failed + Duration::from_millis(999)), Age::Fresh);
        assert_eq!(ledger.age(failed + Duration::from_millis(1001)), Age::Gone);
        assert_eq!((ledger.admit(3, &limits), ledger.admit(3, &limits)), (3, 2));
        ledger.settle(5, 5);
        assert_eq!(ledger.admit(1, &limits), 0, "stored ones are not counted yet either");
        let at = count(&mut ledger, 5, Duration::ZERO, &limits);
        assert_eq!(ledger.admit(9000, &limits), 4995);
        ledger.failed(at + Duration::from_secs(60));
        assert_eq!(ledger.age(at + Duration::from_secs(60)), Age::Fresh);
        assert!(ledger.is_counted());
    }

    #[test]
    fn a_database_that_does_not_answer_is_asked_ever_less_often_until_it_does() {
        let (mut ledger, limits) = (Ledger::default(), limits(10));
        let mut at = count(&mut ledger, 3, Duration::ZERO, &limits);
        for pause in [1, 2, 4, 8, 8, 8] {
            ledger.failed(at);
            assert_eq!(ledger.age(at + Duration::from_millis(pause * 1000 - 1)), Age::Fresh);
            at += Duration::from_secs(pause);
            assert_eq!(ledger.age(at), Age::Due);
        }
        let at = count(&mut ledger, 3, Duration::ZERO, &limits);
        ledger.failed(at);
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
