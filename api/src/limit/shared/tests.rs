//! The script on a real Redis, whose clock is the real one: rates are slow where nothing may flow in, and fast where it must.

use super::{Failure, Grant, LeaseRequest, Redis};
use crate::limit::decision::Rates;
use api_types::RateName;
use domain::id::TenantId;
use domain::rate::Hour;
use runtime::clock::{monotonic, sleep};
use runtime::config::load_from;
use std::time::Duration;
use testkit::poll::{until, until_some};
use testkit::proxy::{Mode, Proxy};
use testkit::services::TestRedis;

mod own_engines;

const LONG: Duration = Duration::from_secs(60);

struct Shared {
    redis: Redis,
    tenant: TenantId,
    _server: TestRedis,
}

fn open(server: &TestRedis, url: &str, timeout: &str) -> Redis {
    let environment = [
        ("BERTH_REDIS__URL", url),
        ("BERTH_REDIS__KEY_PREFIX", server.key_prefix()),
        ("BERTH_REDIS__COMMAND_TIMEOUT", timeout),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Redis::open(&load_from(None, environment).unwrap().redis).unwrap()
}

impl Shared {
    /// Buckets have counted for long, and processes are served.
    async fn new() -> Self {
        let server = TestRedis::new().await.unwrap();
        let redis = open(&server, server.url(), "5s");
        let shared = Self { redis, tenant: TenantId::fresh(), _server: server };
        shared.set_epoch(LONG * 1000, Duration::ZERO).await;
        shared
    }

    async fn run<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        command.query_async(&mut self.redis.connection()).await.unwrap()
    }

    /// Buckets began so long ago, and a process was last served so long ago.
    async fn set_epoch(&self, since: Duration, served: Duration) {
        let (seconds, micros): (u64, u64) = self.run(&redis::cmd("TIME")).await;
        let at = |ago: Duration| seconds * 1_000_000 + micros - ago.as_micros() as u64;
        let mut set = redis::cmd("HSET");
        set.arg(self.redis.epoch_key()).arg("since").arg(at(since)).arg("served").arg(at(served));
        let _: u64 = self.run(set.arg("resumed").arg(0)).await;
    }

    async fn lose(&self, key: String) {
        let lost: u64 = self.run(redis::cmd("DEL").arg(key)).await;
        assert_eq!(lost, 1);
    }

    async fn send(&self, request: LeaseRequest) -> Grant {
        self.redis.lease(self.tenant, &request).await.unwrap()
    }

    async fn lease(&self, rates: Rates, wanted: u64) -> Grant {
        self.send(plain(rates, wanted)).await
    }
}

fn plain(rates: Rates, wanted: u64) -> LeaseRequest {
    LeaseRequest {
        rates,
        wanted,
        balance: 0,
        balance_since: monotonic(),
        hour_balance: 0,
        hour: Hour(0),
        used: 0,
        used_at: monotonic(),
    }
}

async fn early_in_the_hour() {
    let is_early = async || {
        let now = runtime::clock::wall();
        Hour::of(now).left(now) >= Duration::from_secs(10)
    };
    until("the next hour", Duration::from_secs(20), is_early).await.unwrap();
}

/// So slow that nothing flows in while a test runs.
fn slow(burst: u32) -> Rates {
    Rates { per_second: 1, burst, per_hour: 0 }
}

fn fast(per_hour: u32) -> Rates {
    Rates { per_second: 1000, burst: 1000, per_hour }
}

#[tokio::test]
async fn a_bucket_gives_its_burst_and_then_says_when_there_is_more() {
    let shared = Shared::new().await;
    let first = shared.lease(slow(20), 15).await;
    assert_eq!((first.tokens, first.shortage, first.left), (15, None, 5));
    let second = shared.lease(slow(20), 15).await;
    assert_eq!((second.tokens, second.left), (5, 0));
    let shortage = second.shortage.unwrap();
    assert_eq!(shortage.limit, RateName::SubmitsPerSecond);
    assert!(shortage.wait <= Duration::from_secs(1), "{shortage:?}");
    let back = LeaseRequest { balance: 7, ..plain(slow(20), 0) };
    assert_eq!(shared.send(back).await.left, 7);
    let owed = LeaseRequest { balance: -3, ..plain(slow(20), 10) };
    assert_eq!(shared.send(owed).await.tokens, 4);
    // Another tenant has a bucket of its own.
    let other = Shared { tenant: TenantId::fresh(), ..shared };
    assert_eq!(other.lease(slow(20), 99).await.tokens, 20);
}

