//! The account by itself, and a storm: a target that fails for a minute under steady traffic, and heals.

use super::*;
use crate::id::TenantId;
use std::time::Duration;

const RULE: BudgetRule = BudgetRule {
    per_first_attempt: 0.1,
    per_second: 1.0,
    burst: 20.0,
    open_after: 20,
    probe_interval: Duration::from_secs(1),
};

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn key(tenant: TenantId, target: &str) -> TargetKey {
    TargetKey { tenant, target: target.into() }
}

/// A closed account in which nothing is paid.
const fn end(first: bool, success: bool) -> AttemptEnd {
    AttemptEnd { first, success }
}

fn empty() -> Account {
    Account::new(&BudgetRule { burst: 0.0, ..RULE }, at(0.0))
}

/// `count` attempts at one moment, none of them first.
fn ended(account: &mut Account, now: f64, count: u32, success: bool) {
    for _ in 0..count {
        account.attempt_ended(&RULE, at(now), end(false, success));
    }
}

#[test]
fn a_burst_goes_at_once_and_what_comes_after_waits() {
    let mut account = Account::new(&RULE, at(0.0));
    for _ in 0..20 {
        assert_eq!(account.decide(&RULE, at(0.0)), RetryDecision::Granted);
    }
    assert_eq!(account.decide(&RULE, at(0.0)), RetryDecision::Held(Held::Budget));
    assert_eq!(
        account.decide(&RULE, at(5.0)),
        RetryDecision::Held(Held::Budget),
        "nobody passes those that wait"
    );
    assert_eq!(account.let_go(&RULE, at(5.0), 0.5), 5, "a second pays for one");
    account.not_there(&RULE, 4, false);
    assert_eq!(
        account.decide(&RULE, at(5.0)),
        RetryDecision::Granted,
        "what was not used is there"
    );
}

#[test]
fn a_success_pays_for_a_retry_and_a_first_attempt_for_a_part_of_one() {
    let mut account = empty();
    ended(&mut account, 0.0, 2, true);
    assert_eq!(account.let_go(&RULE, at(0.0), 0.5), 2);
    for _ in 0..15 {
        account.attempt_ended(&RULE, at(0.0), end(true, false));
    }
    assert_eq!(account.let_go(&RULE, at(0.0), 0.5), 1);
}

#[test]
fn what_a_busy_time_paid_is_not_kept_for_a_quiet_one() {
    let mut account = empty();
    for _ in 0..100 {
        account.attempt_ended(&RULE, at(0.0), end(true, true));
    }
    account.tick(&RULE);
    account.tick(&RULE);
    assert_eq!(account.let_go(&RULE, at(0.0), 0.5), 20);
}

#[test]
fn the_breaker_opens_after_failures_in_a_row_and_closes_after_successes_in_a_row() {
    let mut account = Account::new(&RULE, at(0.0));
    ended(&mut account, 0.0, 19, false);
    ended(&mut account, 0.0, 1, true);
    ended(&mut account, 0.0, 19, false);
    assert!(!account.is_open());
    ended(&mut account, 0.0, 1, false);
    assert_eq!(account.next_probe(), Some(at(1.0)));
    assert_eq!(account.decide(&RULE, at(0.0)), RetryDecision::Held(Held::BreakerOpen));
    ended(&mut account, 0.0, 2, true);
    ended(&mut account, 0.0, 1, false);
    ended(&mut account, 0.0, 2, true);
    assert!(account.is_open(), "two are not three");
    ended(&mut account, 0.0, 1, true);
    assert!(!account.is_open());
    assert_eq!(account.let_go(&RULE, at(0.0), 0.5), 1, "it begins with what its last success paid");
}

#[test]
fn while_the_breaker_is_open_one_probe_goes_now_and_then() {
    let mut account = Account::new(&RULE, at(0.0));
    ended(&mut account, 0.0, 20, false);
    assert_eq!(account.let_go(&RULE, at(0.9), 0.5), 0);
    assert_eq!(account.let_go(&RULE, at(1.0), 0.0), 1);
    assert_eq!(account.next_probe(), Some(at(1.5)));
    assert_eq!(account.let_go(&RULE, at(1.4), 0.0), 0);
    assert_eq!(account.let_go(&RULE, at(1.5), 1.0), 1);
    assert_eq!(account.next_probe(), Some(at(3.0)));
}

#[test]
fn an_account_that_says_no_more_than_a_new_one_is_not_kept() {
    let (mut books, tenant) = (Books::default(), TenantId::fresh());
    let one = key(tenant, "http://a:80");
    books.attempt_ended(&RULE, at(0.0), &one, end(true, true));
    assert_eq!(books.counts(), (0, 0), "what goes well costs nothing");
    books.attempt_ended(&RULE, at(0.0), &one, end(true, false));
    assert_eq!(books.decide(&RULE, at(0.0), &one), RetryDecision::Granted);
    books.attempt_ended(&RULE, at(1.0), &one, end(false, true));
    books.forget(&RULE, at(1.0));
    assert_eq!(books.counts(), (0, 0), "all is paid back");
    books.attempt_ended(&RULE, at(1.0), &one, end(true, false));
    books.forget(&RULE, at(500.0));
    assert_eq!(books.counts().0, 1, "it failed and was not heard of since");
    books.forget(&RULE, at(602.0));
    assert_eq!(books.counts().0, 0);
}

