//! One batcher at a time, and a higher number with every change.

use crate::support::{Leader, World, config};
use domain::epoch::Epoch;
use domain::id::NodeId;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::connect::SchedulerDb;
use store::leadership::{acquire, release};
use store::task::transition::dispatched;
use testkit::poll::until;
use tokio::task::JoinSet;

const TERM: Duration = Duration::from_secs(30);

#[tokio::test]
async fn the_holder_keeps_its_epoch_and_nobody_else_gets_in() {
    let world = World::new().await;
    let (one, other) = (NodeId::fresh(), NodeId::fresh());
    let first = acquire(&world.scheduler, one, TERM).await.unwrap();
    assert!(first.is_some());
    assert_eq!(acquire(&world.scheduler, other, TERM).await.unwrap(), None);
    assert_eq!(
        acquire(&world.scheduler, one, TERM).await.unwrap(),
        first,
        "renewing keeps the epoch"
    );
    release(&world.scheduler, other).await.unwrap();
    assert_eq!(
        acquire(&world.scheduler, other, TERM).await.unwrap(),
        None,
        "nobody gives up what another holds"
    );
}

#[tokio::test]
async fn a_release_hands_over_at_once_under_a_higher_epoch() {
    let world = World::new().await;
    let (one, other) = (NodeId::fresh(), NodeId::fresh());
    let first = acquire(&world.scheduler, one, TERM).await.unwrap().unwrap();
    release(&world.scheduler, one).await.unwrap();
    let second = acquire(&world.scheduler, other, TERM).await.unwrap().unwrap();
    assert!(second > first);
    release(&world.scheduler, other).await.unwrap();
    let third = acquire(&world.scheduler, other, TERM).await.unwrap().unwrap();
    assert!(third > second, "also for the same node: what it did before is over");
}

#[tokio::test]
async fn an_expired_term_is_taken_over_and_the_old_holder_marks_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = world.store_ready(tenant, 3).await;
    let old = world.lead(NodeId::fresh()).await;
    world.sql("update leadership set expires_at = now() - interval '1 millisecond'").await;
    let marked = async |leader: Leader| {
        dispatched(&world.scheduler, leader.node, leader.epoch, &tasks, TERM)
            .await
            .unwrap()
            .map(|rows| rows.len())
    };
    assert_eq!(
        marked(old).await,
        None,
        "an expired term marks nothing, even when nobody took over"
    );
    let new = world.lead(NodeId::fresh()).await;
    assert!(new.epoch > old.epoch);
    assert_eq!(marked(old).await, None);
    assert_eq!(marked(new).await, Some(3));
    assert_eq!(marked(new).await, Some(0), "a leader with nothing to mark is told so");
}

#[tokio::test]
async fn the_old_holder_that_comes_back_gets_a_new_epoch() {
    let world = World::new().await;
    let node = NodeId::fresh();
    let first = acquire(&world.scheduler, node, TERM).await.unwrap().unwrap();
    world.sql("update leadership set expires_at = now() - interval '1 millisecond'").await;
    let second = acquire(&world.scheduler, node, TERM).await.unwrap().unwrap();
    assert!(second > first, "somebody else may have led in between, for all it knows");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_reach_for_it_one_gets_it_each_time() {
    let world = Arc::new(World::new().await);
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let mut rivals = JoinSet::new();
        for _ in 0..8 {
            let world = Arc::clone(&world);
            rivals.spawn(async move {
                let node = NodeId::fresh();
                acquire(&world.scheduler, node, TERM).await.unwrap().map(|epoch| (node, epoch))
            });
        }
        let got: Vec<(NodeId, Epoch)> = rivals.join_all().await.into_iter().flatten().collect();
        assert_eq!(got.len(), 1);
        assert!(seen.insert(got[0].1), "no epoch is given twice");
        release(&world.scheduler, got[0].0).await.unwrap();
    }
}

#[tokio::test]
async fn whoever_holds_it_and_has_died_is_followed_at_once_and_marks_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = world.store_ready(tenant, 1).await;
    let config = config(&world.database);
    let dying = SchedulerDb::connect(&config).unwrap();
    let (one, other) = (NodeId::fresh(), NodeId::fresh());
    let first = acquire(&dying, one, TERM).await.unwrap().unwrap();
    assert_eq!(acquire(&world.scheduler, other, TERM).await.unwrap(), None, "it lives");
    dying.close().await;
    let gone = "select count(*) from leadership l where not exists (
        select from pg_stat_activity a where a.pid = l.backend and a.backend_start = l.backend_start)";
    let gone = async || world.number(gone).await == 1;
    until("its connection to be gone", Duration::from_secs(5), gone).await.unwrap();
    let second = acquire(&world.scheduler, other, TERM).await.unwrap().unwrap();
    assert!(second > first);
    let marked = dispatched(&world.scheduler, one, first, &tasks, TERM).await.unwrap();
    assert!(marked.is_none(), "its term would have lasted, and another leads");
}
