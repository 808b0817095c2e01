//! The checks of the tables: Postgres refuses rows that no statement could work with.

use crate::support::{World, config, ended, new_schedule};
use domain::id::NodeId;
use domain::schedule::{Spec, Timing};
use domain::task::Event;
use domain::time::Timestamp;
use sqlx::{AssertSqlSafe, PgPool};
use store::StoreError;
use store::TenantScope;
use store::migrate::How;
use store::schedule::{
    Backfill, BackfillAnswer, DeleteAnswer, ListLimit, PutAnswer, PutSchedule, backfill, delete,
    list, put,
};
use store::task::transition;

/// Expects that each update is refused because of a check, or of a null.
async fn refused(world: &World, updates: &[(&str, &str)]) {
    let pool = PgPool::connect(world.database.owner_url()).await.unwrap();
    for (table, wrong) in updates {
        let update = AssertSqlSafe(format!("update {table} set {wrong}"));
        let Err(error) = sqlx::raw_sql(update).execute(&pool).await else {
            panic!("not refused: {table}: {wrong}")
        };
        let code = error.as_database_error().unwrap().code().unwrap().into_owned();
        assert!(["23514", "23502"].contains(&code.as_str()), "{table}: {wrong}: {code}");
    }
}

#[tokio::test]
async fn the_checks_of_tables_refuse_what_no_step_may_leave() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    world.store_ready(tenant, 1).await;
    for wrong in [
        "state = 'succeeded'",
        "state = 'skipped'",
        // Leases: of the wrong state, and in parts.
        "state = 'running'",
        "state = 'cancelling'",
        "session_id = gen_random_uuid()",
        "assignment = 1",
        "placed_at = now()",
        "session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = now()",
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = null",
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = null, wake_at = now()",
        "state = 'running', session_id = gen_random_uuid(), assignment = null, placed_at = now(), wake_at = now()",
        "state = 'running', session_id = null, assignment = 1, placed_at = now(), wake_at = now()",
        // Numbers.
        "cpu_millis = -1",
        "memory_mib = -1",
        "disk_mib = -1",
        "iops = -1",
        "ports = -1",
        "slots = 0",
        "slots = 2147483647",
        "cap_ms = 0",
        "cap_ms = null",
        "cap_ms = 9223372036854775807",
        "attempt = -1",
        "attempt = 2147483647",
        "failures = -1",
        "failures = 1",
        "max_attempts = 0",
        "max_attempts = null",
        "dispatch_epoch = -1",
        "dispatch_epoch = 2147483647",
        "priority = 11",
        "priority = -11",
        "strand = null",
        "expire_if_late = null",
        "concurrency_key = ''",
        "concurrency_key = repeat('k', 201)",
        // Times.
        "run_at = 'infinity'",
        "run_at = '-infinity'",
        "start_deadline = '290000-01-01'",
        "wake_at = 'infinity'",
        "first_started_at = '-infinity'",
    ] {
        refused(&world, &[("task", wrong)]).await;
    }
    for right in [
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = now()",
        "state = 'cancelling', attempt = 2, failures = 2",
        "state = 'retrying', session_id = null, assignment = null, placed_at = null, concurrency_key = repeat('k', 200)",
    ] {
        world.sql(format!("update task set {right}")).await;
    }
}

#[tokio::test]
async fn the_checks_of_what_has_ended_refuse_what_nobody_could_bill() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 1).await;
    transition::completed(&world.rm, &[ended(leases[0], Event::Completed)]).await.unwrap();
    let wrong = [
        ("attempt", "attempt = 0"),
        ("attempt", "ended_at = placed_at - interval '1 microsecond'"),
        ("attempt", "usage_ms = -1"),
        ("attempt", "usage_ms = 1, charged = false"),
        ("attempt", "outcome = 'won'"),
        ("attempt", "placed_at = '-infinity'"),
        ("task_history", "state = 'retrying'"),
        ("task_history", "run_at = 'infinity'"),
        ("task_spec", "created_at = 'infinity'"),
        ("task_spec", "due_at = '-infinity'"),
        ("task_spec", "run = null"),
    ];
    refused(&world, &wrong).await;
    world.sql("update attempt set usage_ms = 0, charged = false, outcome = 'lost'").await;
}

