//! A lease against a Redis whose answers the test makes, on a clock of the test.

use super::*;
use domain::rate::HOUR;
use domain::time::Timestamp;

const ALONE: Mode = Mode::Alone { replicas: 1 };
const AWAY: Mode = Mode::Fallback { replicas: 3 };

/// Moments after the start of an hour, in milliseconds.
struct Clock(Instant);

impl Clock {
    fn at(&self, ms: u64) -> Moment {
        let since = Duration::from_millis(ms);
        let wall = Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + since;
        Moment { at: self.0 + since, wall }
    }
}

/// One tenant's lease and its clock.
struct Tenant(Lease, Clock);

impl Tenant {
    fn new((per_second, burst, per_hour): (u32, u32, u32), mode: Mode) -> Self {
        let clock = Clock(runtime::clock::monotonic());
        Self(Lease::new(Rates { per_second, burst, per_hour }, mode, &clock.at(0)), clock)
    }

    /// What is admitted of `wanted`; `None`: Redis must be called.
    fn admit(&mut self, wanted: u64, mode: Mode, ms: u64) -> Option<(u64, Option<RateName>)> {
        let decision = self.0.admit(wanted, mode, &self.1.at(ms));
        decision.map(|decision| (decision.admitted, decision.shortage.map(|s| s.limit)))
    }

    /// How many without a call.
    fn admitted(&mut self, wanted: u64, mode: Mode, ms: u64) -> u64 {
        self.admit(wanted, mode, ms).unwrap().0
    }

    fn request(&mut self, wanted: u64, ms: u64) -> LeaseRequest {
        self.0.request(wanted, &self.1.at(ms))
    }

    /// Redis grants `tokens` of what `request` wants and has nothing left; admits of `wanted`.
    fn granted(&mut self, request: &LeaseRequest, tokens: u64, wanted: u64, ms: u64) -> u64 {
        let wait = Duration::from_millis(100);
        let shortage = Shortage { limit: RateName::SubmitsPerSecond, wait };
        let now = self.1.at(ms);
        let grant = Grant {
            tokens,
            shortage: (tokens < request.wanted).then_some(shortage),
            left: 0,
            hour: now.hour(),
            used: tokens,
        };
        self.0.granted((request, &grant), wanted, &now).admitted
    }

    fn left(&mut self, mode: Mode, ms: u64) -> u64 {
        self.0.uses(mode, &self.1.at(ms)).0.left
    }

    fn used(&self, ms: u64) -> u64 {
        self.0.used_of_hour(&self.1.at(ms))
    }
}

#[test]
fn alone_a_process_has_the_whole_limit() {
    let mut tenant = Tenant::new((10, 20, 0), ALONE);
    assert_eq!(tenant.admit(50, ALONE, 0), Some((20, Some(RateName::SubmitsPerSecond))));
    assert_eq!(tenant.admit(1, ALONE, 100), Some((1, None)));
    tenant.0.give_back(1, ALONE, &tenant.1.at(100));
    assert_eq!(tenant.admit(2, ALONE, 100), Some((1, Some(RateName::SubmitsPerSecond))));
}

#[test]
fn an_hour_has_its_limit_and_the_next_one_its_own() {
    let mut tenant = Tenant::new((1000, 1000, 30), ALONE);
    tenant.0.restore(tenant.1.at(0).hour(), 10);
    assert_eq!(tenant.admit(50, ALONE, 0), Some((20, Some(RateName::SubmitsPerHour))));
    assert_eq!(tenant.used(0), 30);
    let refused = tenant.0.admit(1, ALONE, &tenant.1.at(3_000_000)).unwrap();
    assert_eq!(refused.shortage.unwrap().wait, Duration::from_secs(600));
    let next = HOUR.as_millis() as u64;
    assert_eq!(tenant.admit(50, ALONE, next), Some((30, Some(RateName::SubmitsPerHour))));
}

