//! Postgres crashes, is slow, throws everybody out or is a standby, while tasks come at a steady pace: what was acknowledged is
//! there, nothing grows without bound, every loop goes on by itself, and nothing is decided on a standby.

use anyhow::Context;
use e2e::{Cluster, Customer, Oracle, Role, Seen, Shape, Steady, now_ms, page};
use runtime::clock;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use testkit::db::TestDatabase;
use testkit::ledger::Ledger;
use testkit::memory::resident_kib;
use testkit::proxy::{Mode, Proxy};
use testkit::psql;
use testkit::services::{PrivatePostgres, TestBroker};

const SECOND: Duration = Duration::from_secs(1);
const DRAINED: Duration = Duration::from_secs(60);
/// After each return of the database.
const RESUMED: Duration = Duration::from_secs(10);
/// The batcher does not wait for a statement of which it hears nothing until that is given up, after 8 s.
const BATCHER_SILENT: (&str, Duration) = ("berth_scheduler", Duration::from_secs(6));
/// Loops that have more time than this between two turns are not expected to turn at once.
const SOON: Duration = Duration::from_secs(5);
const SERVICES: [(&str, &str); 5] = [
    ("BERTH_DATABASE__API_URL", "berth_api"),
    ("BERTH_DATABASE__SUBMIT_URL", "berth_submit"),
    ("BERTH_DATABASE__SCHEDULER_URL", "berth_scheduler"),
    ("BERTH_DATABASE__RM_URL", "berth_rm"),
    ("BERTH_DATABASE__ADMIN_URL", "berth_admin"),
];
/// The roles that have a database.
const ROLES: [Role; 3] = [Role::Api, Role::Scheduler, Role::ResourceManager];

/// One of each is enough to lose a database.
fn small() -> Shape {
    let shape = Role::ALL.into_iter().fold(Shape::default(), |shape, role| shape.with(role, 1));
    shape.with(Role::Executor, 2)
}

fn load(per_second: u32) -> Steady {
    Steady { per_second, task: json!({ "run": { "noop": { "sleep": "5ms" } }, "max_attempts": 1 }) }
}

/// All that was taken has ended well, once, on processes that never panicked.
async fn all_is_well(cluster: &Cluster, seen: &Seen) -> anyhow::Result<()> {
    let oracle = Oracle::of(cluster);
    oracle.drained(DRAINED).await?;
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    assert_eq!(oracle.violations(&seen.submitted, &ledger).await?, Vec::<String>::new());
    assert_eq!(cluster.panicked(), Vec::<String>::new());
    Ok(())
}

/// Postgres dies without a word and comes back.
async fn crashes(shape: Shape, per_second: u32, times: usize) -> anyhow::Result<()> {
    let mut postgres = PrivatePostgres::start().await?;
    let database = TestDatabase::on(&postgres.url()?).await?;
    let cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let crashes = async {
        let mut returns = Vec::new();
        for _ in 0..times {
            clock::sleep(2 * SECOND).await;
            postgres.kill9()?;
            postgres.restart().await?;
            returns.push(now_ms());
            clock::sleep(2 * SECOND).await;
        }
        anyhow::Ok(returns)
    };
    let (returns, seen) = load(per_second).during(&customer, crashes).await?;
    all_is_well(&cluster, &seen).await?;
    for at_ms in returns {
        let resumed = Oracle::of(&cluster).first_end_after(at_ms, "a.placed_at").await?;
        eprintln!("a task placed since the return ended after {resumed:?}");
        assert!(resumed <= RESUMED, "work resumed only {resumed:?} after the return");
    }
    eprintln!(
        "{} tasks through {times} crashes; {} submits were not answered at first",
        seen.submitted.all.len(),
        seen.faults().len()
    );
    for (_, role) in SERVICES {
        let settings =
            "select current_setting('synchronous_commit') || ' ' || current_setting('fsync') || ' '
            || current_setting('full_page_writes')";
        let settings = psql::run(&cluster.database().role_url(role)?, settings).await?;
        assert_eq!(settings, "on on on", "{role}");
    }
    Ok(())
}

