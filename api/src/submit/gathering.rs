//! Whether submits that could be stored now wait for company.
//!
//! Asked by `queue` before each statement. Half of what a statement of few tasks costs is the statement, and whoever is answered is woken
//! once a statement: where thousands come in a second, groups of sixteen instead of four save a
//! seventh of the processors' time. The rule: submits wait only where several came a moment ago, and only as long as
//! more come. So a lone one waits for nobody, nor do callers who wait for their answers before they send again.

use runtime::clock::Instant;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// As many wait for nobody: a statement of more is hardly cheaper by the task. Half of 32 callers, who are answered by halves.
pub(super) const ENOUGH: usize = 16;
/// Where the statement before stored fewer, they come too rarely.
const SEVERAL: usize = 3;
/// From the begin of a statement to that of the next, at most: what one takes on a busy machine.
const SPACING: Duration = Duration::from_millis(3);
/// How often it is looked who has come.
const STEP: Duration = Duration::from_micros(500);
/// Where nobody comes in as long, all wait for their answers, or had no processor to come on; ...
const QUIET: Duration = Duration::from_millis(1);
/// ... so that is believed for as long, twice as long each time that it is so again, ...
const BELIEVED: Duration = Duration::from_millis(10);
/// ... and no longer: who waits for answers loses less than a hundredth by being waited for now and then.
const BELIEVED_MOST: Duration = Duration::from_millis(640);

/// What is known of the statements before.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    /// When the last one began, and how many tasks it stored.
    last: Option<(Instant, usize)>,
    /// How many wait since when.
    wait: Option<(Instant, usize)>,
    /// Until then nobody is waited for, ...
    alone_until: Option<Instant>,
    /// ... which was believed for as long.
    believed: Duration,
}

impl Gathering {
    /// Until when to wait for company, and to ask again, where `waiting` submits could be stored `now`; `None`: they are stored now.
    pub(super) fn pause(&mut self, now: Instant, waiting: usize) -> Option<Instant> {
        let is_alone = self.alone_until.is_some_and(|until| now < until);
        let several = self.last.filter(|(_, stored)| *stored >= SEVERAL && waiting < ENOUGH);
        let until = several.map(|(began, _)| began + SPACING).filter(|until| now < *until);
        match (until, self.wait) {
            (Some(_), _) if is_alone => {}
            (Some(_), Some((since, before))) if before == waiting && now >= since + QUIET => {
                self.believed = (self.believed * 2).clamp(BELIEVED, BELIEVED_MOST);
                self.alone_until = Some(now + self.believed);
            }
            (Some(until), wait) => {
                let since =
                    wait.filter(|(_, before)| *before == waiting).map_or(now, |wait| wait.0);
                self.wait = Some((since, waiting));
                return Some(until.min(now + STEP));
            }
            // It was worth the wait.
            (None, Some(_)) => self.believed = Duration::ZERO,
            (None, None) => {}
        }
        (self.last, self.wait) = (Some((now, waiting)), None);
        None
    }
}

/// Ends a wait for company when there is enough, for who is answered and sends again is back sooner than it is looked.
#[derive(Debug)]
pub(super) struct Company {
    wanted: AtomicUsize,
    is_there: Notify,
}

impl Company {
    pub(super) fn new() -> Self {
        Self { wanted: AtomicUsize::new(usize::MAX), is_there: Notify::new() }
    }

    /// Told by each submit: so many wait in the queue now.
    pub(super) fn come(&self, queued: usize) {
        if queued >= self.wanted.load(Ordering::Relaxed) {
            self.wanted.store(usize::MAX, Ordering::Relaxed);
            self.is_there.notify_one();
        }
    }

