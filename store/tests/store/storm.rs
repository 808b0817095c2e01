//! Many clients, every event, overlapping sets of 200: no error reaches a caller and no row is lost.

use crate::support::{Prize, World, race};
use domain::id::NodeId;
use domain::task::Event;
use std::sync::Arc;

const CLIENTS: usize = 64;

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_on_overlapping_sets_of_200_see_no_error() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let owned = world.open(NodeId::fresh()).await;
    let tasks = world.store_ready(tenant, 300).await;
    let dispatches = world.dispatch(leader, &tasks).await;
    // A third of each: ready again, queued, running.
    let leases = world.place(owned, &dispatches[..100]).await;
    store::task::transition::dispatch_stale(&world.scheduler, &dispatches[200..]).await.unwrap();
    let prize = Prize { tenant, leader, owned, tasks, dispatches, leases };
    let mix = [
        Event::Completed,
        Event::CancelRequested,
        Event::AttemptFailed,
        Event::Placed,
        Event::LeaseLapsed,
        Event::Dispatched,
        Event::Unplaced,
        Event::Due,
        Event::Stopped,
        Event::HandedBack,
        Event::DispatchStale,
        Event::AttemptsExhausted,
        Event::RunNow,
        Event::MarkedSucceeded,
        Event::Recalled,
    ];
    let clients: Vec<_> = mix.iter().copied().cycle().take(CLIENTS).collect();
    let told = race(&world, &prize, &clients, 10, 7).await;
    assert!(!told.is_empty());
    world.check_promises(300).await;
    assert_eq!(world.deadlocks().await, 0, "every statement locks in the same order");
}