/// Every statement takes 200 ms longer.
async fn slow(shape: Shape, per_second: u32, lasting: Duration) -> anyhow::Result<()> {
    let database = TestDatabase::new().await?;
    let upstream = database.owner_url().rsplit('@').next().and_then(|rest| rest.split('/').next());
    let proxy = Proxy::start(upstream.context("no address")?).await?;
    let mut shape = shape;
    for (setting, role) in SERVICES {
        shape = shape.set(setting, proxy.url(&database.role_url(role)?)?);
    }
    let mut cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let at: Vec<usize> = Role::ALL.into_iter().flat_map(|role| cluster.of(role)).collect();
    let pids = at.iter().map(|at| Ok(cluster.process(*at)?.pid()));
    let pids = pids.collect::<anyhow::Result<Vec<u32>>>()?;
    let resident = || pids.iter().map(|pid| resident_kib(*pid)).collect::<anyhow::Result<Vec<_>>>();
    let slowness = async {
        // Pools are filled and code is warm before memory is looked at.
        clock::sleep(3 * SECOND).await;
        let (normal, before) = (clock::monotonic(), resident()?);
        clock::sleep(3 * SECOND).await;
        proxy.set(Mode::Delay(Duration::from_millis(100)));
        let slow = clock::monotonic();
        clock::sleep(lasting).await;
        proxy.set(Mode::Pass);
        let (back, after) = (clock::monotonic(), resident()?);
        clock::sleep((lasting / 2).clamp(3 * SECOND, 30 * SECOND)).await;
        let end = clock::monotonic();
        Ok((normal, slow, back, end, before.into_iter().zip(after)))
    };
    let ((normal, slow, back, end, memory), seen) =
        load(per_second).during(&customer, slowness).await?;
    all_is_well(&cluster, &seen).await?;
    let grown: Vec<usize> = memory.map(|(before, after)| after.saturating_sub(before)).collect();
    let most = grown.iter().max().copied().unwrap_or_default();
    let before = seen.p99(normal, slow)?;
    let (during, after) = (seen.p99(slow, back)?, seen.p99(end - SECOND, end)?);
    eprintln!(
        "submits took {before:?}, {during:?} while slow, {after:?} in the end (p99); no process grew by more than {most} KiB; \
         {} were not answered at first",
        seen.faults().len()
    );
    assert!(during >= Duration::from_millis(200), "it was not slow: {during:?}");
    assert!(most <= 50 * 1024, "grown by {grown:?} KiB");
    // Below that it is this machine that is measured.
    let limit = 2 * before.max(Duration::from_millis(50));
    assert!(
        after <= limit,
        "{after:?} in the last second of {:?} after it, {before:?} before",
        end - back
    );
    let lost = "select count(*) from attempt where outcome = 'lost'";
    assert_eq!(Oracle::of(&cluster).number(lost).await?, 0, "leases lapsed");
    Ok(())
}

