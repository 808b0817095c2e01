//! The scripts on a real Redis, whose clock is the real one: so rates are slow where nothing may flow in, and fast where it must.

use super::{Answer, Ask, Lease, Redis};
use crate::limit::admission::{Limit, Rates};
use domain::id::TenantId;
use domain::rate::Hour;
use runtime::clock::sleep;
use runtime::config::load_from;
use std::time::Duration;
use testkit::poll::until_some;
use testkit::proxy::{Mode, Proxy};
use testkit::services::TestRedis;

mod own_engines;

struct Shared {
    redis: Redis,
    tenant: TenantId,
    _server: TestRedis,
}

impl Shared {
    /// Buckets have counted for long.
    async fn open() -> Self {
        let server = TestRedis::new().await.unwrap();
        let environment = [
            ("BERTH_REDIS__URL", server.url()),
            ("BERTH_REDIS__KEY_PREFIX", server.key_prefix()),
            ("BERTH_REDIS__COMMAND_TIMEOUT", "5s"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let config = load_from(None, environment).unwrap();
        let redis = Redis::open(&config.redis).unwrap();
        let shared = Self { redis, tenant: TenantId::fresh(), _server: server };
        shared.run(redis::cmd("SET").arg(shared.redis.since_key()).arg(1)).await;
        shared
    }

    async fn run(&self, command: &redis::Cmd) {
        self.tell(command).await
    }

    async fn tell<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> T {
        let mut connection = self.redis.connection();
        command.query_async(&mut connection).await.unwrap()
    }

    /// Of the tenant's counts.
    fn key(&self) -> String {
        self.redis.key(&format!("rate:{}", self.tenant.uuid().simple()))
    }

    async fn ask(&self, ask: Ask) -> Lease {
        match self.redis.lease(self.tenant, &ask).await.unwrap() {
            Answer::Leased(lease) => lease,
            Answer::NotYet => panic!("buckets do not count"),
        }
    }

    async fn lease(&self, rates: Rates, wanted: u64) -> Lease {
        self.ask(plain(rates, wanted)).await
    }
}

fn plain(rates: Rates, wanted: u64) -> Ask {
    Ask {
        rates,
        wanted,
        back: 0,
        owed_for: Duration::ZERO,
        hour_back: 0,
        hour: Hour(0),
        used: 0,
        known_for: Duration::ZERO,
    }
}

async fn early_in_the_hour() {
    let is_early = async || {
        let now = runtime::clock::wall();
        Hour::of(now).left(now) >= Duration::from_secs(10)
    };
    testkit::poll::until("the next hour", Duration::from_secs(20), is_early).await.unwrap();
}

/// So slow that nothing flows in while a test runs.
fn slow(burst: u32) -> Rates {
    Rates { per_second: 1, burst, per_hour: 0 }
}

#[tokio::test]
async fn a_bucket_gives_its_burst_and_then_says_when_there_is_more() {
    let shared = Shared::open().await;
    let first = shared.lease(slow(20), 15).await;
    assert_eq!((first.granted, first.shortage, first.left), (15, None, 5));
    let second = shared.lease(slow(20), 15).await;
    assert_eq!((second.granted, second.left), (5, 0));
    let shortage = second.shortage.unwrap();
    assert_eq!(shortage.limit, Limit::PerSecond);
    assert!(shortage.wait <= Duration::from_secs(1), "{shortage:?}");
    let back = Ask { back: 7, ..plain(slow(20), 0) };
    assert_eq!(shared.ask(back).await.left, 7);
    let owed = Ask { back: -3, ..plain(slow(20), 10) };
    assert_eq!(shared.ask(owed).await.granted, 4);
    // Another tenant has a bucket of its own.
    let other = Shared { tenant: TenantId::fresh(), ..shared };
    assert_eq!(other.lease(slow(20), 99).await.granted, 20);
}

#[tokio::test]
async fn what_flows_in_is_the_rate_to_the_last_token() {
    let shared = Shared::open().await;
    let rates = Rates { per_second: 3000, burst: 3000, per_hour: 0 };
    assert_eq!(shared.lease(rates, 3000).await.granted, 3000, "no token is lost to rounding");
    let began = runtime::clock::monotonic();
    let mut granted = 0;
    while began.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(7)).await;
        granted += shared.lease(rates, 10_000).await.granted;
    }
    let flowed = began.elapsed().as_secs_f64() * 3000.0;
    assert!((granted as f64 - flowed).abs() < 0.02 * flowed, "{granted} of {flowed}");
}

