//! The event log: what is written for whom, and that each reader sees each event once, however transactions overlap.

use crate::support::{Leader, Owned, Shuffle, World, config, ended, new_schedule, new_task};
use domain::id::{NodeId, ScheduleId, TaskId, TenantId};
use domain::task::Event;
use domain::task::LeaseKey;
use sqlx::AssertSqlSafe;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use store::connect::{RmDb, SchedulerDb};
use store::event::{changes, follow, forget_expired, lag, unfollow};
use store::fire::count_ends;
use store::schedule::PutAnswer;
use store::task::transition::{self, TransitionResult};
use store::{StoreError, TenantScope};
use testkit::poll::until;
use testkit::settings;

const TERM: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(60);

async fn runners(world: &World) -> (Leader, Owned) {
    (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await)
}

/// A schedule that counts failures.
async fn counting(world: &World, tenant: TenantId) -> ScheduleId {
    let mut new = new_schedule("counting");
    new.pause_after_failures = Some(1000);
    match store::schedule::put(&world.api, &TenantScope::of_role(tenant), &new).await.unwrap() {
        PutAnswer::Created(record) => record.id,
        other => panic!("{other:?}"),
    }
}

/// Has the ends of these tasks counted, as a fire does.
async fn count_ends_of(world: &World, tasks: &[(TenantId, TaskId)], schedule: ScheduleId) {
    let ids: Vec<_> = tasks.iter().map(|(_, task)| format!("'{}'", task.uuid())).collect();
    let (schedule, ids) = (schedule.uuid(), ids.join(","));
    world.sql(format!("update task set counted_by = '{schedule}' where id in ({ids})")).await;
}

/// States of the events of a task, in the order of its changes.
async fn states_of(world: &World, task: TaskId) -> Option<String> {
    let id = task.uuid();
    world
        .text(format!(
            "select string_agg(state || ' ' || attempt, ', ' order by seq) from task_event where task_id = '{id}'"
        ))
        .await
}

#[tokio::test]
async fn every_change_is_written_for_a_tenant_with_a_consumer_and_for_no_other() {
    let world = World::new().await;
    let (mine, other) = (world.tenant().await, world.tenant().await);
    let scope = TenantScope::of_role(mine);
    follow(&world.api, &scope, "live_a", TERM).await.unwrap();
    follow(&world.api, &scope, "live_a", TERM).await.unwrap();
    follow(&world.api, &TenantScope::of_role(other), "live_a", Duration::ZERO).await.unwrap();
    let (leader, owned) = runners(&world).await;
    let tenants = [mine, other];
    let mut leases = Vec::new();
    for tenant in tenants {
        let later = new_task(tenant);
        let delay = Some(Duration::from_millis(1));
        let id = world.store(store::task::submit::NewTask { delay, ..later }).await;
        let due = async || transition::due(&world.scheduler, &[(tenant, id)]).await.unwrap() == 1;
        until("it is due", LIMIT, due).await.unwrap();
        let dispatched = world.dispatch(leader, &[(tenant, id)]).await;
        transition::unplaced(&world.rm, &dispatched).await.unwrap();
        let dispatched = world.dispatch(leader, &[(tenant, id)]).await;
        leases.extend(world.place(owned, &dispatched).await);
    }
    let back: Vec<_> = leases.iter().map(|l| ended(*l, Event::HandedBack)).collect();
    transition::handed_back(&world.rm, &back).await.unwrap();
    let keys: Vec<_> = leases.iter().map(|lease| (lease.tenant, lease.task)).collect();
    let leases = world.place(owned, &world.dispatch(leader, &keys).await).await;
    for lease in &leases {
        let scope = TenantScope::of_role(lease.tenant);
        transition::cancel_requested(&world.api, &scope, &[lease.task], TERM).await.unwrap();
    }
    let stopped: Vec<_> = leases.iter().map(|l| ended(*l, Event::Stopped)).collect();
    transition::stopped(&world.rm, &stopped).await.unwrap();
    let of = |tenant| leases.iter().find(|lease| lease.tenant == tenant).unwrap().task;
    assert_eq!(
        states_of(&world, of(mine)).await.as_deref(),
        Some("ready 0, running 1, ready 1, running 2, cancelling 2, cancelled 2")
    );
    assert_eq!(states_of(&world, of(other)).await, None, "its term was over at once");
    // Nobody follows any more.
    unfollow(&world.api, &scope, "live_a").await.unwrap();
    let quiet = world.store_ready(mine, 1).await;
    world.place(owned, &world.dispatch(leader, &quiet).await).await;
    assert_eq!(states_of(&world, quiet[0].1).await, None);
    assert_eq!(forget_expired(&world.scheduler, 10).await.unwrap(), 1);
    assert_eq!(world.number("select count(*) from event_consumer").await, 0);
}

