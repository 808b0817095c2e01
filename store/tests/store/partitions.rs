//! Day partitions: made ahead by anyone, dropped whole, never while something still needs them.

use crate::support::{World, ended, id_days_off, new_task};
use domain::id::{NodeId, TaskId};
use domain::task::{Event, State};
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::partition::{drop_expired, ensure, strays};
use store::task::submit::NewTask;
use store::task::transition;
use tokio::task::JoinSet;

/// Makes the 40 days past, too.
const DAYS_PAST: &str = "do $$ declare parent text; begin
    foreach parent in array array['task_spec', 'task_history', 'attempt', 'task_output'] loop
        while berth_partition_make(parent, (now() at time zone 'UTC')::date - 40, (now() at time zone 'UTC')::date) loop
        end loop;
    end loop; end $$";

/// Every table with partitions.
const PARENTS: [&str; 7] = [
    "task_spec",
    "task_history",
    "task_result",
    "attempt",
    "task_output",
    "schedule_fire",
    "task_event",
];

async fn partitions(world: &World, parent: &str) -> i64 {
    world
        .number(format!("select count(*) from pg_inherits where inhparent = '{parent}'::regclass"))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn days_ahead_are_made_once_however_many_ask() {
    let world = Arc::new(World::new().await);
    assert_eq!(ensure(&world.scheduler, 7).await.unwrap(), 0, "the migration made these");
    let mut all = JoinSet::new();
    for _ in 0..6 {
        let world = Arc::clone(&world);
        all.spawn(async move { ensure(&world.scheduler, 9).await.unwrap() });
    }
    assert_eq!(all.join_all().await.into_iter().sum::<u64>(), 2 * 8);
    assert_eq!(ensure(&world.scheduler, 9).await.unwrap(), 0);
    for parent in PARENTS {
        assert_eq!(
            partitions(&world, parent).await,
            1 + 9 + 1 + 1,
            "{parent}: yesterday to 9 days ahead, and the default"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn making_days_under_load_loses_nothing() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let mut clients = JoinSet::new();
    for _ in 0..4 {
        let world = Arc::clone(&world);
        clients.spawn(async move {
            for _ in 0..40 {
                world.store_ready(tenant, 5).await;
            }
        });
    }
    for days in 8..16 {
        ensure(&world.scheduler, days).await.unwrap();
    }
    clients.join_all().await;
    world.check_promises(4 * 40 * 5).await;
    assert_eq!(strays(&world.scheduler).await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_needed_stays_and_what_is_not_goes() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    world.sql(DAYS_PAST).await;
    let submit =
        async |days: i64| world.store(NewTask { id: id_days_off(days), ..new_task(tenant) }).await;
    let finish = async |task: TaskId, days: i32| {
        let lease = world.place(owned, &world.dispatch(leader, &[(tenant, task)]).await).await[0];
        transition::completed(&world.rm, &[ended(lease, Event::Completed)]).await.unwrap();
        let id = task.uuid();
        world.sql(format!("update attempt set placed_at = placed_at - interval '40 days', ended_at = ended_at - interval '{days} days' where task_id = '{id}';
            update task_history set finished_at = finished_at - interval '{days} days' where id = '{id}'")).await;
    };
    // Submitted long ago: still alive; ended long ago; ended just now.
    let (alive, gone, kept) = (submit(-35).await, submit(-34).await, submit(-33).await);
    finish(gone, 20).await;
    finish(kept, 1).await;
    let before = partitions(&world, "task_spec").await;
    assert!(drop_expired(&world.scheduler, 7).await.unwrap() > 100);
    assert_eq!(drop_expired(&world.scheduler, 7).await.unwrap(), 0, "twice is once");
    assert_eq!(world.state(alive).await, Some(State::Ready));
    assert_eq!(world.state(kept).await, Some(State::Succeeded));
    assert_eq!(world.state(gone).await, None);
    let specs =
        world.text("select string_agg(id::text, ' ' order by id) from task_spec").await.unwrap();
    assert_eq!(specs, format!("{} {}", alive.uuid(), kept.uuid()));
    assert_eq!(
        partitions(&world, "task_spec").await,
        before - 33 + 2,
        "the days of 8 to 40 days ago, but two"
    );
    let scope = TenantScope::of_role(tenant);
    assert!(
        store::task::get(&world.api, &scope, kept).await.unwrap().is_some(),
        "what is kept can be read whole"
    );
    world.check_promises(2).await;
}

#[tokio::test]
async fn a_clock_days_off_lands_in_the_default_partition_and_comes_home_when_its_day_is_made() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for days in [12, -300] {
        let id = id_days_off(days);
        world.store(NewTask { id, ..new_task(tenant) }).await;
        let lease = world.place(owned, &world.dispatch(leader, &[(tenant, id)]).await).await[0];
        transition::completed(&world.rm, &[ended(lease, Event::Completed)]).await.unwrap();
        assert!(
            store::task::get(&world.api, &TenantScope::of_role(tenant), id)
                .await
                .unwrap()
                .is_some()
        );
    }
    assert_eq!(strays(&world.scheduler).await.unwrap(), 2);
    assert_eq!(ensure(&world.scheduler, 14).await.unwrap(), 7 * 8);
    assert_eq!(
        strays(&world.scheduler).await.unwrap(),
        1,
        "12 days ahead is a day like any other now"
    );
    world.check_promises(2).await;
}

#[tokio::test]
async fn a_long_statement_in_the_way_is_not_waited_for_long() {
    let world = World::new().await;
    let mut reader = world.owner.begin().await.unwrap();
    sqlx::raw_sql("select from task_spec, task_history").execute(&mut *reader).await.unwrap();
    let began = runtime::clock::monotonic();
    let in_use = |result: Result<u64, store::StoreError>| {
        matches!(result, Err(store::StoreError::Contended))
    };
    assert!(in_use(ensure(&world.scheduler, 9).await));
    assert!(in_use(drop_expired(&world.scheduler, 0).await));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert_eq!(partitions(&world, "attempt").await, 9 + 2, "made and dropped where nobody reads");
    assert_eq!(partitions(&world, "task_spec").await, 10);
    reader.rollback().await.unwrap();
    assert_eq!(
        ensure(&world.scheduler, 9).await.unwrap(),
        2 * 2 + 6,
        "two days of two tables, yesterday of the others"
    );
}