#[tokio::test]
async fn a_debt_is_bounded_and_a_smaller_plans_is_not_a_larger_ones() {
    let shared = Shared::open().await;
    assert_eq!(shared.lease(slow(10_000), 10_000).await.granted, 10_000);
    let large = Rates { per_second: 10_000, burst: 10_000, per_hour: 0 };
    let wait = shared.lease(large, 1).await.shortage.unwrap().wait;
    assert!(wait <= Duration::from_millis(1100), "{wait:?}");
    let debt = Ask { back: -1_000_000, ..plain(large, 1) };
    let wait = shared.ask(debt).await.shortage.unwrap().wait;
    assert!(wait <= Duration::from_millis(1100), "{wait:?}");
}

#[tokio::test]
async fn an_hour_has_its_limit_and_is_taken_up_where_it_was_forgotten() {
    early_in_the_hour().await;
    let shared = Shared::open().await;
    let rates = Rates { per_second: 1000, burst: 1000, per_hour: 50 };
    let first = shared.lease(rates, 30).await;
    assert_eq!((first.granted, first.used), (30, 30));
    let back = Ask { hour_back: 5, back: 5, hour: first.hour, used: 30, ..plain(rates, 0) };
    assert_eq!(shared.ask(back).await.used, 25);
    let rest = shared.lease(rates, 100).await;
    assert_eq!((rest.granted, rest.used), (25, 50));
    assert_eq!(rest.shortage.unwrap().limit, Limit::PerHour);
    assert!(rest.shortage.unwrap().wait <= Duration::from_secs(3600));
    // Redis has forgotten: the caller has not, and owes two.
    shared.run(redis::cmd("DEL").arg(shared.key())).await;
    let known = Ask { hour: rest.hour, used: 40, hour_back: -2, ..plain(rates, 100) };
    let lease = shared.ask(known).await;
    assert_eq!((lease.granted, lease.used), (8, 50));
    // What was used of another hour is no matter.
    shared.run(redis::cmd("DEL").arg(shared.key())).await;
    let old = Ask { hour: Hour(rest.hour.0 - 1), used: 40, hour_back: -2, ..plain(rates, 10) };
    assert_eq!(shared.ask(old).await.used, 10);
}

#[tokio::test]
async fn what_is_owed_of_before_buckets_began_anew_is_paid_by_that() {
    let shared = Shared::open().await;
    // Began a second ago, with 1000 in them since.
    let fast = Rates { per_second: 1000, burst: 1000, per_hour: 0 };
    let (seconds, _): (u64, u64) = shared.tell(&redis::cmd("TIME")).await;
    let since = (seconds - 1) * 1_000_000;
    shared.run(redis::cmd("SET").arg(shared.redis.since_key()).arg(since)).await;
    let owed = |owed_for| Ask { back: -900, owed_for, ..plain(fast, 0) };
    let before = shared.ask(owed(Duration::from_secs(10))).await.left;
    let after = shared.ask(owed(Duration::from_millis(1))).await.left;
    assert!(before >= 990 && after <= 200, "{before} {after}");
}

#[tokio::test]
async fn when_redis_has_lost_an_hour_all_that_was_known_of_it_comes_together() {
    early_in_the_hour().await;
    let shared = Shared::open().await;
    let rates = Rates { per_second: 1000, burst: 1000, per_hour: 1000 };
    let hour = shared.lease(rates, 1).await.hour;
    let (seconds, micros): (u64, u64) = shared.tell(&redis::cmd("TIME")).await;
    let now = seconds * 1_000_000 + micros;
    shared.run(redis::cmd("SET").arg(shared.redis.since_key()).arg(now)).await;
    shared.run(redis::cmd("DEL").arg(shared.key())).await;
    // Each knows what the hour had come to when it last asked, and what it admitted by itself since.
    let knew = |used, hour_back| Ask {
        hour,
        used,
        hour_back,
        known_for: Duration::from_secs(60),
        ..plain(rates, 0)
    };
    assert_eq!(shared.ask(knew(500, -50)).await.used, 550);
    assert_eq!(shared.ask(knew(520, -50)).await.used, 620, "the later figure, and both shares");
    assert_eq!(shared.ask(knew(510, -50)).await.used, 670, "known already, but for its share");
    // What is known from these answers says nothing new, though others have given back since.
    let present = Ask { hour, used: 670, hour_back: 100, ..plain(rates, 0) };
    assert_eq!(shared.ask(present).await.used, 570);
    assert_eq!(shared.ask(Ask { hour_back: 0, ..present }).await.used, 570);
}

