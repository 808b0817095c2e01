//! Live api processes, and the hour's counts that outlive them.

use crate::support::World;
use domain::id::{NodeId, TenantId};
use domain::rate::Hour;
use store::TenantScope;
use store::rate::{HourlyUse, checkpoint, prune, read};
use store::replica;

#[tokio::test]
async fn processes_that_were_seen_lately_are_counted() {
    let world = World::new().await;
    let (a, b) = (NodeId::fresh(), NodeId::fresh());
    assert_eq!(replica::beat(&world.submit, a).await.unwrap(), 1);
    assert_eq!(replica::beat(&world.submit, b).await.unwrap(), 2);
    assert_eq!(replica::beat(&world.submit, a).await.unwrap(), 2);
    world.sql("update api_replica set seen_at = now() - interval '16 seconds'").await;
    assert_eq!(replica::beat(&world.submit, a).await.unwrap(), 1);
    assert_eq!(replica::beat(&world.submit, b).await.unwrap(), 2);
    replica::leave(&world.submit, b).await.unwrap();
    assert_eq!(replica::beat(&world.submit, a).await.unwrap(), 1);
    world.sql("update api_replica set seen_at = now() - interval '2 hours'").await;
    assert_eq!(replica::prune(&world.submit).await.unwrap(), 1);
    assert_eq!(world.number("select count(*) from api_replica").await, 0);
}

#[tokio::test]
async fn an_hours_count_only_rises_and_ends_with_its_hour() {
    let world = World::new().await;
    let tenants = [world.tenant().await, world.tenant().await];
    let now = Hour::of(runtime::clock::wall());
    let used = |tenant: TenantId, hour: Hour, used: u64| HourlyUse { tenant, hour, used };
    let write = |uses: Vec<HourlyUse>| {
        let db = world.submit.clone();
        async move { checkpoint(&db, &uses).await.unwrap() }
    };
    let old = Hour(now.0 - 3);
    write(vec![used(tenants[1], now, 7), used(tenants[0], now, 5), used(tenants[0], old, 90)])
        .await;
    write(vec![used(tenants[0], now, 3), used(tenants[1], now, 9)]).await;
    // One that is gone keeps nobody else's from being written.
    write(vec![used(TenantId::fresh(), now, 1), used(tenants[1], now, 10)]).await;
    let of = |tenant: TenantId, hour: Hour| {
        let db = world.submit.clone();
        async move { read(&db, &TenantScope::of_role(tenant), hour).await.unwrap() }
    };
    assert_eq!((of(tenants[0], now).await, of(tenants[1], now).await), (5, 10));
    assert_eq!((of(tenants[0], old).await, of(tenants[1], old).await), (90, 0));
    assert_eq!(prune(&world.submit, 100).await.unwrap(), 1);
    assert_eq!((of(tenants[0], now).await, of(tenants[0], old).await), (5, 0));
}