#[test]
fn several_processes_without_a_redis_hold_a_share_each() {
    let three = Mode::Alone { replicas: 3 };
    let mut tenant = Tenant::new((30, 60, 90), three);
    assert_eq!(tenant.admitted(100, three, 0), 20);
    assert_eq!(tenant.admitted(100, three, 500), 5);
    assert_eq!(tenant.admit(100, three, 9000), Some((5, Some(RateName::SubmitsPerHour))));
    // The others have gone: the whole is this one's, as full as its share was.
    assert_eq!(tenant.admit(100, ALONE, 9000), Some((45, Some(RateName::SubmitsPerSecond))));
    let mut few = Tenant::new((30, 60, 2), three);
    assert_eq!(few.admit(10, three, 0), Some((1, Some(RateName::SubmitsPerHour))), "the last ones");
}

#[test]
fn a_lease_serves_many_and_what_nobody_used_is_returned_once() {
    let mut tenant = Tenant::new((100, 200, 0), Mode::Shared);
    for (ms, size) in [(0, 2), (10, 4), (20, 8), (30, 10), (40, 10), (1000, 5)] {
        assert_eq!(tenant.request(1, ms).wanted, size, "doubled up to 100 ms of the rate");
    }
    let request = tenant.request(1, 1010);
    assert_eq!(request.wanted, 10);
    assert_eq!(tenant.granted(&request, 10, 1, 1010), 1);
    for _ in 0..6 {
        assert_eq!(tenant.admit(1, Mode::Shared, 1900), Some((1, None)));
    }
    let unreported = |tenant: &mut Tenant, ms| tenant.0.unreported(Mode::Shared, &tenant.1.at(ms));
    assert_eq!(unreported(&mut tenant, 2000), None, "still valid");
    let report = unreported(&mut tenant, 2010).unwrap();
    assert_eq!((report.wanted, report.balance, report.hour_balance), (0, 3, 3));
    assert_eq!(unreported(&mut tenant, 2010), None, "once");
    assert_eq!(tenant.admit(1, Mode::Shared, 2010), None);
}

#[test]
fn a_batch_asks_for_what_it_needs_and_an_empty_bucket_is_left_alone_for_a_while() {
    let mut tenant = Tenant::new((10, 20, 0), Mode::Shared);
    assert_eq!(tenant.admit(100, Mode::Shared, 0), None);
    let request = tenant.request(100, 0);
    assert_eq!(request.wanted, 100);
    assert_eq!(tenant.granted(&request, 20, 100, 0), 20);
    assert_eq!(tenant.admit(1, Mode::Shared, 99), Some((0, Some(RateName::SubmitsPerSecond))));
    assert_eq!(tenant.left(Mode::Shared, 99), 0);
    assert_eq!(tenant.admit(1, Mode::Shared, 100), None);
}

/// Buckets have begun empty two milliseconds ago.
#[test]
fn who_stays_below_a_large_rate_is_not_refused_after_a_lease_that_gave_less() {
    let mut tenant = Tenant::new((1_000_000, 1_000_000, 0), Mode::Shared);
    let request = tenant.request(12_500, 0);
    let wait = Duration::ZERO;
    let now = tenant.1.at(0);
    let shortage = Some(Shortage { limit: RateName::SubmitsPerSecond, wait });
    let grant = Grant { tokens: 2000, shortage, left: 0, hour: now.hour(), used: 0 };
    tenant.0.granted((&request, &grant), 0, &now);
    assert_eq!(tenant.admit(2000, Mode::Shared, 13), Some((2000, None)));
    assert_eq!(tenant.admit(1, Mode::Shared, 13), None);
}

#[test]
fn a_larger_plan_acts_at_once() {
    let larger = |tenant: &mut Tenant| {
        let rates = Rates { per_second: 1000, burst: 1000, per_hour: 0 };
        tenant.0.set_rates(rates, &tenant.1.at(10));
    };
    let mut leased = Tenant::new((1, 500, 0), Mode::Shared);
    let request = leased.request(1, 0);
    assert_eq!(leased.granted(&request, 0, 1, 0), 0);
    assert!(leased.admit(1, Mode::Shared, 10).is_some());
    larger(&mut leased);
    assert_eq!(leased.admit(1, Mode::Shared, 10), None);
    let mut alone = Tenant::new((1, 500, 0), ALONE);
    assert_eq!(alone.admitted(500, ALONE, 0), 500);
    larger(&mut alone);
    assert_eq!(alone.left(ALONE, 110), 100, "also before anything more is submitted");
}

