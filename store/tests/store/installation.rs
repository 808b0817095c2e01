//! A database that was restored elsewhere: noticed, and its schedules are held until an operator lets them go.

use crate::support::{World, config};
use domain::audit::{By, PLATFORM};
use domain::id::{DeliveryId, NodeId, WebhookName};
use domain::webhook::SigningSecret;
use std::cell::Cell;
use std::time::Duration;
use store::connect::NotifierDb;
use store::installation::{alive, held, overdue, resume};
use store::migrate::{How, run as migrate};
use store::{StoreError, TenantScope, shard, webhook};

/// How many of the first shards a scheduler gets.
async fn taken(world: &World) -> usize {
    let node = NodeId::fresh();
    shard::beat(&world.scheduler, node, Duration::from_secs(60)).await.unwrap();
    let taken = shard::take(&world.scheduler, node, &[0, 1, 2]).await.unwrap().len();
    shard::leave(&world.scheduler, node).await.unwrap();
    taken
}

/// A tenant has a webhook whose cursor is of a cluster with far higher numbers, and a test of it that was not sent.
async fn has_webhook(world: &World) {
    let (tenant, name) = (world.tenant().await, "one".parse::<WebhookName>().unwrap());
    let spec = serde_json::json!({"url": "https://a.example/", "events": [], "name": null, "labels": {}, "schedule": null,
        "workflow": null, "headers": {}, "payload": null, "ordered": false, "paused": false});
    let (spec, scope) = (serde_json::from_value(spec).unwrap(), TenantScope::of_role(tenant));
    let secret = webhook::Secret::Fresh(SigningSecret::of([1; 32]));
    webhook::put(&world.api, &scope, (&name, None), &spec, &secret).await.unwrap();
    let test = (DeliveryId::fresh(), "berth.webhook.test");
    webhook::test(&world.api, &scope, &name, test, "{}").await.unwrap().unwrap();
    world.sql("update webhook set txid = 1000000000000").await;
}

/// An event of each tenant.
async fn happens(world: &World) {
    let sql = "insert into task_event (tenant_id, kind, detail) select id, 'quota_nearly_used', '{\"quota\": \"backlog\"}' from tenant";
    world.sql(sql).await;
}

/// Deliveries that a notifier stores now, and those that it claims.
async fn fanned_out_and_claimed(world: &World) -> (u64, usize) {
    let db = NotifierDb::connect(&config(&world.database)).unwrap();
    let render = |event: webhook::Event<'_>| {
        let content = event.record.content();
        let (event_type, subject) = (content.event_type, content.subject);
        Some(webhook::NewDelivery { event_type, subject, body: "{}".to_owned() })
    };
    let stored = webhook::fan_out(&db, render).await.unwrap().deliveries;
    let lease = Duration::from_secs(60);
    let claimed = webhook::claim(&db, &webhook::Full::default(), lease, |_| 9).await.unwrap();
    (stored, claimed.len())
}

#[tokio::test]
async fn a_database_in_another_place_fires_nothing_until_an_operator_lets_it() {
    let world = World::new().await;
    let config = config(&world.database);
    for _ in 0..2 {
        assert_eq!(migrate(&config, How::default()).await.unwrap().held, None);
    }
    assert_eq!(taken(&world).await, 3);
    has_webhook(&world).await;
    // As a dump has it that was restored here, before anybody has migrated it.
    world.sql("update installation set place = '1/2/3'").await;
    assert_eq!(taken(&world).await, 0);
    assert_eq!(fanned_out_and_claimed(&world).await, (0, 0));
    let noticed = migrate(&config, How::default()).await.unwrap().held;
    assert_eq!(noticed.as_deref(), Some("restored from a dump or a copy"));
    assert_eq!(migrate(&config, How::default()).await.unwrap().held, noticed, "again");
    assert_eq!((taken(&world).await, held(&world.scheduler).await.unwrap()), (0, noticed));
    happens(&world).await;
    assert_eq!(fanned_out_and_claimed(&world).await, (0, 0));
    assert!(resume(&world.admin, By::SYSTEM).await.unwrap());
    assert!(!resume(&world.admin, By::SYSTEM).await.unwrap(), "nothing is held any more");
    assert_eq!((taken(&world).await, held(&world.scheduler).await.unwrap()), (3, None));
    // The test that waited in the dump, and what happened here; an open transaction in the cluster delays the second.
    let sum = Cell::new((0, 0));
    testkit::poll::until("both deliveries", Duration::from_secs(60), async || {
        let (deliveries, claimed) = fanned_out_and_claimed(&world).await;
        sum.set((sum.get().0 + deliveries, sum.get().1 + claimed));
        sum.get().1 == 2
    })
    .await
    .unwrap();
    assert_eq!(sum.get().0, 1);
    assert_eq!(world.number("select count(*) from event_consumer").await, 1, "that of the webhook");
    let told = format!(
        "select count(*) from audit where tenant_id = '{}' and action = 'installation.resume'",
        PLATFORM.uuid()
    );
    assert_eq!(world.number(told).await, 1);
}

#[tokio::test]
async fn what_cannot_be_counted_in_time_gives_its_connection_back() {
    let world = World::new().await;
    let limit = Duration::from_millis(50);
    assert_eq!(alive(&world.admin, limit * 100).await.unwrap(), Some(vec![]));
    let mut tx = world.owner.begin().await.unwrap();
    sqlx::raw_sql("lock table task, schedule").execute(&mut *tx).await.unwrap();
    assert_eq!(alive(&world.admin, limit).await.unwrap(), None);
    let late = overdue(&world.admin, 1, limit).await;
    assert!(matches!(late, Err(StoreError::Timeout)), "{late:?}");
    tx.rollback().await.unwrap();
    assert_eq!(overdue(&world.admin, 1, limit * 100).await.unwrap().total, 0);
}

#[tokio::test]
async fn what_nothing_shows_to_be_restored_is_held_when_an_operator_says_so() {
    let world = World::new().await;
    let config = config(&world.database);
    migrate(&config, How::default()).await.unwrap();
    let (node, term) = (NodeId::fresh(), Duration::from_secs(60));
    shard::beat(&world.scheduler, node, term).await.unwrap();
    assert_eq!(shard::take(&world.scheduler, node, &[0]).await.unwrap().len(), 1);
    let restored = How { restored: true, ..How::default() };
    assert!(migrate(&config, restored).await.unwrap().held.is_some());
    let beat = shard::beat(&world.scheduler, node, term).await.unwrap();
    assert!(beat.shards.iter().all(|shard| shard.owner.is_none()), "who fired fires no more");
    assert_eq!(shard::take(&world.scheduler, node, &[0]).await.unwrap().len(), 0);
}
