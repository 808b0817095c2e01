//! A database that was restored elsewhere: noticed, and its schedules are held until an operator lets them go.

use crate::support::{World, config};
use domain::audit::{By, PLATFORM};
use domain::id::NodeId;
use std::time::Duration;
use store::StoreError;
use store::installation::{alive, held, overdue, resume};
use store::migrate::{How, run as migrate};
use store::shard;

/// How many of the first shards a scheduler gets.
async fn taken(world: &World) -> usize {
    let node = NodeId::fresh();
    shard::beat(&world.scheduler, node, Duration::from_secs(60)).await.unwrap();
    let taken = shard::take(&world.scheduler, node, &[0, 1, 2]).await.unwrap().len();
    shard::leave(&world.scheduler, node).await.unwrap();
    taken
}

#[tokio::test]
async fn a_database_in_another_place_fires_nothing_until_an_operator_lets_it() {
    let world = World::new().await;
    let config = config(&world.database);
    for _ in 0..2 {
        assert_eq!(migrate(&config, How::default()).await.unwrap().held, None);
    }
    assert_eq!(taken(&world).await, 3);
    // As a dump has it that was restored here, before anybody has migrated it.
    world.sql("update installation set place = '1/2/3'").await;
    assert_eq!(taken(&world).await, 0);
    let noticed = migrate(&config, How::default()).await.unwrap().held;
    assert_eq!(noticed.as_deref(), Some("restored from a dump or a copy"));
    assert_eq!(migrate(&config, How::default()).await.unwrap().held, noticed, "again");
    assert_eq!((taken(&world).await, held(&world.scheduler).await.unwrap()), (0, noticed));
    assert!(resume(&world.admin, By::SYSTEM).await.unwrap());
    assert!(!resume(&world.admin, By::SYSTEM).await.unwrap(), "nothing is held any more");
    assert_eq!((taken(&world).await, held(&world.scheduler).await.unwrap()), (3, None));
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
