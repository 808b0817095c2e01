//! What ended is counted once, at the price that held, whatever commits late and whoever counts.

use crate::support::{World, config, ended, labels, new_task, priced};
use chrono::NaiveDate;
use domain::id::{NodeId, TenantId};
use domain::price::MOST_VALUES;
use domain::resources::Tier;
use domain::task::Event;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use store::doctor::{Check, CheckOutcome, DoctorDb, DoctorOptions, run_checks};
use store::migrate::{How, run as migrate};
use store::rollup;
use store::task::submit::NewTask;
use store::task::transition;
use testkit::poll;

/// Counts until all is counted that has committed; how many attempts. Whoever has a transaction open in this Postgres is waited for.
pub async fn count(world: &World) -> usize {
    let written = world.number("select pg_current_xact_id()::text::bigint").await;
    let all = AtomicUsize::new(0);
    let caught_up = async || {
        all.fetch_add(rollup::count(&world.scheduler).await.unwrap().attempts, Ordering::Relaxed);
        let cursor =
            "select count(*) from event_cursor where consumer = 'usage' and seq = -1 and txid > ";
        world.number(format!("{cursor}{written}")).await == 1
    };
    poll::until("all is counted", Duration::from_secs(60), caught_up).await.unwrap();
    all.into_inner()
}

/// How many rows of today's usage the doctor finds wrong.
async fn wrong(world: &World) -> u64 {
    let options = DoctorOptions {
        overdue: Duration::from_secs(60),
        statement: Duration::from_secs(20),
        whole: Duration::from_secs(120),
        sample: 1_000_000,
        transaction: Duration::from_secs(300),
        idle: Duration::from_secs(60),
        dead_rows: 1000,
        unvacuumed: Duration::ZERO,
        clocks: Duration::from_secs(2),
        days_ahead: 6,
    };
    let doctor = DoctorDb::connect(&config(&world.database)).unwrap();
    let results = run_checks(&doctor, &options).await.unwrap();
    let result = results.into_iter().find(|result| result.check == Check::UsageCountedWrong);
    match result.unwrap().outcome {
        CheckOutcome::Passed => 0,
        CheckOutcome::Failed { count, .. } => count,
        other => panic!("{other:?}"),
    }
}

/// Attempts of every kind, `many` of them, that ended in the last `hours`.
pub fn random_attempts(tenant: TenantId, many: usize, (hours, seed): (u32, f64)) -> String {
    format!(
        "select setseed({seed});
        insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
            session_id, placed_at, ended_at, usage_ms, tolerance_ms, flexible)
        select '{}', gen_random_uuid(), 1 + (random() * 2)::integer, case when charged then 'succeeded' else 'lost' end, charged, 'default',
            (array['basic', 'regular', 'premium', null])[1 + floor(random() * 4)::integer]::task_tier,
            (random() * 9000)::integer, (random() * 30000)::integer, (random() * 500)::integer, (random() * 100)::integer, (random() * 4)::integer,
            gen_random_uuid(), ended_at - ms * interval '1 millisecond', ended_at, case when charged then ms else 0 end,
            (array[0, 59999, 60000, 3600000, 90000000])[1 + floor(random() * 5)::integer], random() < 0.5
        from (select random() < 0.9 as charged, floor(random() * 200000)::bigint as ms, now() - random() * interval '{hours} hours' as ended_at
            from generate_series(1, {many})) r",
        tenant.uuid()
    )
}

