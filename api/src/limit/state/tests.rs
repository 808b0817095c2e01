//! A meter's state against a Redis played by hand, on a clock of the test's own.

use super::*;
use domain::rate::HOUR;
use domain::time::Timestamp;

const ALONE: Counted = Counted { way: Way::Alone { replicas: 1 }, term: 1 };
const SHARED: Counted = Counted { way: Way::Shared, term: 2 };

fn local(replicas: u32, term: u64) -> Counted {
    Counted { way: Way::Local { replicas }, term }
}

fn rates(per_second: u32, burst: u32, per_hour: u32) -> Rates {
    Rates { per_second, burst, per_hour }
}

/// Moments after one start, which lies at the start of an hour.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Self(runtime::clock::monotonic())
    }

    fn at(&self, ms: u64) -> Moment {
        let since = Duration::from_millis(ms);
        let wall = Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + since;
        Moment { at: self.0 + since, since, wall }
    }
}

fn done(take: Take) -> (u64, Option<Limit>) {
    match take {
        Take::Done(admission) => (admission.admitted, admission.shortage.map(|s| s.limit)),
        Take::Lease => panic!("needs a lease"),
    }
}

fn lease(granted: u64, shortage: Option<(Limit, u64)>, now: &Moment) -> Lease {
    let shortage = shortage.map(|(limit, ms)| Shortage { limit, wait: Duration::from_millis(ms) });
    Lease { granted, shortage, left: 0, hour: now.hour(), used: granted }
}

#[test]
fn alone_a_process_has_the_whole_limit() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 0), ALONE, &clock.at(0));
    assert_eq!(done(state.take(50, ALONE, &clock.at(0))), (20, Some(Limit::PerSecond)));
    assert_eq!(done(state.take(1, ALONE, &clock.at(100))), (1, None));
    state.give_back(1, ALONE, &clock.at(100));
    assert_eq!(done(state.take(2, ALONE, &clock.at(100))), (1, Some(Limit::PerSecond)));
}

#[test]
fn an_hour_has_its_limit_and_the_next_one_its_own() {
    let clock = Clock::new();
    let mut state = State::new(rates(1000, 1000, 30), ALONE, &clock.at(0));
    state.restore(clock.at(0).hour(), 10);
    assert_eq!(done(state.take(50, ALONE, &clock.at(0))), (20, Some(Limit::PerHour)));
    assert_eq!(state.used_of_hour(&clock.at(0)), 30);
    assert_eq!(done(state.take(1, ALONE, &clock.at(1_000_000))), (0, Some(Limit::PerHour)));
    let Take::Done(refused) = state.take(1, ALONE, &clock.at(3_000_000)) else { panic!("alone") };
    assert_eq!(refused.shortage.unwrap().wait, Duration::from_secs(600));
    let next = HOUR.as_millis() as u64;
    assert_eq!(done(state.take(50, ALONE, &clock.at(next))), (30, Some(Limit::PerHour)));
}

#[test]
fn a_lease_serves_many_and_what_nobody_used_goes_back() {
    let clock = Clock::new();
    let mut state = State::new(rates(100, 200, 0), SHARED, &clock.at(0));
    for _ in 0..30 {
        state.wants(1, &clock.at(0));
    }
    assert_eq!(state.take(1, SHARED, &clock.at(0)), Take::Lease);
    let ask = state.ask(1, &clock.at(0));
    assert_eq!((ask.wanted, ask.back), (10, 0), "as demand has it, 100 ms of the rate at most");
    state.leased(&ask, &lease(10, None, &clock.at(0)), &clock.at(0));
    for _ in 0..7 {
        assert_eq!(done(state.take(1, SHARED, &clock.at(900))), (1, None));
    }
    assert_eq!(state.idle(SHARED, &clock.at(999)), None, "still good");
    let back = state.idle(SHARED, &clock.at(1000)).unwrap();
    assert_eq!((back.wanted, back.back, back.hour_back), (0, 3, 3));
    assert_eq!(state.idle(SHARED, &clock.at(1000)), None, "once");
    assert_eq!(state.take(1, SHARED, &clock.at(1000)), Take::Lease);
}

#[test]
fn a_batch_asks_for_what_it_needs_and_takes_what_there_is() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 0), SHARED, &clock.at(0));
    assert_eq!(state.take(100, SHARED, &clock.at(0)), Take::Lease);
    let ask = state.ask(100, &clock.at(0));
    assert_eq!(ask.wanted, 100);
    let short = lease(20, Some((Limit::PerSecond, 100)), &clock.at(0));
    state.leased(&ask, &short, &clock.at(0));
    assert_eq!(done(state.take(100, SHARED, &clock.at(0))), (20, Some(Limit::PerSecond)));
    // Nobody asks again while there is nothing to be had.
    assert_eq!(done(state.take(1, SHARED, &clock.at(99))), (0, Some(Limit::PerSecond)));
    assert_eq!(state.left(&clock.at(99)).0, 0);
    assert_eq!(state.take(1, SHARED, &clock.at(100)), Take::Lease);
}