#[tokio::test]
async fn ends_that_a_schedule_counts_are_written_without_a_consumer() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = runners(&world).await;
    let schedule = counting(&world, tenant).await;
    let tasks = world.store_ready(tenant, 3).await;
    count_ends_of(&world, &tasks[..2], schedule).await;
    let scope = TenantScope::of_role(tenant);
    transition::cancel_requested(&world.api, &scope, &[tasks[1].1], TERM).await.unwrap();
    let running = [tasks[0], tasks[2]];
    let leases = world.place(owned, &world.dispatch(leader, &running).await).await;
    let ends: Vec<_> = leases.iter().map(|lease| ended(*lease, Event::Completed)).collect();
    transition::completed(&world.rm, &ends).await.unwrap();
    assert_eq!(states_of(&world, tasks[0].1).await.as_deref(), Some("succeeded 1"));
    assert_eq!(states_of(&world, tasks[1].1).await.as_deref(), Some("cancelled 0"));
    assert_eq!(states_of(&world, tasks[2].1).await, None);
}

/// Writes the end of a task that `schedule` counts, in a transaction that the caller ends.
async fn write_end(
    world: &World,
    tenant: TenantId,
    schedule: ScheduleId,
) -> sqlx::Transaction<'static, sqlx::Postgres> {
    let mut tx = world.owner.begin().await.unwrap();
    let sql = format!(
        "insert into task_event (tenant_id, kind, task_id, state, attempt, schedule_id)
            values ('{}', 'task_changed', gen_random_uuid(), 'failed', 1, '{}')",
        tenant.uuid(),
        schedule.uuid()
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *tx).await.unwrap();
    tx
}

#[tokio::test]
async fn what_commits_late_is_not_passed_over() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let schedule = counting(&world, tenant).await;
    let in_a_row = || world.number("select failures_in_row::bigint from schedule");
    let early = write_end(&world, tenant, schedule).await;
    let undone = write_end(&world, tenant, schedule).await;
    write_end(&world, tenant, schedule).await.commit().await.unwrap();
    assert!(lag(&world.scheduler).await.unwrap().is_some());
    for _ in 0..3 {
        let counted = count_ends(&world.scheduler, 10).await.unwrap();
        assert_eq!((counted.ends, in_a_row().await), (0, 0), "an older one may still come");
    }
    undone.rollback().await.unwrap();
    early.commit().await.unwrap();
    let counted = async || {
        count_ends(&world.scheduler, 1).await.unwrap();
        lag(&world.scheduler).await.unwrap().is_none()
    };
    until("both are counted", LIMIT, counted).await.unwrap();
    assert_eq!(in_a_row().await, 2);
}

#[tokio::test]
async fn whoever_is_killed_before_its_commit_has_counted_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let schedule = counting(&world, tenant).await;
    for _ in 0..3 {
        write_end(&world, tenant, schedule).await.commit().await.unwrap();
    }
    // Ends the connection in the statement that moves the cursor, after all has been counted, as long as it is there.
    world
        .sql(
            "create function die() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
            create trigger die after update on event_cursor for each statement execute function die()",
        )
        .await;
    let failed = async || count_ends(&world.scheduler, 10).await.is_err();
    until("one that counts is killed", LIMIT, failed).await.unwrap();
    assert_eq!(world.number("select failures_in_row::bigint from schedule").await, 0);
    world.sql("drop trigger die on event_cursor").await;
    let counted = async || {
        // A connection that was ended may be met once more.
        let _ = count_ends(&world.scheduler, 10).await;
        world.number("select failures_in_row::bigint from schedule").await == 3
    };
    until("they are counted", LIMIT, counted).await.unwrap();
    assert_eq!(count_ends(&world.scheduler, 10).await.unwrap().ends, 0, "once");
}

#[tokio::test]
async fn after_a_restore_what_was_not_counted_is_counted_and_nothing_else() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let schedule = counting(&world, tenant).await;
    write_end(&world, tenant, schedule).await.commit().await.unwrap();
    let all = async || {
        count_ends(&world.scheduler, 10).await.unwrap();
        lag(&world.scheduler).await.unwrap().is_none()
    };
    until("one is counted", LIMIT, all).await.unwrap();
    write_end(&world, tenant, schedule).await.commit().await.unwrap();
    // As a dump of a cluster has it whose transactions had far higher numbers, restored in this one.
    world
        .sql(
            "update task_event set txid = txid + 1000000000000;
            update event_cursor set txid = txid + 1000000000000;
            update installation set place = '1/2/3'",
        )
        .await;
    assert_eq!(count_ends(&world.scheduler, 10).await.unwrap().ends, 0);
    store::migrate::run(&config(&world.database), store::migrate::How::default()).await.unwrap();
    write_end(&world, tenant, schedule).await.commit().await.unwrap();
    until("the others are counted", LIMIT, all).await.unwrap();
    assert_eq!(world.number("select failures_in_row::bigint from schedule").await, 3);
}

