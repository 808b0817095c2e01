//! What a tenant looks at first: right, bounded, and of its own tasks only.

use crate::support::{World, ended, new_task};
use domain::id::{NodeId, TenantId};
use domain::plan::Quota;
use domain::task::{Event, State};
use std::time::Duration;
use store::TenantScope;
use store::overview::{MOST_LIVE, Overview, overview};
use store::task::submit::NewTask;
use store::task::transition;

async fn read(world: &World, tenant: TenantId) -> Overview {
    overview(&world.api, &TenantScope::of_role(tenant)).await.unwrap()
}

#[tokio::test]
async fn what_is_live_how_it_went_and_what_is_nearly_used_is_shown_of_a_tenant_alone() {
    let world = World::new().await;
    let [tenant, other] = [world.tenant().await, world.tenant().await];
    let none = read(&world, tenant).await;
    assert_eq!((none.states.len(), none.overdue, none.is_complete), (0, 0, true));
    assert_eq!((none.recent.tasks, none.recent.wait_ms), (0, None));

    world.store_ready(other, 3).await;
    let tasks = world.store_ready(tenant, 6).await;
    let later = NewTask { delay: Some(Duration::from_secs(3600)), ..new_task(tenant) };
    world.store(later).await;
    // Due two seconds ago; below, the start deadline of two that wait is over, as is that of one that runs.
    world.sql("update task set run_at = run_at - interval '2 seconds' where state = 'ready'").await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.place(owned, &world.dispatch(leader, &tasks[..4]).await).await;
    transition::completed(&world.rm, &[ended(leases[0], Event::Completed)]).await.unwrap();
    transition::completed(&world.rm, &[ended(leases[1], Event::Completed)]).await.unwrap();
    transition::attempts_exhausted(&world.rm, &[ended(leases[2], Event::AttemptsExhausted)])
        .await
        .unwrap();
    world
        .sql(format!(
            "update task set start_deadline = now() - interval '1 second' where state <> 'scheduled' and tenant_id = '{}'",
            tenant.uuid()
        ))
        .await;
    world
        .sql(format!(
            "insert into tenant_quota_level (tenant_id, quota, above)
                values ('{0}', 'backlog', true), ('{0}', 'schedules', false), ('{1}', 'signals', true)",
            tenant.uuid(),
            other.uuid()
        ))
        .await;

    let shown = read(&world, tenant).await;
    let states = [(State::Ready, 2), (State::Running, 1), (State::Scheduled, 1)];
    assert_eq!(shown.states, states);
    assert_eq!((shown.overdue, shown.is_complete), (2, true));
    let recent = &shown.recent;
    assert_eq!((recent.tasks, recent.succeeded, recent.failed), (3, 2, 1));
    assert_eq!((recent.started, recent.on_time), (3, 3));
    let [p50, p95, p99] = recent.wait_ms.unwrap();
    assert!((2000..60_000).contains(&p50) && p50 <= p95 && p95 <= p99, "{recent:?}");
    assert_eq!(shown.nearly_used, [Quota::Backlog]);
}

#[tokio::test]
async fn of_many_live_tasks_a_bounded_number_is_counted() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let most = usize::try_from(MOST_LIVE).unwrap();
    for count in [most / 2, most / 2, 1] {
        world.store_ready(tenant, count).await;
    }
    let shown = read(&world, tenant).await;
    assert_eq!(shown.states, [(State::Ready, u64::from(MOST_LIVE))]);
    assert!(!shown.is_complete);
}
