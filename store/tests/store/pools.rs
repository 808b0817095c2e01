//! Pools: paused with a reason, and resumed; granted; and what becomes of tasks in a pool that is gone.

use crate::support::{World, log_in, new_task, refused};
use domain::id::{NodeId, PlanName, PoolName};
use domain::pool::PoolGrants;
use domain::task::State;
use store::audit::By;
use store::pool::{self, DispatchPool, PoolChange, PoolStored};
use store::task::submit::NewTask;
use store::task::transition;

fn default_pool() -> PoolName {
    PoolName::default()
}

#[tokio::test]
async fn a_paused_pool_says_since_when_and_why_until_it_is_resumed() {
    let world = World::new().await;
    let (admin, name) = (&world.admin, default_pool());
    let paused = async || {
        let pools = pool::list_for_dispatch(&world.scheduler).await.unwrap();
        assert_eq!(pools, [DispatchPool { name: default_pool(), paused: pools[0].paused }]);
        pools[0].paused
    };
    assert!(!paused().await);
    let first = pool::pause(admin, &name, "a new kernel", By::SYSTEM).await.unwrap().unwrap();
    let since = first.pause.clone().unwrap();
    assert_eq!(since.because, "a new kernel");
    assert!(paused().await);
    let again = pool::pause(admin, &name, "a new kernel", By::SYSTEM).await.unwrap();
    assert_eq!(again.as_ref(), Some(&first));
    let other = pool::pause(admin, &name, "and a new disk", By::SYSTEM).await.unwrap().unwrap();
    let other = other.pause.unwrap();
    assert_eq!((other.at, other.because.as_str()), (since.at, "and a new disk"));
    let change = PoolChange { command_network: Some(true), ..PoolChange::default() };
    let PoolStored::Updated(set) = pool::set(admin, &name, change, By::SYSTEM).await.unwrap()
    else {
        panic!("it was there, and otherwise")
    };
    assert_eq!(set.pause.as_ref(), Some(&other), "what it allows is another thing");
    assert_eq!(pool::list_for_operator(admin).await.unwrap(), [set]);
    for _ in 0..2 {
        let resumed = pool::resume(admin, &name, By::SYSTEM).await.unwrap().unwrap();
        assert_eq!(resumed.pause, None);
        assert!(!paused().await);
    }
    let told = "select string_agg(action || ' ' || coalesce(before ->> 'paused_because', '-') || ' ' ||
            coalesce(after ->> 'paused_because', '-'), ', ' order by id) from audit where action <> 'pool.set' and target_kind = 'pool'";
    assert_eq!(
        world.text(told).await.unwrap(),
        "pool.pause - a new kernel, pool.pause a new kernel and a new disk, pool.resume and a new disk -",
        "what changed nothing is not told"
    );
}

#[tokio::test]
async fn what_is_no_pool_is_not_paused_and_a_reason_has_its_bound() {
    let world = World::new().await;
    let none: PoolName = "none".parse().unwrap();
    assert_eq!(pool::pause(&world.admin, &none, "why", By::SYSTEM).await.unwrap(), None);
    assert_eq!(pool::resume(&world.admin, &none, By::SYSTEM).await.unwrap(), None);
    let long = "x".repeat(501);
    let error = pool::pause(&world.admin, &default_pool(), &long, By::SYSTEM).await.unwrap_err();
    assert_eq!(error.sqlstate().as_deref(), Some("23514"));
    for role in ["berth_api", "berth_submit", "berth_scheduler", "berth_rm", "berth_notifier"] {
        let pool = log_in(&world, role).await;
        let sql = "update pool set paused_at = now()";
        assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}");
    }
}