/// Buckets have begun anew, empty, two milliseconds ago.
#[test]
fn who_stays_below_a_large_rate_is_not_refused_after_a_lease_that_gave_less() {
    let clock = Clock::new();
    let mut state = State::new(rates(1_000_000, 1_000_000, 0), SHARED, &clock.at(0));
    state.wants(12_500, &clock.at(0));
    let ask = state.ask(1, &clock.at(0));
    assert_eq!(ask.wanted, 12_500);
    state.leased(&ask, &lease(2000, Some((Limit::PerSecond, 0)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(2000, SHARED, &clock.at(13))), (2000, None));
    assert_eq!(state.take(1, SHARED, &clock.at(13)), Take::Lease);
}

#[test]
fn a_larger_plan_is_asked_for_at_once() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 5), SHARED, &clock.at(0));
    let ask = state.ask(1, &clock.at(0));
    state.leased(&ask, &lease(0, Some((Limit::PerHour, 3_000_000)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(1, SHARED, &clock.at(10))), (0, Some(Limit::PerHour)));
    state.set_rates(rates(10, 20, 1000), &clock.at(20));
    assert_eq!(state.take(1, SHARED, &clock.at(20)), Take::Lease);
}

#[test]
fn a_larger_plan_fills_an_empty_bucket_as_fast_as_it_says() {
    let clock = Clock::new();
    let mut state = State::new(rates(1, 500, 0), ALONE, &clock.at(0));
    assert_eq!(done(state.take(500, ALONE, &clock.at(0))).0, 500);
    state.set_rates(rates(1000, 1000, 0), &clock.at(10));
    assert_eq!(state.left(&clock.at(110)).0, 100, "also before anything more is submitted");
}