#[tokio::test]
async fn what_ended_is_counted_once_with_its_tier_schedule_and_labels() {
    let world = World::new().await;
    let [tenant, free] = [world.tenant().await, world.tenant().await];
    priced(&world, tenant).await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let mut leases = Vec::new();
    for (whose, tier, tolerance, team) in [
        (tenant, Tier::Basic, 0, "media"),
        (tenant, Tier::Basic, 3600, "media"),
        (tenant, Tier::Premium, 60, "web"),
        (free, Tier::Regular, 0, "web"),
    ] {
        let mut task = NewTask { tier: Some(tier), resources: tier.resources(), ..new_task(whose) };
        task.spec.labels = labels("team", team);
        task.delay_tolerance = Duration::from_secs(tolerance);
        let task = world.store(task).await;
        leases.push(world.place(owned, &world.dispatch(leader, &[(whose, task)]).await).await[0]);
    }
    world.sql("update task set placed_at = placed_at - interval '10 seconds' where session_id is not null;
        update tenant_plan set since = since - interval '10 seconds'; update plan_billing set since = since - interval '10 seconds'").await;
    let reports: Vec<_> = leases
        .iter()
        .map(|lease| transition::EndedAttempt { ran_ms: 5000, ..ended(*lease, Event::Completed) })
        .collect();
    transition::completed(&world.rm, &reports).await.unwrap();
    assert_eq!(count(&world).await, 4);
    assert_eq!(count(&world).await, 0, "each once");
    let sums = |kind: &str| {
        format!(
            "select string_agg(format('%s=%s: %s %s %s %s %s', key, value, price_book, attempts, run_ms, attempts_cost, tasks_cost), '; '
                order by price_book, key, value) from usage_rollup where kind = '{kind}'"
        )
    };
    // Five seconds of basic: 0.25 cores, half a GiB, a GiB, 50 operations a second and a port, without and with 41 % off; and of premium,
    // which has a price of cores only, 7 % off: 4 cores.
    let basic = 5.0 / 3600.0 * (59_999.0 / 4.0 + 7_777.0 / 2.0 + 123.0 + 999.0 / 20.0 + 11.0);
    let premium = (5.0 / 3600.0 * 33_333.0 * 4.0 * 0.93_f64).round();
    let both = f64::round(basic) + f64::round(basic * 0.59);
    assert_eq!(
        world.text(sums("tier")).await.unwrap(),
        format!(
            "=regular:  1 5000 0 0; =basic: eur 2 10000 {both} 6; =premium: eur 1 5000 {premium} 3"
        )
    );
    assert_eq!(
        world.text(sums("label")).await.unwrap(),
        format!(
            "team=web:  1 5000 0 0; team=media: eur 2 10000 {both} 6; team=web: eur 1 5000 {premium} 3"
        )
    );
    assert_eq!(
        world.text(sums("schedule")).await.unwrap(),
        format!("=:  1 5000 0 0; =: eur 3 15000 {} 9", both + premium)
    );
    assert_eq!(wrong(&world).await, 0);
}

#[tokio::test]
async fn one_that_commits_late_is_counted_when_it_has() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    count(&world).await;
    let began = runtime::clock::wall();
    let mut late = world.owner.begin().await.unwrap();
    let early = random_attempts(tenant, 1, (20, 0.1));
    sqlx::raw_sql(sqlx::AssertSqlSafe(early)).execute(&mut *late).await.unwrap();
    world.sql(random_attempts(tenant, 2, (20, 0.2))).await;
    for _ in 0..3 {
        // In the time of the next count.
        world.sql("select pg_sleep(0.6)").await;
        let counted = rollup::count(&world.scheduler).await.unwrap().attempts;
        assert_eq!(counted, 0, "who began later waits for who began earlier");
    }
    let until = async || rollup::counted_until(&world.api).await.unwrap().unwrap();
    let held = until().await;
    assert!(
        held < began + chrono::TimeDelta::seconds(1),
        "{held}, and the late one began at {began}"
    );
    late.commit().await.unwrap();
    let ended = runtime::clock::wall();
    assert_eq!(count(&world).await, 3);
    let goes_on = async || count(&world).await == 0 && until().await >= ended;
    poll::until("the count to pass it", Duration::from_secs(60), goes_on).await.unwrap();
    assert_eq!(
        world.number("select sum(attempts)::bigint from usage_rollup where kind = 'tier'").await,
        3
    );
}

#[tokio::test]
async fn charged_use_without_a_price_is_told_apart_once_there_are_price_books() {
    let world = World::new().await;
    let [free, billed] = [world.tenant().await, world.tenant().await];
    count(&world).await;
    let count_unpriced = async || {
        let (attempts, unpriced) = (AtomicUsize::new(0), AtomicU64::new(0));
        let caught_up = async || {
            let counted = rollup::count(&world.scheduler).await.unwrap();
            unpriced.fetch_add(counted.unpriced, Ordering::Relaxed);
            attempts.fetch_add(counted.attempts, Ordering::Relaxed) + counted.attempts == 40
        };
        poll::until("all is counted", Duration::from_secs(60), caught_up).await.unwrap();
        unpriced.into_inner()
    };
    world.sql(random_attempts(free, 40, (20, 0.1))).await;
    assert_eq!(count_unpriced().await, 0, "nobody is billed here");
    priced(&world, billed).await;
    world.sql("update tenant_plan set since = since - interval '9 days'; update plan_billing set since = since - interval '9 days'").await;
    world.sql(random_attempts(free, 25, (20, 0.2))).await;
    world.sql(random_attempts(billed, 15, (20, 0.3))).await;
    let charged = format!(
        "select count(*) from (select charged from attempt where tenant_id = '{}' order by txid desc limit 25) a where charged",
        free.uuid()
    );
    let charged = world.number(charged).await;
    assert!(0 < charged && charged < 25, "{charged}: of both kinds");
    assert_eq!(count_unpriced().await, charged.unsigned_abs());
}