/// The network before each role's database in turn forgets the connections of a second, without a word. Work goes on within so long.
async fn fall_silent(
    shape: Shape,
    per_second: u32,
    roles: &[(&str, Duration)],
) -> anyhow::Result<()> {
    let database = TestDatabase::new().await?;
    let upstream = database.owner_url().rsplit('@').next().and_then(|rest| rest.split('/').next());
    let upstream = upstream.context("no address")?;
    let (mut shape, mut proxies) = (shape, BTreeMap::new());
    for (setting, role) in SERVICES {
        let proxy = Proxy::start(upstream).await?;
        shape = shape.set(setting, proxy.url(&database.role_url(role)?)?);
        proxies.insert(role, proxy);
    }
    let cluster = Cluster::on(shape, database, TestBroker::new().await?, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let silences = async {
        let mut ends = Vec::new();
        for (role, limit) in roles {
            clock::sleep(2 * SECOND).await;
            proxies[role].set(Mode::HalfOpen);
            clock::sleep(SECOND).await;
            proxies[role].set(Mode::Pass);
            ends.push((role, now_ms(), limit));
            clock::sleep(*limit).await;
        }
        Ok(ends)
    };
    let (ends, seen) = load(per_second).during(&customer, silences).await?;
    all_is_well(&cluster, &seen).await?;
    for (role, at_ms, limit) in ends {
        let resumed = Oracle::of(&cluster).first_end_after(at_ms, "s.created_at").await?;
        eprintln!(
            "{role}: a task submitted after its connections fell silent ended {resumed:?} after that"
        );
        assert!(resumed <= *limit, "{role}: work resumed only after {resumed:?}");
    }
    Ok(())
}

/// When each loop of the processes last succeeded, in seconds since 1970.
async fn last_turns(cluster: &mut Cluster) -> anyhow::Result<BTreeMap<String, f64>> {
    let mut turns = BTreeMap::new();
    for at in ROLES.into_iter().flat_map(|role| cluster.of(role)).collect::<Vec<_>>() {
        let (_, metrics) = page(cluster, at, "/metrics").await?;
        let samples = metrics.lines().filter_map(|line| {
            let (name, value) =
                line.strip_prefix("berth_tick_last_success_timestamp_seconds")?.split_once(' ')?;
            Some((format!("{at} {name}"), value.parse().ok()?))
        });
        turns.extend(samples);
    }
    Ok(turns)
}

/// Those of the roles that are not ready, with what they say.
async fn not_ready(cluster: &mut Cluster) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for at in ROLES.into_iter().flat_map(|role| cluster.of(role)).collect::<Vec<_>>() {
        let (status, said) = page(cluster, at, "/readyz").await?;
        let (live, why) = page(cluster, at, "/healthz").await?;
        anyhow::ensure!(live == 200, "{at} says that it does not live: {why}");
        if status != 200 {
            found.push(said);
        }
    }
    Ok(found)
}

/// Everybody is thrown out of the database, again and again.
async fn thrown_out(shape: Shape, per_second: u32, times: usize) -> anyhow::Result<()> {
    let mut cluster = Cluster::start(shape).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let url = cluster.database().owner_url().to_owned();
    // Loops turn at least this often where nothing is wrong.
    clock::sleep(2 * SECOND).await;
    let first = last_turns(&mut cluster).await?;
    clock::sleep(SOON).await;
    // The doctor looks each minute: that it did so just now says nothing.
    let often: Vec<String> = last_turns(&mut cluster)
        .await?
        .into_iter()
        .filter(|(name, at)| first.get(name).is_none_or(|before| at > before))
        .filter(|(name, _)| !name.contains("\"doctor\""))
        .map(|(name, _)| name)
        .collect();
    let loops = [
        "batcher",
        "due",
        "fire_even",
        "reap",
        "stop",
        "settle",
        "output",
        "heartbeat",
        "place_default",
    ];
    for name in loops {
        let known = often.iter().any(|tick| tick.contains(&format!("\"{name}\"")));
        anyhow::ensure!(known, "{name} is not among the loops that turn: {often:?}");
    }
    let thrown = async {
        for _ in 0..times {
            let out = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()";
            let count = psql::number(&url, out).await?;
            let at = now_ms();
            let since = clock::monotonic();
            anyhow::ensure!(count > 10, "only {count} were there to be thrown out");
            let mut turned = Duration::ZERO;
            loop {
                let turns = last_turns(&mut cluster).await?;
                let still = |name: &&String| {
                    turns.get(*name).is_none_or(|last| *last * 1000.0 <= at as f64)
                };
                let waiting: Vec<&String> = often.iter().filter(still).collect();
                let unready = not_ready(&mut cluster).await?;
                if waiting.is_empty() {
                    turned = if turned.is_zero() { since.elapsed() } else { turned };
                    if unready.is_empty() {
                        break;
                    }
                }
                anyhow::ensure!(
                    since.elapsed() < SOON,
                    "not turning: {waiting:?}; not ready: {unready:?}"
                );
                clock::sleep(Duration::from_millis(100)).await;
            }
            eprintln!(
                "{count} thrown out: all loops had turned after {turned:?}, all were ready after {:?}",
                since.elapsed()
            );
            clock::sleep_until(since + SOON).await;
            let unready = not_ready(&mut cluster).await?;
            anyhow::ensure!(unready.is_empty(), "not ready without a cause: {unready:?}");
        }
        Ok(())
    };
    let ((), seen) = load(per_second).during(&customer, thrown).await?;
    all_is_well(&cluster, &seen).await
}