#[test]
fn without_redis_a_process_has_its_share_of_what_was_left() {
    let mut tenant = Tenant::new((30, 60, 0), Mode::Shared);
    let request = tenant.request(100, 0);
    assert_eq!(tenant.granted(&request, 60, 60, 0), 60);
    // The shared bucket was empty: so is this one, and it fills with a third of the rate.
    assert_eq!(tenant.admit(10, AWAY, 0), Some((0, Some(RateName::SubmitsPerSecond))));
    assert_eq!(tenant.admitted(100, AWAY, 1000), 10);
    assert_eq!(tenant.admitted(100, AWAY, 60_000), 20, "its share of the burst");
    // A tenant who was not here has its share of a full one.
    let mut fresh = Tenant::new((30, 60, 0), AWAY);
    assert_eq!(fresh.admitted(100, AWAY, 0), 20);
}

#[test]
fn what_was_admitted_without_redis_is_owed_with_its_age_until_redis_answers() {
    let mut tenant = Tenant::new((30, 60, 1000), AWAY);
    assert_eq!(tenant.admitted(7, AWAY, 0), 7);
    assert_eq!(tenant.used(0), 7);
    let kept = |adds_owed| tenant.0.kept_of_hour(adds_owed, &tenant.1.at(0));
    assert_eq!((kept(false), kept(true)), (0, 7), "only the last checkpoint adds what is owed");
    // The next request comes long after Redis does: what is owed is no younger for that.
    assert_eq!(tenant.admit(1, Mode::Shared, 5000), None);
    assert_eq!(tenant.used(5000), 7, "owed is used");
    let request = tenant.request(1, 5000);
    assert_eq!((request.balance, request.hour_balance, request.used), (-7, -7, 0));
    assert_eq!(request.balance_since, tenant.1.at(0).at);
    tenant.0.not_answered(&request);
    let again = tenant.request(1, 6000);
    assert_eq!((again.balance, again.hour_balance), (-7, -7));
    assert_eq!(again.balance_since, tenant.1.at(0).at);
    tenant.granted(&again, 8, 1, 6000);
    assert_eq!(tenant.used(6000), 8);
    assert_eq!(tenant.request(1, 6000).balance, 0);
}

#[test]
fn a_redis_that_comes_and_goes_fills_no_bucket_and_forgets_no_debt_and_no_hour() {
    let mut tenant = Tenant::new((30, 60, 90), Mode::Shared);
    let mut admitted = 0;
    // Three processes, each change within a moment: of 60 in the shared bucket this one has 20 once.
    for change in 0..20 {
        admitted += tenant.admitted(100, AWAY, change * 10);
        assert_eq!(tenant.admit(1, Mode::Shared, change * 10), None);
        let request = tenant.request(1, change * 10);
        tenant.0.not_answered(&request);
    }
    assert!((20..=22).contains(&admitted), "{admitted}");
    assert_eq!(tenant.used(200), admitted);
    admitted += tenant.admitted(100, AWAY, 200);
    assert_eq!(tenant.admit(1, Mode::Shared, 60_000), None);
    let request = tenant.request(1, 60_000);
    let owed = i64::try_from(admitted).unwrap();
    assert_eq!((request.balance, request.hour_balance), (-owed, -owed));
    assert_eq!(request.balance_since, tenant.1.at(0).at);
    tenant.0.not_answered(&request);
    // A third of 90 is its share of the hour, however often Redis goes away.
    assert_eq!(tenant.admitted(100, AWAY, 60_000), 30 - admitted);
}