#[tokio::test]
async fn while_one_counts_another_does_not() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    count(&world).await;
    world.sql(random_attempts(tenant, 50, (20, 0.3))).await;
    let counts = (0..8).map(|_| rollup::count(&world.scheduler));
    let counts = futures::future::join_all(counts).await;
    let all: usize = counts.into_iter().map(|counted| counted.unwrap().attempts).sum();
    assert_eq!(all + count(&world).await, 50);
    assert_eq!(
        world.number("select sum(attempts)::bigint from usage_rollup where kind = 'tier'").await,
        50
    );
}

#[tokio::test]
async fn what_was_there_before_the_first_count_is_counted_day_by_day() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    // As they were before attempts named their transactions, and when tenants had their plan.
    world.sql("update tenant_plan set since = since - interval '9 days'; update plan_billing set since = since - interval '9 days'").await;
    world.sql(random_attempts(tenant, 3000, (48, 0.4))).await;
    world.sql("update attempt set txid = null, tolerance_ms = null, flexible = null").await;
    let first = rollup::count(&world.scheduler).await.unwrap();
    assert!(first.day.is_some(), "{first:?}");
    // What ends meanwhile is of no day, also where the days take longer than a day to count.
    world.sql("update event_cursor set at = at - interval '3 days' where consumer = 'usage'").await;
    world.sql(random_attempts(tenant, 500, (60, 0.5))).await;
    // Counted with the first that is of no day: nothing in it ended as long before it was written.
    let written = world.number("select max(txid)::bigint from attempt").await;
    let over = async || {
        let oldest = "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint";
        world.number(oldest).await > written
    };
    poll::until("the transaction is over", Duration::from_secs(60), over).await.unwrap();
    let mut days = vec![first];
    while let Some(last) = days.last().filter(|last| last.day.is_some()) {
        let next = rollup::count(&world.scheduler).await.unwrap();
        assert!(next.day.is_none() || next.day > last.day);
        days.push(next);
    }
    let today: NaiveDate = runtime::clock::wall().date_naive();
    assert!(days.iter().filter_map(|day| day.day).max() > Some(today));
    let old: usize = days.iter().filter(|day| day.day.is_some()).map(|day| day.attempts).sum();
    assert_eq!((old, days.last().unwrap().attempts + count(&world).await), (3000, 500));
    let all = "select sum(attempts)::bigint from usage_rollup where kind = ";
    assert_eq!(world.number(format!("{all}'tier'")).await, 3500);
    assert_eq!(world.number(format!("{all}'workflow'")).await, 3500);
    assert_eq!(wrong(&world).await, 0);
}

#[tokio::test]
async fn in_another_cluster_the_count_goes_on_where_it_was() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    count(&world).await;
    world.sql(random_attempts(tenant, 300, (20, 0.6))).await;
    count(&world).await;
    world.sql(random_attempts(tenant, 70, (20, 0.7))).await;
    // As in the dump of a cluster that was far ahead of this one.
    let ahead = 1_000_000_000_i64;
    world
        .sql(format!(
            "update attempt set txid = txid + {ahead}; update event_cursor set txid = txid + {ahead} where consumer = 'usage';
            update installation set place = '1/2/3'"
        ))
        .await;
    migrate(&config(&world.database), How::default()).await.unwrap();
    world.sql(random_attempts(tenant, 5, (20, 0.8))).await;
    assert_eq!(count(&world).await, 75);
    assert_eq!(count(&world).await, 0);
    let all = "select sum(attempts)::bigint from usage_rollup where kind = 'tier'";
    assert_eq!(world.number(all).await, 375);
    assert_eq!(wrong(&world).await, 0);
}