/// The database turns out to be a standby, as after a failover that moved an address too early.
async fn standby() -> anyhow::Result<()> {
    let mut postgres = PrivatePostgres::start().await?;
    let database = TestDatabase::on(&postgres.url()?).await?;
    let mut cluster = Cluster::on(small(), database, TestBroker::new().await?, None).await?;
    let customer = Customer::sign_up(&cluster, "acme").await?;
    let task = json!({ "run": { "noop": {} } });
    let mut submitted = vec![customer.submit_until_answered(&task, "before").await?];
    Oracle::of(&cluster).drained(RESUMED).await?;

    postgres.restart_as_standby().await?;
    let refused = clock::monotonic();
    while not_ready(&mut cluster).await?.iter().filter(|said| said.contains("standby")).count() < 3
    {
        anyhow::ensure!(refused.elapsed() < RESUMED, "{:?}", not_ready(&mut cluster).await?);
        clock::sleep(Duration::from_millis(50)).await;
    }
    eprintln!("all said after {:?} that they work on no standby", refused.elapsed());
    let (status, said) = customer.call("POST", "/v1/tasks", Some(&task), Some("on-it")).await?;
    assert_eq!((status, said["retryable"].as_bool()), (503, Some(true)), "{said}");

    psql::run(&postgres.url()?, "select pg_promote()").await?;
    let promoted = clock::monotonic();
    submitted.push(customer.submit_until_answered(&task, "on-it").await?);
    let oracle = Oracle::of(&cluster);
    oracle.drained(RESUMED).await?;
    eprintln!("work flowed {:?} after the promotion", promoted.elapsed());
    let ledger = Ledger::at(cluster.folder().join("ledger"));
    let submitted = e2e::Submitted { all: submitted, commands: Vec::new() };
    assert_eq!(oracle.violations(&submitted, &ledger).await?, Vec::<String>::new());
    while !not_ready(&mut cluster).await?.is_empty() {
        anyhow::ensure!(promoted.elapsed() < RESUMED, "{:?}", not_ready(&mut cluster).await?);
        clock::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_database_loses_nothing_and_makes_nobody_grow() -> anyhow::Result<()> {
    slow(small(), 30, 4 * SECOND).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_loop_goes_on_after_all_are_thrown_out_of_the_database() -> anyhow::Result<()> {
    thrown_out(small(), 20, 1).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_batcher_goes_on_soon_where_its_database_is_lost_without_a_word() -> anyhow::Result<()>
{
    fall_silent(small(), 30, &[BATCHER_SILENT]).await
}

mod own_engines {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_crash_of_the_database_loses_nothing_that_was_acknowledged() -> anyhow::Result<()> {
        crashes(small(), 50, 1).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_works_on_a_standby_and_all_go_on_when_it_is_promoted() -> anyhow::Result<()> {
        standby().await
    }
}

mod chaos {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn five_crashes_of_the_database_lose_nothing_that_was_acknowledged() -> anyhow::Result<()>
    {
        crashes(Shape::default(), 100, 5).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_database_slow_for_two_minutes_loses_nothing_and_makes_nobody_grow()
    -> anyhow::Result<()> {
        slow(Shape::default(), 100, 120 * SECOND).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn whoever_loses_the_database_without_a_word_goes_on() -> anyhow::Result<()> {
        let roles = [BATCHER_SILENT, ("berth_rm", RESUMED), ("berth_submit", RESUMED)];
        fall_silent(Shape::default(), 100, &roles.repeat(3)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_loop_goes_on_however_often_all_are_thrown_out_of_the_database()
    -> anyhow::Result<()> {
        thrown_out(Shape::default(), 100, 12).await
    }
}