#[test]
fn what_is_given_back_ends_with_its_lease_and_is_no_more_than_one() {
    let mut tenant = Tenant::new((100, 1000, 0), Mode::Shared);
    // Requests that are admitted for nothing, far more often than a lease lasts.
    let request = tenant.request(1, 0);
    assert_eq!(tenant.granted(&request, 1, 0, 0), 0);
    for ms in 0..1000 {
        assert_eq!(tenant.admitted(1, Mode::Shared, ms), 1);
        tenant.0.give_back(1, Mode::Shared, &tenant.1.at(ms));
    }
    assert_eq!(tenant.admit(1, Mode::Shared, 1000), None);
    assert_eq!(tenant.request(1, 1000).balance, 1);
    // A batch for which there was no room leaves 100 ms of the rate at hand.
    let request = tenant.request(500, 1000);
    assert_eq!(tenant.granted(&request, 500, 500, 1000), 500);
    tenant.0.give_back(500, Mode::Shared, &tenant.1.at(1001));
    let request = tenant.request(20, 1002);
    assert_eq!((request.balance, request.hour_balance), (490, 490));
}

#[test]
fn who_has_some_of_what_it_needs_asks_for_the_rest_and_keeps_what_it_has() {
    let mut tenant = Tenant::new((100, 1000, 0), Mode::Shared);
    let request = tenant.request(10, 0);
    assert_eq!(tenant.granted(&request, 10, 0, 0), 0);
    let request = tenant.request(30, 1);
    assert_eq!(request.wanted, 20);
    assert_eq!(tenant.admit(1, Mode::Shared, 1), None, "the ten are spoken for");
    assert_eq!(tenant.granted(&request, 20, 30, 2), 30);
    // Where Redis does not answer they are returned with the others.
    let request = tenant.request(10, 3);
    tenant.granted(&request, 10, 0, 3);
    let request = tenant.request(30, 4);
    tenant.0.not_answered(&request);
    assert_eq!(tenant.admitted(1, AWAY, 4), 0);
    assert_eq!(tenant.request(0, 4).balance, 10);
}

#[test]
fn what_is_given_back_beyond_a_lease_ends_a_refusal() {
    let mut tenant = Tenant::new((100, 1000, 0), Mode::Shared);
    let request = tenant.request(500, 0);
    assert_eq!(tenant.granted(&request, 400, 500, 0), 400);
    assert_eq!(tenant.admit(20, Mode::Shared, 1), Some((0, Some(RateName::SubmitsPerSecond))));
    tenant.0.give_back(400, Mode::Shared, &tenant.1.at(1));
    assert_eq!(tenant.admit(20, Mode::Shared, 1), None, "Redis has more now");
}

#[test]
fn an_exhausted_hour_does_not_empty_the_burst() {
    let mut tenant = Tenant::new((10, 20, 30), Mode::Shared);
    let (request, now) = (tenant.request(20, 0), tenant.1.at(0));
    let shortage = Some(Shortage { limit: RateName::SubmitsPerHour, wait: HOUR });
    let grant = Grant { tokens: 5, shortage, left: 15, hour: now.hour(), used: 30 };
    assert_eq!(tenant.0.granted((&request, &grant), 20, &now).admitted, 5);
    let (burst, hour) = tenant.0.uses(Mode::Shared, &now);
    assert_eq!((burst.left, hour.unwrap().left), (15, 0));
}

#[test]
fn buckets_that_do_not_count_yet_lose_neither_debts_nor_what_is_returned() {
    let mut tenant = Tenant::new((10, 20, 100), Mode::Shared);
    let request = tenant.request(8, 0);
    tenant.granted(&request, 8, 0, 0);
    assert_eq!(tenant.admit(1, Mode::Shared, 1000), None, "they have expired");
    let request = tenant.request(1, 1500);
    assert_eq!((request.balance, request.hour_balance), (8, 8));
    tenant.0.not_applied(&request);
    let again = tenant.request(1, 2000);
    assert_eq!((again.balance, again.hour_balance), (8, 8));
    assert_eq!(again.balance_since, tenant.1.at(1000).at);
    tenant.0.not_answered(&again);
    assert_eq!(tenant.request(1, 2000).balance, 0, "it may have been applied");
}

