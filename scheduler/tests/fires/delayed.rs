//! Delayed tasks: ready when they are due, with what is held in memory and without.

use crate::world::{World, seconds};
use domain::id::{TaskId, TenantId};
use domain::task::{Delivery, Labels, TaskSpec};
use std::time::Duration;
use store::connect::SubmitDb;
use store::task::submit::{NewTask, SubmitAnswer, insert};

const SECOND: Duration = Duration::from_secs(1);
/// Writes down when a task became ready, and when it was due.
const WATCH: &str = "create table made_ready (id uuid, due timestamptz, at timestamptz);
    create function note_ready() returns trigger language plpgsql security definer as $$
        begin insert into made_ready values (new.id, old.run_at, clock_timestamp()); return null; end $$;
    create trigger note_ready after update on task for each row
        when (old.state in ('scheduled', 'retrying') and new.state = 'ready') execute function note_ready()";

fn delayed(tenant: TenantId, delay: Duration) -> NewTask {
    let template = testkit::schedules::noop_template("later");
    NewTask {
        tenant,
        id: TaskId::fresh(),
        name: template.name,
        pool: template.pool,
        tier: template.tier,
        resources: template.resources,
        spec: TaskSpec { run: template.run, retry: None, labels: Labels::new() },
        delay: Some(delay),
        run_at: None,
        delay_tolerance: template.delay_tolerance,
        execution_cap: template.execution_cap,
        expire_if_late: false,
        priority: template.priority,
        flexible: false,
        concurrency_key: None,
        max_attempts: 1,
        delivery: Delivery::AtLeastOnce,
        unique_key: None,
        traceparent: None,
        key_id: "aaaaaaaaaaaa".to_owned(),
        schedule: None,
        rerun_of: None,
        reservation: None,
        node: None,
        depends_on: None,
        idempotency: None,
    }
}

/// Stores a group, and wakes as the api does.
async fn store(world: &World, db: &SubmitDb, tasks: &[NewTask]) {
    let soon = |answer: &SubmitAnswer| matches!(answer, SubmitAnswer::Created(created) if created.is_due_soon());
    if insert(db, tasks).await.unwrap().iter().any(soon) {
        world.bus.wake(bus::Topic::ShardOwner);
    }
}

/// How late tasks became ready: p50, p99 and the most, in milliseconds.
async fn lateness(world: &World, count: usize) -> [f64; 3] {
    let all = format!("select count(*) >= {count} from made_ready");
    world.until("all are ready", SECOND * 20, &all).await;
    let wanted = i64::try_from(count).unwrap();
    assert_eq!(world.number("select count(distinct id) from made_ready").await, wanted);
    assert_eq!(world.number("select count(*) from made_ready").await, wanted, "each once");
    assert_eq!(
        world.number("select count(*) from made_ready where at < due").await,
        0,
        "none early"
    );
    let mut shares = [0.5, 0.99, 1.0];
    for share in &mut shares {
        let sql = format!(
            "select percentile_disc({share}) within group (order by extract(epoch from at - due) * 1000) from made_ready"
        );
        *share = world.sql(&sql).await.parse().unwrap();
    }
    shares
}

/// Five hundred a second, each due between 50 ms and 1.5 s after it was stored.
async fn steady(window: &str) -> [f64; 3] {
    let world = World::with(&[("BERTH_SCHEDULER__DUE_WINDOW", window)]).await;
    let tenant = world.tenant().await.tenant();
    let db = SubmitDb::connect(&world.config.database).unwrap();
    world.sql(WATCH).await;
    let running = world.scheduler().await;
    let leads = "select holder is not null from leadership where role = 'batcher'";
    world.until("it is the batcher", SECOND * 10, leads).await;
    seconds(1.5).await;
    let began = runtime::clock::monotonic();
    for group in 0..200_u32 {
        runtime::clock::sleep_until(began + Duration::from_millis(20) * group).await;
        let delay = |n: u32| Duration::from_millis(u64::from(50 + (group * 10 + n) * 37 % 1450));
        let tasks: Vec<_> = (0..10).map(|n| delayed(tenant, delay(n))).collect();
        store(&world, &db, &tasks).await;
    }
    let late = lateness(&world, 2000).await;
    running.stop().await;
    late
}

mod alone {
    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_held_in_memory_is_ready_sooner_than_what_is_looked_for() {
        let without = super::steady("0s").await;
        let with = super::steady("500ms").await;
        eprintln!("late, p50, p99 and most, in ms: looked for {without:.1?}, held {with:.1?}");
        assert!(with[0] * 2.0 <= without[0], "held {with:?}, looked for {without:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_holds_what_is_due_all_becomes_ready_nevertheless() {
    let world = World::new().await;
    let tenant = world.tenant().await.tenant();
    let db = SubmitDb::connect(&world.config.database).unwrap();
    world.sql(WATCH).await;
    // Another leads, and does nothing.
    world
        .sql("update leadership set holder = gen_random_uuid(), expires_at = 'infinity' where role = 'batcher'")
        .await;
    let running = world.scheduler().await;
    seconds(1.0).await;
    let tasks: Vec<_> =
        (0..50).map(|n| delayed(tenant, Duration::from_millis(50 + 20 * n))).collect();
    store(&world, &db, &tasks).await;
    let [_, _, most] = lateness(&world, 50).await;
    assert!(most <= 1000.0, "{most} ms");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_cancelled_while_it_was_held_stays_so_and_delays_no_other() {
    let world = World::new().await;
    let scope = world.tenant().await;
    let db = SubmitDb::connect(&world.config.database).unwrap();
    world.sql(WATCH).await;
    let running = world.scheduler().await;
    seconds(1.0).await;
    let delay = Duration::from_millis(700);
    let tasks: Vec<_> = (0..40).map(|_| delayed(scope.tenant(), delay)).collect();
    store(&world, &db, &tasks).await;
    seconds(0.5).await;
    let gone: Vec<_> = tasks.iter().step_by(2).map(|task| task.id).collect();
    store::task::transition::cancel_requested(&world.api, &scope, &gone, SECOND).await.unwrap();
    let [_, _, most] = lateness(&world, 20).await;
    assert!(most <= 500.0, "{most} ms");
    let cancelled = "select count(*) from task_history where state = 'cancelled'";
    assert_eq!(world.number(cancelled).await, 20);
    running.stop().await;
}
