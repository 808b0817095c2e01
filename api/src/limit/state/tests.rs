//! A meter's state against a Redis played by hand, on a clock of the test's own.

use super::*;
use domain::rate::HOUR;
use domain::time::Timestamp;

const ALONE: Counted = Counted { way: Way::Alone, term: 1 };
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
    let ask = state.ask(1);
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
    let ask = state.ask(100);
    assert_eq!(ask.wanted, 100);
    let short = lease(20, Some((Limit::PerSecond, 100)), &clock.at(0));
    state.leased(&ask, &short, &clock.at(0));
    assert_eq!(done(state.take(100, SHARED, &clock.at(0))), (20, Some(Limit::PerSecond)));
    // Nobody asks again while there is nothing to be had.
    assert_eq!(done(state.take(1, SHARED, &clock.at(99))), (0, Some(Limit::PerSecond)));
    assert_eq!(state.left(&clock.at(99)).0, 0);
    assert_eq!(state.take(1, SHARED, &clock.at(100)), Take::Lease);
}

#[test]
fn a_larger_plan_is_asked_for_at_once() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 5), SHARED, &clock.at(0));
    let ask = state.ask(1);
    state.leased(&ask, &lease(0, Some((Limit::PerHour, 3_000_000)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(1, SHARED, &clock.at(10))), (0, Some(Limit::PerHour)));
    state.set_rates(rates(10, 20, 1000), &clock.at(20));
    assert_eq!(state.take(1, SHARED, &clock.at(20)), Take::Lease);
}

#[test]
fn without_redis_a_process_has_its_share_of_what_was_left() {
    let clock = Clock::new();
    let mut state = State::new(rates(30, 60, 0), SHARED, &clock.at(0));
    let ask = state.ask(100);
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
fn after_a_blip_what_was_lent_is_charged_and_after_an_outage_only_to_the_hour() {
    let clock = Clock::new();
    for (back_at, charged) in [(500, -7), (5000, 0)] {
        let mut state = State::new(rates(30, 60, 1000), local(3, 1), &clock.at(0));
        assert_eq!(done(state.take(7, local(3, 1), &clock.at(0))), (7, None));
        assert_eq!(state.used_of_hour(&clock.at(0)), 7);
        assert_eq!(state.take(1, SHARED, &clock.at(back_at)), Take::Lease);
        assert_eq!(state.used_of_hour(&clock.at(back_at)), 7, "owed is used");
        let ask = state.ask(1);
        assert_eq!((ask.back, ask.hour_back, ask.used), (charged, -7, 0));
        // An answer that never came leaves it owed.
        state.unanswered(&ask);
        let again = state.ask(1);
        assert_eq!((again.back, again.hour_back), (charged, -7));
        let mut told = lease(1, None, &clock.at(back_at));
        told.used = 8;
        state.leased(&again, &told, &clock.at(back_at));
        assert_eq!(state.used_of_hour(&clock.at(back_at)), 8);
    }
}

#[test]
fn tokens_in_hand_when_redis_goes_are_no_bonus() {
    let clock = Clock::new();
    let mut state = State::new(rates(10, 20, 100), SHARED, &clock.at(0));
    let ask = state.ask(20);
    state.leased(&ask, &lease(20, Some((Limit::PerSecond, 100)), &clock.at(0)), &clock.at(0));
    assert_eq!(done(state.take(20, local(1, 3), &clock.at(0))).0, 0);
    assert_eq!(done(state.take(20, local(1, 3), &clock.at(1000))).0, 10);
    assert_eq!(state.take(1, Counted { way: Way::Shared, term: 4 }, &clock.at(9000)), Take::Lease);
    let ask = state.ask(1);
    assert_eq!(ask.hour_back, 20 - 10, "of the hour: 20 leased for nothing, 10 lent");
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