#[test]
fn tokens_that_outlast_their_hour_count_in_the_next_one_where_they_are_used() {
    let mut tenant = Tenant::new((10, 20, 100), Mode::Shared);
    let next = HOUR.as_millis() as u64;
    let request = tenant.request(5, next - 500);
    tenant.granted(&request, 5, 0, next - 500);
    // Every answer's headers are of the present hour.
    tenant.left(Mode::Shared, next);
    assert_eq!(tenant.admitted(2, Mode::Shared, next), 2);
    assert_eq!(tenant.admit(1, Mode::Shared, next + 500), None);
    let request = tenant.request(1, next + 500);
    assert_eq!(request.hour, tenant.1.at(next).hour());
    assert_eq!((request.balance, request.hour_balance), (3, -2));
}

#[test]
fn a_debt_of_an_hour_that_is_over_is_not_one_of_the_next() {
    let mut tenant = Tenant::new((10, 20, 100), AWAY);
    let next = HOUR.as_millis() as u64;
    assert_eq!(tenant.admitted(4, AWAY, next - 10), 4);
    let request = tenant.request(1, next - 5);
    assert_eq!(request.hour_balance, -4);
    // The hour turns during the call.
    tenant.left(AWAY, next);
    tenant.0.not_answered(&request);
    let again = tenant.request(1, next);
    assert_eq!((again.balance, again.hour_balance), (-4, 0));
}

#[test]
fn leased_tokens_when_redis_goes_are_returned_and_no_bonus() {
    let mut tenant = Tenant::new((10, 20, 100), Mode::Shared);
    let request = tenant.request(20, 0);
    tenant.granted(&request, 20, 0, 0);
    let one = Mode::Fallback { replicas: 1 };
    assert_eq!(tenant.admitted(20, one, 0), 0);
    assert_eq!(tenant.admitted(20, one, 1000), 10);
    assert_eq!(tenant.admit(1, Mode::Shared, 9000), None);
    let request = tenant.request(1, 9000);
    assert_eq!((request.balance, request.hour_balance), (10, 10), "20 leased, 10 admitted");
}

#[test]
fn an_idle_lease_with_nothing_to_report_may_be_forgotten() {
    let idle = |tenant: &Tenant, ms| tenant.0.is_idle(&tenant.1.at(ms));
    let mut tenant = Tenant::new((10, 20, 0), ALONE);
    tenant.admitted(20, ALONE, 0);
    assert!(!idle(&tenant, 500_000) && idle(&tenant, 700_000));
    let mut slow = Tenant::new((1, 10_000_000, 0), ALONE);
    slow.admitted(10_000_000, ALONE, 0);
    assert!(!idle(&slow, 700_000), "its bucket is far from full");
    let mut owing = Tenant::new((10, 20, 0), AWAY);
    owing.admitted(1, AWAY, 0);
    assert!(!idle(&owing, 700_000), "Redis does not know of its task");
    let mut calling = Tenant::new((10, 20, 0), Mode::Shared);
    assert_eq!(calling.admit(1, Mode::Shared, 700_000), None);
    assert!(!idle(&calling, 700_000), "it is in use, though each submission needs a call");
    let request = calling.request(1, 700_000);
    assert_eq!(calling.granted(&request, 1, 1, 700_040), 1);
    assert!(!idle(&calling, 1_300_039) && idle(&calling, 1_300_040));
}

#[test]
fn a_small_bucket_is_asked_for_before_it_runs_over() {
    let pause = |rates, wanted| Tenant::new(rates, Mode::Shared).0.pause_after(wanted).as_millis();
    assert_eq!(pause((10, 20, 0), 1), 100);
    assert_eq!(pause((1000, 50, 0), 100), 25);
    assert_eq!(pause((1_000_000, 1, 0), 100_000), 2);
    assert_eq!(pause((1_000_000, 1_000_000, 0), 12_500), 12, "when as many have come");
}