#[test]
fn memory_is_bounded_for_a_tenant_and_what_finds_no_place_is_granted() {
    let (mut books, tenant) = (Books::default(), TenantId::fresh());
    for target in 0..1500 {
        books.attempt_ended(
            &RULE,
            at(0.0),
            &key(tenant, &format!("http://{target}:80")),
            end(true, false),
        );
    }
    assert_eq!(books.counts().0, 1000);
    assert_eq!(
        books.decide(&RULE, at(0.0), &key(tenant, "http://more:80")),
        RetryDecision::Granted
    );
    books.attempt_ended(
        &RULE,
        at(0.0),
        &key(TenantId::fresh(), "http://more:80"),
        end(true, false),
    );
    assert_eq!(books.counts().0, 1001, "another tenant has a place");
}

#[test]
fn what_waits_is_known_from_others_and_nothing_is_paid_for_it() {
    let (mut books, tenant) = (Books::default(), TenantId::fresh());
    let one = key(tenant, "http://a:80");
    books.know_waiting(at(0.0), &one);
    assert_eq!(books.let_go(&RULE, at(0.5), || 0.5), []);
    assert_eq!(books.let_go(&RULE, at(1.0), || 0.5), [(one.clone(), 1)]);
    assert_eq!(books.waiting().collect::<Vec<_>>(), [(one.clone(), None)]);
    books.not_there(&RULE, &one, 1, false);
    assert_eq!(books.waiting().count(), 0);
}

/// What a storm came to.
#[derive(Debug)]
struct Storm {
    arrivals: u32,
    /// Attempts in the minute in which the target failed.
    attempts: u32,
    /// Tasks whose attempts were used up.
    failed: u32,
    /// When nothing waited any more.
    quiet_at: f64,
    /// The most attempts in one second after the target had healed.
    busiest: u32,
}

/// `managers` share 200 tasks a second of up to 3 attempts, of which all fail for a minute, and then none, or `odds` of
/// them all the time.
fn storm(managers: usize, odds: Option<f64>) -> Storm {
    const STEP: f64 = 0.01;
    let rule = RULE.share(u32::try_from(managers).unwrap());
    let target = key(TenantId::fresh(), "http://a:80");
    let mut books: Vec<Books> = (0..managers).map(|_| Books::default()).collect();
    let mut seed = 1_u64;
    let mut unit = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 24)
    };
    // Failures so far, and from when it may go.
    let mut due: Vec<(u32, f64)> = Vec::new();
    let mut held: Vec<(u32, f64)> = Vec::new();
    let mut seconds = vec![0_u32; 200];
    let (mut failed, mut quiet_at, mut turn) = (0, 0.0, 0);
    for step in 0..18_000_u32 {
        let now = f64::from(step) * STEP;
        let (going, later): (Vec<_>, Vec<_>) = due.into_iter().partition(|(_, at)| *at <= now);
        due = later;
        let arrivals = [(0, now); 2];
        for (failures, _) in going.into_iter().chain(arrivals.into_iter().filter(|_| now < 120.0)) {
            turn = (turn + 1) % managers;
            seconds[now as usize] += 1;
            let success = odds.map_or(now >= 60.0, |odds| unit() >= odds);
            books[turn].attempt_ended(&rule, at(now), &target, end(failures == 0, success));
            match (success, failures + 1) {
                (true, _) => {}
                (false, 3) => failed += 1,
                (false, failures) => {
                    let back_off = now + unit();
                    match books[turn].decide(&rule, at(now), &target) {
                        RetryDecision::Granted => due.push((failures, back_off)),
                        RetryDecision::Held(_) => held.push((failures, back_off)),
                    }
                }
            }
        }
        if step % 20 == 0 {
            for books in &mut books {
                for (key, count) in books.let_go(&rule, at(now), &mut unit) {
                    let (mut there, mut left) = (0, Vec::new());
                    for one in std::mem::take(&mut held) {
                        if one.1 <= now && there < count {
                            there += 1;
                            due.push(one);
                        } else {
                            left.push(one);
                        }
                    }
                    held = left;
                    books.not_there(&rule, &key, count - there, !held.is_empty());
                }
            }
        }
        if !held.is_empty() {
            quiet_at = now;
        }
    }
    assert!(held.is_empty() && due.is_empty(), "{} wait", held.len());
    let attempts = seconds[..60].iter().sum();
    let busiest = seconds[60..].iter().copied().max().unwrap();
    Storm { arrivals: 12_000, attempts, failed, quiet_at, busiest }
}

#[test]
fn a_target_that_fails_takes_hardly_more_than_its_traffic_and_all_is_made_up_for_soon_after() {
    for managers in [1, 2, 5] {
        let storm = storm(managers, None);
        assert!(
            f64::from(storm.attempts) <= 1.05 * f64::from(storm.arrivals),
            "{managers}: {storm:?}"
        );
        assert!(storm.failed < 200, "{managers}: {storm:?}");
        assert!(storm.quiet_at < 110.0, "{managers}: {storm:?}");
        assert!(storm.busiest < 800, "{managers}: {storm:?}");
    }
}

#[test]
fn a_target_that_mostly_answers_is_sent_every_retry_at_once() {
    let storm = storm(2, Some(0.3));
    assert!(storm.quiet_at < 1.0, "{storm:?}");
}
