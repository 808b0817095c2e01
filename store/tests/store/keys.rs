//! What is kept of keys that ended, and for how long.

use crate::support::{World, new_key};
use domain::id::TenantId;
use std::time::Duration;
use store::TenantScope;
use store::audit::By;
use store::idempotency::Once;
use store::key::{self, NewSecret, Rotated, Rotation};

async fn make(world: &World, tenant: TenantId, id: &str) {
    key::create(&world.admin, new_key(id, tenant), By::SYSTEM).await.unwrap();
}

async fn left(world: &World) -> String {
    world.text("select string_agg(left(id, 1), '' order by id) from api_key").await.unwrap()
}

#[tokio::test]
async fn ended_keys_are_purged_a_few_at_a_time_and_no_others() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    for (first, ended) in [
        ('a', "revoked_at = now() - interval '61 seconds'"),
        ('b', "revoked_at = now() - interval '62 seconds'"),
        ('c', "revoked_at = now() - interval '63 seconds', expires_at = now() + interval '1 day'"),
        ('d', "revoked_at = now() - interval '55 seconds'"),
        ('e', "expires_at = now() - interval '31 days'"),
        ('f', "expires_at = now() - interval '29 days'"),
        ('g', "expires_at = now() + interval '1 day'"),
        ('h', "last_used_at = now() - interval '400 days'"),
    ] {
        let id = first.to_string().repeat(12);
        make(&world, tenant, &id).await;
        world.sql(format!("update api_key set {ended} where id = '{id}'")).await;
    }
    let purge = async || key::purge(&world.scheduler, 30, 2).await.unwrap();
    assert_eq!(purge().await, 3, "two that were revoked, one that expired");
    assert_eq!(left(&world).await, "adfgh", "the longest ended go first");
    assert_eq!([purge().await, purge().await], [1, 0]);
    assert_eq!(left(&world).await, "dfgh");
}

#[tokio::test]
async fn a_key_whose_successor_was_purged_is_not_replaced_again() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let scope = TenantScope::of_role(tenant);
    let (old, new) = ("a".repeat(12), "b".repeat(12));
    make(&world, tenant, &old).await;
    let rotate = async |id: &str| {
        let hour = Duration::from_secs(3600);
        let new = NewSecret { id: id.to_owned(), hash: vec![0; 32] };
        let rotation = Rotation { key_id: &old, of: None, by: None, overlap: hour, new };
        key::rotate(&world.api, &scope, rotation, None, |_, _| Vec::new()).await.unwrap()
    };
    assert!(matches!(rotate(&new).await, Once::Done(Rotated::Done { .. })));
    key::revoke(&world.api, &scope, None, &new).await.unwrap().unwrap();
    world.sql("update api_key set revoked_at = revoked_at - interval '2 minutes'").await;
    assert_eq!(key::purge(&world.scheduler, 30, 10).await.unwrap(), 1);
    let kept = key::get(&world.api, &scope, None, &old).await.unwrap().unwrap();
    assert_eq!(kept.replaced_by.as_deref(), Some(new.as_str()));
    assert!(matches!(rotate(&"c".repeat(12)).await, Once::Done(Rotated::Already)));
}