/// Tasks of the run below; with `SCALE=1` as many as a busy day has in a few minutes.
fn tasks() -> usize {
    settings::rounds(4_000, 100_000)
}

/// A resource manager: ends tasks, and reports again where it does not know what became of a report.
async fn end_all(rm: RmDb, leases: &[LeaseKey]) {
    for group in leases.chunks(50) {
        let ends: Vec<_> =
            group.iter().map(|lease| ended(*lease, Event::AttemptsExhausted)).collect();
        let answers = loop {
            if let Ok(answers) = transition::attempts_exhausted(&rm, &ends).await {
                break answers;
            }
        };
        let over = |answer: &TransitionResult| {
            matches!(answer, TransitionResult::Applied(_) | TransitionResult::Repeated)
        };
        assert!(answers.iter().all(over), "{answers:?}");
    }
}

/// Ends connections of resource managers and schedulers at random, and holds transactions open, with `SCALE=1` for up to three seconds,
/// until told to stop.
async fn disturb(world: &World, stop: &AtomicBool) {
    let mut random = Shuffle::new(7);
    let kill = "select count(pg_terminate_backend(pid)) from (
        select pid from pg_stat_activity where datname = current_database()
            and usename in ('berth_rm', 'berth_scheduler') order by random() limit 1) a";
    while !stop.load(Ordering::Relaxed) {
        let mut held = world.owner.begin().await.unwrap();
        sqlx::raw_sql("select pg_current_xact_id()").execute(&mut *held).await.unwrap();
        for _ in 0..random.below(1..settings::rounds(6, 150)) {
            runtime::clock::sleep(Duration::from_millis(20)).await;
            world.number(kill).await;
        }
        held.rollback().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_consumer_sees_each_end_once_whoever_is_killed_and_however_long_transactions_last() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let schedule = counting(&world, tenant).await;
    follow(&world.api, &scope, "live_a", Duration::from_secs(3600)).await.unwrap();
    let leader = world.lead(NodeId::fresh()).await;
    let mut leases = Vec::new();
    while leases.len() < tasks() {
        let owned = world.open(NodeId::fresh()).await;
        leases.extend(world.run(leader, owned, tenant, 1000).await);
    }
    let keys: Vec<_> = leases.iter().map(|lease| (lease.tenant, lease.task)).collect();
    count_ends_of(&world, &keys, schedule).await;
    let (stop, counted) = (AtomicBool::new(false), AtomicUsize::new(0));
    let managers = async {
        let mut each = leases.chunks(leases.len() / 4);
        let mut manager = || {
            let rm = RmDb::connect(&config(&world.database)).unwrap();
            end_all(rm, each.next().unwrap())
        };
        tokio::join!(manager(), manager(), manager(), manager());
        stop.store(true, Ordering::Relaxed);
    };
    let counting = async |db: SchedulerDb| {
        while !stop.load(Ordering::Relaxed) || !lag(&db).await.is_ok_and(|lag| lag.is_none()) {
            if let Ok(found) = count_ends(&db, 100).await {
                counted.fetch_add(found.ends, Ordering::Relaxed);
            }
        }
    };
    let ids: Vec<_> = keys.iter().map(|(_, id)| *id).collect();
    // Before the first ends: what changed before this is not seen.
    let mut horizon = changes(&world.api, &scope, None, &ids).await.unwrap().horizon;
    let reading = async {
        let mut seen = HashSet::new();
        while seen.len() < ids.len() {
            match changes(&world.api, &scope, horizon, &ids).await {
                Ok(found) => {
                    seen.extend(found.tasks);
                    horizon = found.horizon;
                }
                Err(error) => assert!(!matches!(error, StoreError::Malformed { .. }), "{error}"),
            }
        }
    };
    let other = SchedulerDb::connect(&config(&world.database)).unwrap();
    tokio::join!(
        managers,
        counting(world.scheduler.clone()),
        counting(other),
        reading,
        disturb(&world, &stop)
    );
    let ends = i64::try_from(leases.len()).unwrap();
    assert_eq!(world.number("select failures_in_row::bigint from schedule").await, ends);
    let once = "select count(*) from (select task_id from task_event
        where state = 'failed' and schedule_id is not null group by task_id having count(*) = 1) e";
    assert_eq!(world.number(once).await, ends);
    assert!(counted.load(Ordering::Relaxed) > 0);
}
