//! Pools: paused with a reason, and resumed.

use crate::support::{World, log_in, refused};
use domain::id::PoolName;
use store::audit::By;
use store::pool::{self, DispatchPool};

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
    let set = pool::set(admin, &name, Some(true), None, By::SYSTEM).await.unwrap();
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
    for role in ["berth_api", "berth_submit", "berth_scheduler", "berth_rm"] {
        let pool = log_in(&world, role).await;
        let sql = "update pool set paused_at = now()";
        assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}");
    }
}