    /// Waits for `time`, or until so many are in the queue. May end before either.
    pub(super) async fn or(&self, wanted: usize, time: impl Future<Output = ()>) {
        self.wanted.store(wanted, Ordering::Relaxed);
        tokio::select! {
            () = time => {}
            () = self.is_there.notified() => {}
        }
        self.wanted.store(usize::MAX, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use runtime::clock::monotonic;
    use std::future::pending;

    const MS: Duration = Duration::from_millis(1);

    /// After a statement that stored as many at `begin`.
    fn after(begin: Instant, stored: usize) -> Gathering {
        let mut gathering = Gathering::default();
        assert_eq!(gathering.pause(begin, stored), None, "the first waits for nobody");
        gathering
    }

    #[test]
    fn enough_company_ends_the_wait_at_once() {
        let company = Company::new();
        let mut waits = Box::pin(company.or(4, pending()));
        assert_eq!(waits.as_mut().now_or_never(), None);
        company.come(3);
        assert_eq!(waits.as_mut().now_or_never(), None, "not enough");
        company.come(4);
        assert_eq!(waits.as_mut().now_or_never(), Some(()));
    }

    #[test]
    fn a_lone_submit_waits_for_nobody() {
        let begin = monotonic();
        for stored in [1, 2] {
            assert_eq!(after(begin, stored).pause(begin + MS, 1), None);
        }
    }

    #[test]
    fn where_they_keep_coming_they_go_together_once_in_a_spacing() {
        let begin = monotonic();
        let mut gathering = after(begin, 4);
        let (mut now, mut waiting) = (begin + MS, 4);
        while let Some(until) = gathering.pause(now, waiting) {
            assert!(now < until && until <= (now + STEP).min(begin + SPACING));
            (now, waiting) = (until, waiting + 2);
        }
        assert_eq!((now, waiting), (begin + SPACING, 12));
        assert!(gathering.pause(now + MS, 4).is_some(), "and so the next");
    }

    #[test]
    fn enough_wait_for_nobody_and_nor_do_those_who_waited_for_a_long_statement() {
        let begin = monotonic();
        assert_eq!(after(begin, 16).pause(begin + MS, ENOUGH), None);
        assert_eq!(after(begin, 4).pause(begin + SPACING, 4), None);
    }

    /// From `now` on: groups of as many, who all wait for their answers, until one of them is waited for in vain.
    fn in_vain(gathering: &mut Gathering, now: &mut Instant, callers: usize) -> Duration {
        let from = *now;
        loop {
            *now += MS;
            let began = *now;
            while let Some(until) = gathering.pause(*now, callers) {
                *now = until;
            }
            if began < *now {
                assert_eq!(*now - began, QUIET, "no longer than it takes to see that nobody comes");
                return began - from;
            }
        }
    }

    #[test]
    fn who_all_wait_for_answers_are_waited_for_ever_more_rarely() {
        let mut now = monotonic();
        let mut gathering = after(now, 8);
        in_vain(&mut gathering, &mut now, 8);
        for believed in [10, 20, 40, 80, 160, 320, 640, 640] {
            let passed = in_vain(&mut gathering, &mut now, 8);
            assert!(passed.abs_diff(MS * believed) <= MS * 2, "{passed:?}, not {believed} ms");
        }
    }

    #[test]
    fn where_they_come_again_they_are_waited_for_at_once_again() {
        let mut now = monotonic();
        let mut gathering = after(now, 8);
        for _ in 0..5 {
            in_vain(&mut gathering, &mut now, 8);
        }
        now += BELIEVED_MOST;
        assert_eq!(gathering.pause(now, 4), None, "long after the last");
        let mut waiting = 4;
        now += MS;
        while let Some(until) = gathering.pause(now, waiting) {
            (now, waiting) = (until, waiting + 2);
        }
        in_vain(&mut gathering, &mut now, 8);
        let passed = in_vain(&mut gathering, &mut now, 8);
        assert!(passed.abs_diff(BELIEVED) <= MS * 2, "{passed:?}");
    }

    #[test]
    fn a_short_rest_of_a_spacing_tells_nothing() {
        let begin = monotonic();
        let mut gathering = after(begin, 4);
        let late = begin + SPACING - STEP / 5;
        assert_eq!(gathering.pause(late, 4), Some(begin + SPACING));
        assert_eq!(gathering.pause(begin + SPACING, 4), None);
        assert!(gathering.pause(begin + SPACING + MS, 4).is_some());
    }
}