#[tokio::test]
async fn the_checks_of_schedules_and_limits_refuse_what_stops_a_loop() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let made = put(&world.api, &scope, &new_schedule("one")).await.unwrap();
    assert!(matches!(made, PutAnswer::Created(_)), "{made:?}");
    let id = tenant.uuid();
    world
        .sql(format!(
            "insert into concurrency_limit (tenant_id, key, running) values ('{id}', 'k', 1);
            insert into schedule_backfill (schedule_id, tenant_id, reached, until, per_second, key_id)
                select id, tenant_id, now(), now(), 1, 'k' from schedule;
            insert into schedule_span (schedule_id, version, tenant_id, until, timing, template, overlap, misfire, paused)
                select id, 1, tenant_id, now(), timing, template, overlap, misfire, false from schedule"
        ))
        .await;
    let wrong = [
        ("schedule", "timing = null"),
        ("schedule", "overlap = 'sideways'"),
        ("schedule", "due_at = 'infinity', fire_at = now()"),
        ("schedule", "due_at = null"),
        ("schedule", "created_at = '-infinity'"),
        ("schedule", "version = 9223372036854775807"),
        ("schedule", "fires = -1"),
        ("schedule", "fires = 9223372036854775807"),
        ("schedule", "recent = null"),
        ("schedule_span", "until = 'infinity'"),
        ("schedule_span", "overlap = 'sideways'"),
        ("schedule_backfill", "until = 'infinity'"),
        ("schedule_backfill", "per_second = 'infinity'"),
        ("plan", "backlog = null"),
        ("plan", "backlog = -1"),
        ("plan", "weight = 'NaN'"),
        ("plan", "running_tasks = 0"),
        ("plan", "limits = limits || '{\"running_tasks\": 0}'"),
        ("plan", "limits = limits || '{\"backlog\": null}'"),
        ("tenant", "weight = -1"),
        ("tenant", "state = 'merry'"),
        ("concurrency_limit", "running = -5"),
        ("concurrency_limit", "running = null"),
    ];
    refused(&world, &wrong).await;
}

#[tokio::test]
async fn a_backfill_from_before_1970_begins_there() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    let timing = Timing::of(vec![Spec::Cron("0 3 1 1 *".to_owned())]);
    put(&world.api, &scope, &PutSchedule { timing, ..new_schedule("yearly") }).await.unwrap();
    let now = runtime::clock::wall();
    for (years, fires) in [(1900..1950, false), (1900..1980, true)] {
        let [from, to] = [years.start, years.end]
            .map(|year| format!("{year}-01-01T00:00:00Z").parse::<Timestamp>().unwrap());
        let range = Backfill { from, to: to.min(now), dry_run: false, per_second: 1.0 };
        let answer = backfill(&world.api, &scope, "yearly", range, "k").await.unwrap();
        let BackfillAnswer::Planned(plan) = answer else { panic!("{answer:?}") };
        assert_eq!(plan.due, if fires { 10 } else { 0 });
    }
    assert_eq!(world.number("select count(*) from schedule_backfill").await, 1);
}

#[tokio::test]
async fn every_check_is_validated() {
    let world = World::new().await;
    let without = "select coalesce(string_agg(conrelid::regclass || '.' || conname, ' '), '') from pg_constraint
        where connamespace = 'public'::regnamespace and not convalidated";
    assert_eq!(world.text(without).await.as_deref(), Some(""));
}

/// Puts a row in that was allowed before the checks were, and migrates on.
#[tokio::test]
async fn a_row_that_violates_a_new_check_is_named_and_no_check_is_added() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = world.store_ready(tenant, 2).await;
    let bad = tasks[1].1.uuid();
    world
        .sql(format!(
            "alter table task drop constraint times_are_in_range;
            delete from _sqlx_migrations where version in (45, 46);
            update task set run_at = 'infinity', start_deadline = 'infinity' where id = '{bad}'"
        ))
        .await;
    let checks = "select string_agg(conrelid::regclass || '.' || conname || ' ' || convalidated, ', ' order by 1)
        from pg_constraint where connamespace = 'public'::regnamespace and contype = 'c'";
    let before = world.text(checks).await;
    let config = config(&world.database);
    let error = store::migrate::run(&config, How::default()).await.unwrap_err();
    let StoreError::Migrate(cause) = error else { panic!("{error:?}") };
    let text = cause.to_string();
    for part in [&bad.to_string(), "of table task", "times_are_in_range", "no check was added"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(world.text(checks).await, before);
    assert_eq!(world.number("select count(*) from task").await, 2);

    world
        .sql(format!("update task set run_at = now(), start_deadline = now() where id = '{bad}'"))
        .await;
    store::migrate::run(&config, How::default()).await.unwrap();
    refused(&world, &[("task", "run_at = 'infinity'")]).await;
    let open = "select count(*) from pg_constraint where contype = 'c' and not convalidated";
    assert_eq!(world.number(open).await, 0);
}

#[tokio::test]
async fn a_schedule_that_cannot_be_read_fails_its_reader_and_can_be_deleted() {
    let world = World::new().await;
    let scope = TenantScope::of_role(world.tenant().await);
    for name in ["good", "bad"] {
        let made = put(&world.api, &scope, &new_schedule(name)).await.unwrap();
        assert!(matches!(made, PutAnswer::Created(_)), "{made:?}");
    }
    world.sql("update schedule set timing = '{' where name = 'bad'").await;
    let all = ListLimit { rows: 100, bytes: 1 << 20 };
    let error = list(&world.api, &scope, None, all).await.unwrap_err();
    assert!(matches!(error, StoreError::Malformed { what: "timing", .. }), "{error:?}");
    let gone = delete(&world.api, &scope, "bad", None).await.unwrap();
    assert_eq!(gone, DeleteAnswer::Deleted);
    assert_eq!(list(&world.api, &scope, None, all).await.unwrap().rows.len(), 1);
}