#[tokio::test]
async fn a_connection_that_is_silent_is_left_for_another() {
    let server = TestRedis::new().await.unwrap();
    let address = server.url().trim_start_matches("redis://").split('/').next().unwrap();
    let proxy = Proxy::start(address.rsplit('@').next().unwrap()).await.unwrap();
    let environment = [
        ("BERTH_REDIS__URL", proxy.url(server.url()).unwrap()),
        ("BERTH_REDIS__KEY_PREFIX", server.key_prefix().to_owned()),
        ("BERTH_REDIS__COMMAND_TIMEOUT", "100ms".to_owned()),
    ];
    let environment = environment.map(|(name, value)| (name.to_owned(), value));
    let redis = Redis::open(&load_from(None, environment).unwrap().redis).unwrap();
    let answers = || async { redis.probe(None, Duration::ZERO).await.ok() };
    let patience = Duration::from_secs(10);
    until_some("the first connection", patience, answers).await.unwrap();
    // The host goes without a word, and another takes its address.
    proxy.set(Mode::HalfOpen);
    assert!(answers().await.is_none());
    proxy.set(Mode::Pass);
    until_some("another connection", patience, answers).await.unwrap();
}

#[tokio::test]
async fn a_redis_that_is_not_there_fails_in_time() {
    let environment =
        [("BERTH_REDIS__URL", "redis://127.0.0.1:1/0"), ("BERTH_REDIS__COMMAND_TIMEOUT", "200ms")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let redis = Redis::open(&load_from(None, environment).unwrap().redis).unwrap();
    let began = runtime::clock::monotonic();
    for _ in 0..3 {
        assert!(redis.lease(TenantId::fresh(), &plain(slow(1), 1)).await.is_err());
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// What is about seconds that pass waits for them.
mod waits {
    use super::*;

    #[tokio::test]
    async fn buckets_begin_empty_at_one_moment_for_all() {
        let shared = Shared::open().await;
        let anew = Duration::from_millis(300);
        shared.run(redis::cmd("DEL").arg(shared.redis.since_key())).await;
        let answer = shared.redis.lease(shared.tenant, &plain(slow(20), 5)).await.unwrap();
        assert_eq!(answer, Answer::NotYet, "nobody knows since when");
        let long = Some(Duration::from_secs(60));
        let first = shared.redis.probe(None, anew).await.unwrap();
        let second = shared.redis.probe(long, anew).await.unwrap();
        assert!(second <= first && first <= anew, "{first:?} {second:?}");
        let answer = shared.redis.lease(shared.tenant, &plain(slow(20), 5)).await.unwrap();
        assert_eq!(answer, Answer::NotYet);
        sleep(second).await;
        assert_eq!(shared.redis.probe(None, anew).await.unwrap(), Duration::ZERO);
        assert_eq!(shared.lease(slow(20), 5).await.granted, 0, "empty");
        let fast = Rates { per_second: 1000, burst: 1000, per_hour: 0 };
        assert!(
            shared.lease(fast, 1000).await.granted < 1000,
            "and no fuller than what has flowed in"
        );
        // Who comes back while others count has lost its connection, and nobody's bucket.
        assert_eq!(shared.redis.probe(Some(anew), anew).await.unwrap(), Duration::ZERO);
        // Where nobody counted for a while of its absence, they begin anew, once; a call of before that comes first hides nothing.
        let uncounted = Duration::from_millis(50);
        sleep(uncounted * 2).await;
        let probe = |away| shared.redis.probe_after(uncounted, away, anew);
        assert_eq!(probe(None).await.unwrap(), Duration::ZERO);
        let begins = probe(long).await.unwrap();
        assert!(begins > Duration::ZERO && probe(long).await.unwrap() <= begins, "{begins:?}");
        sleep(begins).await;
        assert_eq!(shared.redis.probe(long, anew).await.unwrap(), Duration::ZERO);
    }
}