#[tokio::test]
async fn the_doctor_computes_the_same_price_in_other_numbers_and_sees_what_is_wrong() {
    let world = World::new().await;
    let [tenant, other] = [world.tenant().await, world.tenant().await];
    priced(&world, tenant).await;
    world.sql("update tenant_plan set since = since - interval '9 days'; update plan_billing set since = since - interval '9 days'").await;
    for seed in 1..=5 {
        world.sql(random_attempts(tenant, 2000, (20, f64::from(seed) / 10.0))).await;
        world.sql(random_attempts(other, 20, (20, f64::from(seed) / 20.0))).await;
        count(&world).await;
    }
    assert_eq!(wrong(&world).await, 0);
    assert!(
        world
            .number("select sum(attempts_cost)::bigint from usage_rollup where kind = 'tier'")
            .await
            > 1_000_000
    );
    let one = "where kind = 'tier' and starts_at = (select max(starts_at) from usage_rollup where kind = 'tier')";
    for column in [
        "attempts",
        "charged_attempts",
        "tasks",
        "run_ms",
        "cpu_millis_ms",
        "memory_mib_ms",
        "attempts_cost",
        "tasks_cost",
    ] {
        world.sql(format!("update usage_rollup set {column} = {column} + 1 {one}")).await;
        assert!(wrong(&world).await >= 1, "{column}");
        world.sql(format!("update usage_rollup set {column} = {column} - 1 {one}")).await;
    }
    world
        .sql(format!(
            "create table lost as select * from usage_rollup {one}; delete from usage_rollup {one}"
        ))
        .await;
    assert!(wrong(&world).await >= 1);
    world.sql("insert into usage_rollup select * from lost; drop table lost").await;
    assert_eq!(wrong(&world).await, 0);
}

#[tokio::test]
async fn a_label_with_a_value_for_each_task_has_a_bounded_number_of_rows() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    count(&world).await;
    let round = async |from: usize, to: usize| {
        for at in from..to {
            let mut task = new_task(tenant);
            task.spec.labels = labels("job", &format!("{at:04}"));
            let task = world.store(task).await;
            world
                .sql(format!(
                    "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, cpu_millis, memory_mib, disk_mib, iops, ports,
                        session_id, placed_at, ended_at, usage_ms)
                    values ('{}', '{}', 1, 'succeeded', true, 'default', 1, 1, 1, 1, 1, gen_random_uuid(), now(), now(), 0)",
                    tenant.uuid(),
                    task.uuid()
                ))
                .await;
        }
        count(&world).await
    };
    assert_eq!(round(0, 60).await, 60);
    assert_eq!(round(30, 150).await, 120);
    let quarters = "select count(distinct starts_at) from usage_rollup";
    let most = MOST_VALUES as i64 * world.number(quarters).await;
    let values = "select count(*) from usage_rollup where kind = 'label' and not others";
    let kept = world.number(values).await;
    assert!(kept >= MOST_VALUES as i64 && kept <= most, "{kept}");
    assert_eq!(
        world.number("select sum(attempts)::bigint from usage_rollup where kind = 'label'").await,
        180
    );
    assert!(world.number("select count(*) from usage_rollup where others").await >= 1);
}

#[tokio::test]
async fn what_is_stored_is_measured_once_for_each_day_that_is_over() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let kept = |day: u32, bytes: u32| {
        format!(
            "insert into output_use (tenant_id, day, bytes) values ('{}', (now() at time zone 'UTC')::date - {day}, {bytes})",
            tenant.uuid()
        )
    };
    for (day, bytes) in [(3, 100), (1, 20), (0, 7)] {
        world.sql(kept(day, bytes)).await;
    }
    assert_eq!(store::stored_day::measure(&world.scheduler).await.unwrap(), 1, "yesterday alone");
    assert_eq!(store::stored_day::measure(&world.scheduler).await.unwrap(), 0, "once");
    let days = "select string_agg(((now() at time zone 'UTC')::date - day) || ':' || bytes, ' ' order by day) from stored_day";
    assert_eq!(world.text(days.to_owned()).await.as_deref(), Some("1:120"), "not what today adds");
    // Nobody measured for two days.
    world.sql("update stored_day set day = day - 2").await;
    assert_eq!(store::stored_day::measure(&world.scheduler).await.unwrap(), 2);
    assert_eq!(world.text(days.to_owned()).await.as_deref(), Some("3:120 2:100 1:120"));
    assert_eq!(store::stored_day::forget(&world.scheduler, 1).await.unwrap(), 1);
}
