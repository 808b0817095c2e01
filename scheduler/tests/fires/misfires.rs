//! Due times that nobody fired in time, and those that may not be fired.

use crate::world::{World, every, every_from, schedule, seconds};
use domain::audit::By;
use domain::plan::PlanLimits;
use domain::schedule::Misfire;
use runtime::clock;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const EACH: i64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn after_two_hours_each_policy_fires_just_what_it_says_and_all_is_in_the_ledger() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let catch_up = Misfire::CatchUp { count: 10, max_age: SECOND * 7200, per_second: Some(5) };
    // The newest of the minutes is half of one old: a misfire, and the next is not due before the test is over. On the minute of the
    // clock it would now and then be just as old as a misfire is.
    let anchor = (clock::wall() - SECOND * (86_400 + 30)).to_rfc3339();
    let policies = [("skip", Misfire::Skip), ("once", Misfire::FireNextSoon), ("ten", catch_up)];
    for (name, misfire) in policies {
        for at in 0..EACH {
            let mut new = schedule(&format!("{name}-{at}"), every_from("1m", &anchor));
            new.misfire = misfire;
            world.put(&scope, &new).await;
        }
    }
    for at in 0..50 {
        world.put(&scope, &schedule(&format!("normal-{at}"), every("1s"))).await;
    }
    world.sql("update schedule set created_at = created_at - interval '1 day'").await;
    // Down for two hours: as if they had been due then for the first time.
    world
        .sql("update schedule set due_at = due_at - interval '2 hours', fire_at = due_at - interval '2 hours' where name not like 'normal%'")
        .await;
    let running = world.scheduler().await;
    let caught_up = "select bool_and(due_at > now()) from schedule where name not like 'normal%'";
    world.until("all have caught up", SECOND * 60, caught_up).await;
    seconds(4.0).await;
    running.stop().await;
    let made = async |name: &str| {
        let sql = format!(
            "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id
                where s.name like '{name}-%' and f.task_id is not null and f.due_at < f.fired_at - interval '10 seconds'"
        );
        world.number(&sql).await
    };
    assert_eq!(made("skip").await, 0);
    assert_eq!(made("ten").await, 10 * EACH);
    assert_eq!(made("once").await, EACH);
    let rows = "select count(*) from schedule_fire f join schedule s on s.id = f.schedule_id where s.name not like 'normal%'";
    let rows = world.number(rows).await;
    assert!((120 * 3 * EACH..=122 * 3 * EACH).contains(&rows), "each of two hours: {rows}");
    // Caught up at a pace: the tenth is due two seconds after the first.
    let paced = "select count(*) from task_spec t join schedule_fire f on f.task_id = t.id join schedule s on s.id = f.schedule_id
        where s.name like 'ten-%' and t.run_at > t.created_at + interval '1700 milliseconds'";
    assert_eq!(world.number(paced).await, EACH);
    let late = world
        .lateness_ms(1.0, "fired_at > now() - interval '4 seconds' and schedule_id in (select id from schedule where name like 'normal%')")
        .await;
    assert!(late <= 1000.0, "the others are in time again: {late} ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_tenant_and_one_without_room_get_no_task_and_are_told_why() {
    let world = World::new().await;
    let [suspended, full] = [world.tenant().await, world.tenant().await];
    world.allow(&full, &PlanLimits { backlog: 3, ..PlanLimits::default() }).await;
    for scope in [&suspended, &full] {
        for at in 0..5 {
            world.put(scope, &schedule(&format!("s{at}"), every("1s"))).await;
        }
    }
    store::tenant::suspend(&world.admin, suspended.tenant(), By::SYSTEM).await.unwrap();
    let running = world.scheduler().await;
    seconds(5.0).await;
    running.stop().await;
    // What had come before the first was fired may be late, by how long the scheduler took to start; nothing else may. What had come
    // before the suspension is judged as of then.
    let outcomes = async |scope: &store::TenantScope| {
        world.sql(&format!(
            "select string_agg(distinct o.outcome, ' ' order by o.outcome) from schedule_fire f join tenant n on n.id = f.tenant_id,
                lateral (select case when f.outcome = 'late' and f.due_at < (select min(fired_at) from schedule_fire) then 'fired'
                    else f.outcome end as outcome) o
                where n.id = '{}' and f.due_at > coalesce(n.suspended_at, '-infinity')",
            scope.tenant().uuid()
        )).await
    };
    assert_eq!(outcomes(&suspended).await, "suspended");
    assert_eq!(outcomes(&full).await, "fired shed_quota");
    let tasks = format!("select count(*) from task where tenant_id = '{}'", full.tenant().uuid());
    assert_eq!(world.number(&tasks).await, 3);
    assert_eq!(world.faults(SECOND).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_fires_is_told_within_a_minute_by_name() {
    let world = World::with(&[("BERTH_SCHEDULES__MISSED_AFTER", "2s")]).await;
    let scope = world.tenant().await;
    let stuck = world.put(&scope, &schedule("stuck", every("1s"))).await;
    // Nobody owns its shard, which is none of theirs.
    let id = stuck.id.uuid();
    world
        .sql(&format!(
            "insert into schedule_shard (shard, open, owner) values (999, false, '{id}')"
        ))
        .await;
    world
        .sql(&format!(
            "insert into scheduler_node (id, expires_at) values ('{id}', now() + interval '1 hour')"
        ))
        .await;
    world.sql(&format!("update schedule set shard = 999 where id = '{id}'")).await;
    let running = world.scheduler().await;
    // Shards are shared out by lot, and some fall to the one that does nothing: the other schedule is dealt into one that is owned.
    let owned = format!("owner is not null and owner <> '{id}'");
    let some = format!("select count(*) > 0 from schedule_shard where {owned}");
    world.until("some shards are taken", SECOND * 20, &some).await;
    world.sql(&format!("update schedule_shard set open = coalesce({owned}, false)")).await;
    world.put(&scope, &schedule("good", every("1s"))).await;
    let query = "select count(*) = 1 from task_event where kind = 'fire_missed' and detail ->> 'schedule' = 'stuck'";
    world.until("it is reported", SECOND * 20, query).await;
    let fires = "select count(*) >= 3 from schedule_fire";
    world.until("the good one fires", SECOND * 20, fires).await;
    running.stop().await;
    assert_eq!(world.number("select count(*) from task_event").await, 1);
}