#[tokio::test]
async fn what_flows_in_is_the_rate_to_the_last_token() {
    let shared = Shared::new().await;
    let rates = Rates { per_second: 3000, burst: 3000, per_hour: 0 };
    assert_eq!(shared.lease(rates, 3000).await.tokens, 3000, "no token is lost to rounding");
    let began = monotonic();
    let mut granted = 0;
    while began.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(7)).await;
        granted += shared.lease(rates, 10_000).await.tokens;
    }
    let flowed = began.elapsed().as_secs_f64() * 3000.0;
    assert!((granted as f64 - flowed).abs() < 0.02 * flowed, "{granted} of {flowed}");
}

#[tokio::test]
async fn a_debt_is_bounded_and_a_smaller_plans_is_not_a_larger_ones() {
    let shared = Shared::new().await;
    assert_eq!(shared.lease(slow(10_000), 10_000).await.tokens, 10_000);
    let large = Rates { per_second: 10_000, burst: 10_000, per_hour: 0 };
    let wait = shared.lease(large, 1).await.shortage.unwrap().wait;
    assert!(wait <= Duration::from_millis(1100), "{wait:?}");
    let debt = LeaseRequest { balance: -1_000_000, ..plain(large, 1) };
    let wait = shared.send(debt).await.shortage.unwrap().wait;
    assert!(wait <= Duration::from_millis(1100), "{wait:?}");
}

#[tokio::test]
async fn an_hour_has_its_limit_and_goes_on_where_its_count_was_lost() {
    early_in_the_hour().await;
    let shared = Shared::new().await;
    let first = shared.lease(fast(50), 30).await;
    assert_eq!((first.tokens, first.used), (30, 30));
    let hour = first.hour;
    let known = |used, hour_balance| LeaseRequest {
        hour,
        used,
        hour_balance,
        balance: hour_balance,
        ..plain(fast(50), 0)
    };
    assert_eq!(shared.send(known(30, 5)).await.used, 25);
    let rest = shared.lease(fast(50), 100).await;
    assert_eq!((rest.tokens, rest.used), (25, 50));
    assert_eq!(rest.shortage.unwrap().limit, RateName::SubmitsPerHour);
    assert!(rest.shortage.unwrap().wait <= Duration::from_secs(3600));
    // Redis has lost it: the caller has not, and owes two.
    shared.lose(shared.redis.tenant_key(shared.tenant)).await;
    let lease = shared.send(LeaseRequest { wanted: 100, ..known(40, -2) }).await;
    assert_eq!((lease.tokens, lease.used), (8, 50));
    // The use of another hour does not matter.
    shared.lose(shared.redis.tenant_key(shared.tenant)).await;
    let old = LeaseRequest { hour: Hour(hour.0 - 1), wanted: 10, ..known(40, -2) };
    assert_eq!(shared.send(old).await.used, 10);
}

#[tokio::test]
async fn who_was_away_alone_or_has_just_started_empties_no_bucket() {
    let shared = Shared::new().await;
    assert_eq!(shared.redis.report_served(LONG).await.unwrap(), Duration::ZERO);
    assert_eq!(shared.lease(slow(20), 5).await.tokens, 5, "others were served");
    shared.set_epoch(LONG, LONG).await;
    let started = shared.redis.report_served(Duration::from_millis(100)).await.unwrap();
    assert_eq!(started, Duration::ZERO);
    assert_eq!(shared.lease(slow(20), 5).await.tokens, 5, "no process was there before");
}

#[tokio::test]
async fn a_gap_from_before_the_clock_was_set_back_empties_no_bucket() {
    let shared = Shared::new().await;
    let (seconds, _): (u64, u64) = shared.run(&redis::cmd("TIME")).await;
    let resumed = (seconds + 3600) * 1_000_000;
    let mut set = redis::cmd("HSET");
    set.arg(shared.redis.epoch_key()).arg("resumed").arg(resumed);
    let _: u64 = shared.run(&set).await;
    assert_eq!(shared.redis.report_served(LONG).await.unwrap(), Duration::ZERO);
    assert_eq!(shared.lease(slow(20), 5).await.tokens, 5);
}

#[tokio::test]
async fn buckets_that_do_not_count_yet_are_no_fault_of_the_connection() {
    let shared = Shared::new().await;
    shared.lose(shared.redis.epoch_key()).await;
    let before: u64 = shared.run(redis::cmd("CLIENT").arg("ID")).await;
    let early = shared.redis.lease(shared.tenant, &plain(slow(20), 5)).await;
    assert!(matches!(early, Err(Failure::NotYet)), "{early:?}");
    let after: u64 = shared.run(redis::cmd("CLIENT").arg("ID")).await;
    assert_eq!(after, before, "the same connection");
}