#[tokio::test]
async fn a_pool_is_granted_and_revoked_piece_by_piece_and_whoever_fires_or_submits_sees_the_same() {
    let world = World::new().await;
    let (admin, name): (_, PoolName) = (&world.admin, "inner".parse().unwrap());
    let (tenant, plan): (_, PlanName) = (world.tenant().await, "free".parse().unwrap());
    let of_plan = || PoolGrants { plans: [plan.clone()].into(), ..PoolGrants::default() };
    let of_tenant = || PoolGrants { tenants: [tenant].into(), ..PoolGrants::default() };
    let set = async |change: PoolChange| {
        let stored = pool::set(admin, &name, change, By::SYSTEM).await.unwrap();
        let (PoolStored::Created(pool) | PoolStored::Updated(pool) | PoolStored::Unchanged(pool)) =
            stored
        else {
            panic!("{stored:?}")
        };
        let submits = pool::list(&world.submit).await.unwrap();
        let seen = submits.iter().find(|pool| pool.name == name).unwrap();
        assert_eq!(seen.grants, pool.settings.grants);
        let fires = pool::list_for_fires(&world.scheduler).await.unwrap();
        assert_eq!(fires[&name], pool.settings.grants);
        assert_eq!(pool::find(admin, &name).await.unwrap().as_ref(), Some(&pool));
        (pool.version, pool.settings.grants)
    };
    assert_eq!(set(PoolChange::default()).await, (1, PoolGrants::default()), "for nobody");
    let grant = PoolChange { grant: of_plan(), ..PoolChange::default() };
    assert_eq!(set(grant).await, (2, of_plan()));
    let more = PoolChange { grant: of_tenant(), ..PoolChange::default() };
    let both = PoolGrants { tenants: [tenant].into(), ..of_plan() };
    assert_eq!(set(more.clone()).await, (3, both.clone()));
    assert_eq!(set(more).await, (3, both), "it was so");
    let less = PoolChange { revoke: of_plan(), everyone: Some(true), ..PoolChange::default() };
    assert_eq!(set(less).await, (4, PoolGrants { everyone: true, ..of_tenant() }));
    // A plan that goes takes its grant along.
    let again = PoolChange { grant: of_plan(), everyone: Some(false), ..PoolChange::default() };
    set(again).await;
    let deleted = store::plan::delete(admin, &plan, None, By::SYSTEM).await.unwrap();
    assert_eq!(deleted, store::plan::Deleted::Yes);
    assert_eq!(pool::find(admin, &name).await.unwrap().unwrap().settings.grants, of_tenant());
    let unknown = PoolChange { grant: of_plan(), ..PoolChange::default() };
    let stored = pool::set(admin, &name, unknown, By::SYSTEM).await.unwrap();
    assert_eq!(stored, PoolStored::Unknown { plans: vec![plan], tenants: Vec::new() });
}

#[tokio::test]
async fn a_waiting_task_of_a_deleted_pool_is_cancelled_and_no_other() {
    let world = World::new().await;
    let (tenant, leader) = (world.tenant().await, world.lead(NodeId::fresh()).await);
    let store = async |pool: &str| {
        world.store(NewTask { pool: pool.parse().unwrap(), ..new_task(tenant) }).await
    };
    // Pools before and after the one that exists.
    let gone = [store("a-gone").await, store("a-gone").await, store("z-gone").await];
    let kept = [store("default").await, store("default").await];
    world.dispatch(leader, &[(tenant, gone[0]), (tenant, kept[0])]).await;
    let raise = async |limit| transition::pool_deleted(&world.scheduler, limit).await.unwrap();
    assert_eq!((raise(2).await, raise(2).await), (2, 1), "a bounded piece");
    assert_eq!(raise(2).await, 0, "again changes nothing");
    for task in gone {
        assert_eq!(world.state(task).await, Some(State::Cancelled));
    }
    let reasons = "select string_agg(distinct reason, ', ') from task_history";
    assert_eq!(world.text(reasons).await.as_deref(), Some("its pool was deleted"));
    let states = [world.state(kept[0]).await, world.state(kept[1]).await];
    assert_eq!(states, [Some(State::Queued), Some(State::Ready)]);
}