#[test]
fn without_redis_a_process_has_its_share_of_what_was_left() {
    let clock = Clock::new();
    let mut state = State::new(rates(30, 60, 0), SHARED, &clock.at(0));
    let ask = state.ask(100, &clock.at(0));
    state.leased(&ask, &lease(60, Some((Limit::PerSecond, 33)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(60, SHARED, &clock.at(0))).0, 60);
    // The shared bucket was empty: so is this one, and it fills with a third.
    let away = local(3, 3);
    assert_eq!(done(state.take(10, away, &clock.at(0))), (0, Some(Limit::PerSecond)));
    assert_eq!(done(state.take(100, away, &clock.at(1000))).0, 10);
    assert_eq!(done(state.take(100, away, &clock.at(60_000))).0, 20, "its share of the burst");
    // A tenant who was not here has its share of a full one.
    let mut fresh = State::new(rates(30, 60, 0), away, &clock.at(0));
    assert_eq!(done(fresh.take(100, away, &clock.at(0))).0, 20);
}

#[test]
fn several_processes_without_a_redis_hold_a_share_each() {
    let clock = Clock::new();
    let three = Counted { way: Way::Alone { replicas: 3 }, term: 1 };
    let mut state = State::new(rates(30, 60, 90), three, &clock.at(0));
    assert_eq!(done(state.take(100, three, &clock.at(0))).0, 20);
    assert_eq!(done(state.take(100, three, &clock.at(500))).0, 5);
    assert_eq!(done(state.take(100, three, &clock.at(9000))), (5, Some(Limit::PerHour)));
    // The others have gone: the whole is this one's, as full as its share was.
    assert_eq!(done(state.take(100, ALONE, &clock.at(9000))), (45, Some(Limit::PerSecond)));
}

#[test]
fn what_was_lent_is_owed_with_its_age_until_it_is_told() {
    let clock = Clock::new();
    let mut state = State::new(rates(30, 60, 1000), local(3, 1), &clock.at(0));
    assert_eq!(done(state.take(7, local(3, 1), &clock.at(0))), (7, None));
    assert_eq!(state.used_of_hour(&clock.at(0)), 7);
    // The next request comes long after Redis does: what it owes is no younger for that.
    assert_eq!(state.take(1, SHARED, &clock.at(5000)), Take::Lease);
    assert_eq!(state.used_of_hour(&clock.at(5000)), 7, "owed is used");
    let ask = state.ask(1, &clock.at(5000));
    assert_eq!((ask.back, ask.hour_back, ask.used), (-7, -7, 0));
    assert_eq!(ask.owed_for, Duration::from_secs(5));
    // An answer that never came leaves it owed.
    state.unanswered(&ask);
    let again = state.ask(1, &clock.at(6000));
    assert_eq!((again.back, again.hour_back), (-7, -7));
    assert_eq!(again.owed_for, Duration::from_secs(6));
    let mut told = lease(1, None, &clock.at(6000));
    told.used = 8;
    state.leased(&again, &told, &clock.at(6000));
    assert_eq!(state.used_of_hour(&clock.at(6000)), 8);
    assert_eq!(state.ask(1, &clock.at(6000)).back, 0);
}

#[test]
fn a_redis_that_comes_and_goes_fills_no_bucket_and_forgets_no_debt_and_no_hour() {
    let clock = Clock::new();
    let mut state = State::new(rates(30, 60, 90), SHARED, &clock.at(0));
    let mut admitted = 0;
    // Three processes, each change within a moment: of 60 in the shared bucket this one has 20 once.
    for change in 0..20 {
        let now = clock.at(change * 10);
        admitted += done(state.take(100, local(3, 3 + 2 * change), &now)).0;
        let shared = Counted { way: Way::Shared, term: 4 + 2 * change };
        assert_eq!(state.take(1, shared, &now), Take::Lease);
        // It is gone again before it answers.
        let ask = state.ask(1, &now);
        state.unanswered(&ask);
    }
    assert!((20..=22).contains(&admitted), "{admitted}");
    assert_eq!(state.used_of_hour(&clock.at(200)), admitted);
    // Nor does one that was slept through.
    assert!(done(state.take(100, local(3, 101), &clock.at(200))).0 <= 1);
    let shared = Counted { way: Way::Shared, term: 102 };
    assert_eq!(state.take(1, shared, &clock.at(60_000)), Take::Lease);
    let owed = state.used_of_hour(&clock.at(60_000));
    let ask = state.ask(1, &clock.at(60_000));
    assert_eq!((ask.back, ask.hour_back), (-(owed as i64), -(owed as i64)));
    assert_eq!(ask.owed_for, Duration::from_secs(60));
    state.unanswered(&ask);
    // A third of 90 is its share of the hour, however often it begins to count by itself.
    assert_eq!(done(state.take(100, local(3, 103), &clock.at(60_000))).0, 30 - owed);
}

#[test]
fn what_is_given_back_ends_with_its_lease_and_is_no_more_than_one() {
    let clock = Clock::new();
    let mut state = State::new(rates(100, 1000, 0), SHARED, &clock.at(0));
    // Requests that are admitted for nothing, far more often than a lease lasts.
    assert_eq!(state.take(1, SHARED, &clock.at(0)), Take::Lease);
    let ask = state.ask(1, &clock.at(0));
    state.leased(&ask, &lease(1, None, &clock.at(0)), &clock.at(0));
    for ms in 0..1000 {
        assert_eq!(done(state.take(1, SHARED, &clock.at(ms))).0, 1);
        state.give_back(1, SHARED, &clock.at(ms));
    }
    assert_eq!(state.take(1, SHARED, &clock.at(1000)), Take::Lease);
    assert_eq!(state.ask(1, &clock.at(1000)).back, 1);
    // A batch for which there was no room leaves 100 ms of the rate in hand.
    let ask = state.ask(500, &clock.at(1000));
    state.leased(&ask, &lease(500, None, &clock.at(1000)), &clock.at(1000));
    assert_eq!(done(state.take(500, SHARED, &clock.at(1000))).0, 500);
    state.give_back(500, SHARED, &clock.at(1001));
    let ask = state.ask(20, &clock.at(1002));
    assert_eq!((ask.back, ask.hour_back, ask.wanted), (490, 490, 10));
}

#[test]
fn tokens_in_hand_when_redis_goes_are_no_bonus() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 100), SHARED, &clock.at(0));
    let ask = state.ask(20, &clock.at(0));
    state.leased(&ask, &lease(20, Some((Limit::PerSecond, 100)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(20, local(1, 3), &clock.at(0))).0, 0);
    assert_eq!(done(state.take(20, local(1, 3), &clock.at(1000))).0, 10);
    assert_eq!(state.take(1, Counted { way: Way::Shared, term: 4 }, &clock.at(9000)), Take::Lease);
    let ask = state.ask(1, &clock.at(0));
    assert_eq!(ask.hour_back, 20 - 10, "of the hour: 20 leased for nothing, 10 lent");
    assert_eq!(ask.back, -10, "the bucket lost the 20 when Redis went");
}

#[test]
fn a_quiet_meter_with_nothing_in_hand_may_be_forgotten() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 0), ALONE, &clock.at(0));
    state.take(20, ALONE, &clock.at(0));
    assert!(!state.is_forgettable(&clock.at(500_000)));
    assert!(state.is_forgettable(&clock.at(700_000)));
    let mut slow = State::new(rates(1, 10_000_000, 0), ALONE, &clock.at(0));
    slow.take(10_000_000, ALONE, &clock.at(0));
    assert!(!slow.is_forgettable(&clock.at(700_000)), "its bucket is far from full");
}