#[tokio::test]
async fn of_what_is_owed_only_the_part_since_buckets_began_is_charged() {
    let shared = Shared::new().await;
    shared.set_epoch(Duration::from_secs(1), Duration::ZERO).await;
    let owed = |since: Duration| LeaseRequest {
        balance: -900,
        balance_since: monotonic() - since,
        ..plain(fast(0), 0)
    };
    let left = shared.send(owed(Duration::from_secs(9))).await.left;
    assert!((890..990).contains(&left), "100 of 900: {left}");
    let left = shared.send(owed(Duration::ZERO)).await.left;
    assert!(left < 200, "all of it: {left}");
}

#[tokio::test]
async fn when_redis_has_lost_an_hour_all_that_was_known_of_it_comes_together() {
    early_in_the_hour().await;
    let shared = Shared::new().await;
    let hour = shared.lease(fast(1000), 1).await.hour;
    shared.lose(shared.redis.tenant_key(shared.tenant)).await;
    shared.set_epoch(Duration::ZERO, Duration::ZERO).await;
    // Each knows what the hour had come to when Redis last answered, and what it admitted without Redis since.
    let knew = |used, hour_balance| LeaseRequest {
        hour,
        used,
        hour_balance,
        used_at: monotonic() - LONG,
        ..plain(fast(1000), 0)
    };
    assert_eq!(shared.send(knew(500, -50)).await.used, 550);
    assert_eq!(shared.send(knew(520, -50)).await.used, 620, "the later figure, and both shares");
    assert_eq!(shared.send(knew(510, -50)).await.used, 670, "known already, but for its share");
    // What is known from these answers says nothing new, though others have given back since.
    let present = |balance| LeaseRequest { used_at: monotonic(), ..knew(670, balance) };
    assert_eq!(shared.send(present(100)).await.used, 570);
    assert_eq!(shared.send(present(0)).await.used, 570);
}

#[tokio::test]
async fn a_connection_that_is_silent_is_replaced() {
    let server = TestRedis::new().await.unwrap();
    let address = server.url().trim_start_matches("redis://").split('/').next().unwrap();
    let proxy = Proxy::start(address.rsplit('@').next().unwrap()).await.unwrap();
    let redis = open(&server, &proxy.url(server.url()).unwrap(), "100ms");
    let answers = || async { redis.report_served(Duration::ZERO).await.ok() };
    let patience = Duration::from_secs(10);
    until_some("the first connection", patience, answers).await.unwrap();
    // The host is gone without closing the connection, and another has its address.
    proxy.set(Mode::HalfOpen);
    assert!(answers().await.is_none());
    proxy.set(Mode::Pass);
    until_some("another connection", patience, answers).await.unwrap();
}

#[tokio::test]
async fn a_redis_that_is_not_there_fails_in_time() {
    let server = TestRedis::new().await.unwrap();
    let redis = open(&server, "redis://127.0.0.1:1/0", "200ms");
    let began = monotonic();
    for _ in 0..3 {
        assert!(redis.lease(TenantId::fresh(), &plain(slow(1), 1)).await.is_err());
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    #[tokio::test]
    async fn a_redis_without_data_begins_with_empty_buckets_for_all_at_one_time() {
        let shared = Shared::new().await;
        assert_eq!(shared.lease(slow(20), 5).await.tokens, 5);
        shared.lose(shared.redis.epoch_key()).await;
        shared.lose(shared.redis.tenant_key(shared.tenant)).await;
        let early = shared.redis.lease(shared.tenant, &plain(slow(20), 5)).await;
        assert!(matches!(early, Err(Failure::NotYet)), "it has lost when buckets began: {early:?}");
        let first = shared.redis.report_served(Duration::ZERO).await.unwrap();
        let second = shared.redis.report_served(LONG).await.unwrap();
        assert!(second <= first && first <= Duration::from_millis(500), "{first:?} {second:?}");
        sleep(second).await;
        assert_eq!(shared.lease(slow(20), 5).await.tokens, 0);
        let other = Shared { tenant: TenantId::fresh(), ..shared };
        let granted = other.lease(fast(0), 1000).await.tokens;
        assert!(granted < 1000, "no more than has flowed in: {granted}");
    }

    #[tokio::test]
    async fn after_an_outage_for_all_buckets_begin_empty_once() {
        let shared = Shared::new().await;
        shared.set_epoch(LONG, LONG).await;
        // A call from before the outage may be executed first: the bucket is full, and it hides nothing.
        assert_eq!(shared.lease(slow(20), 5).await.tokens, 5);
        let wait = shared.redis.report_served(LONG).await.unwrap();
        assert!(wait > Duration::ZERO);
        sleep(wait).await;
        assert_eq!(shared.lease(slow(20), 5).await.tokens, 0);
        // A process that comes back later finds that they have begun.
        assert_eq!(shared.redis.report_served(LONG).await.unwrap(), Duration::ZERO);
    }
}
