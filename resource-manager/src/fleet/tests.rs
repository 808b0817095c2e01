//! What the fleet keeps of executors and their leases.

use super::{Fleet, Grant, Placement, Stream};
use crate::testing::{FakeExecutor, FakeTask, World, connect, disconnect};
use bus::Hint;
use domain::epoch::Epoch;
use domain::id::PoolName;
use domain::quarantine::Ending;
use domain::resources::{Resources, Tier};
use domain::task::{Dispatch, LeaseKey, StoredRun};
use protocol::Assignment;
use std::collections::HashSet;
use store::task::transition::Placed;

const PREMIUM: Resources = Tier::Premium.resources();
/// The largest `run`, bytes.
const RUN: usize = 256 * 1024;

fn pool() -> PoolName {
    "default".parse().unwrap()
}

fn place(fleet: &Fleet, hints: &[Hint]) -> Vec<Placement> {
    fleet.place(&pool(), hints)
}

/// As the database grants it.
fn granted(placement: &Placement) -> Placed {
    let (hint, task) = (placement.hint, FakeTask::queued());
    let Dispatch { tenant, task: id, .. } = hint.dispatch;
    let lease = LeaseKey { tenant, task: id, attempt: 1, session: placement.session };
    Placed {
        lease,
        assignment: placement.assignment,
        run: task.run,
        retry: None,
        cap: std::time::Duration::from_secs(60),
        failures: 0,
        max_attempts: 3,
        at_most_once: false,
        traceparent: None,
        due_at: None,
        schedule_name: None,
        waited_ms: 0,
    }
}

/// Places these and holds them; the leases.
fn hold(fleet: &Fleet, hints: &[Hint]) -> Vec<LeaseKey> {
    let placements = place(fleet, hints);
    let grant = |placement| Grant { placement, placed: granted(&placement) };
    let grants: Vec<_> = placements.into_iter().map(grant).collect();
    let leases = grants.iter().map(|grant| grant.placed.lease).collect();
    let unsent = fleet.assign(grants);
    assert!(unsent.broken.is_empty() && unsent.leases.is_empty());
    leases
}

#[test]
fn the_largest_is_placed_first_and_what_is_left_goes_to_the_small() {
    let world = World::new();
    let _executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let sizes = [Tier::Basic, Tier::Premium, Tier::Basic];
    let hints = sizes.map(|tier| world.store.add(FakeTask::of(tier)));
    let placed: Vec<usize> = place(&world.fleet, &hints).iter().map(|p| p.index).collect();
    assert_eq!(placed, [1], "it fills the executor");
}

#[test]
fn room_is_the_capacity_less_what_is_held_and_what_is_on_its_way() {
    let world = World::new();
    let _executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let hints = [(); 3].map(|()| world.store.add(FakeTask::queued()));
    let leases = hold(&world.fleet, &hints[..2]);
    let on_its_way = place(&world.fleet, &hints[2..]);
    let free = |world: &World| world.fleet.loads()[0].free_slots;
    assert_eq!(free(&world), 1);
    world.fleet.give_back(&on_its_way);
    assert_eq!(free(&world), 2);
    world.fleet.release(leases.iter().map(|lease| (*lease, Ending::Ran)));
    assert_eq!(free(&world), 4);
    // Once only, however often it is said.
    world.fleet.release(leases.iter().map(|lease| (*lease, Ending::Ran)));
    assert_eq!((free(&world), world.fleet.loads()[0].completed_slots), (4, 2));
}

#[test]
fn ports_of_two_leases_never_overlap() {
    let world = World::new();
    let _executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let hints = [(); 4].map(|()| world.store.add(FakeTask::queued()));
    let mut ports: Vec<u32> = place(&world.fleet, &hints).iter().map(|p| p.port_first).collect();
    ports.sort_unstable();
    assert_eq!(ports, [20_000, 20_001, 20_002, 20_003]);
}

#[test]
fn what_an_executor_does_not_list_is_gone_unless_it_is_ending_or_on_its_way() {
    let world = World::new();
    let executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let hints = [(); 4].map(|()| world.store.add(FakeTask::queued()));
    let leases = hold(&world.fleet, &hints);
    let (session, listed) = (executor.stream.session, HashSet::from([leases[0]]));
    world.fleet.begin_ending(leases[1]).unwrap();
    // It has received three: the fourth is on its way.
    let gone = world.fleet.unlisted(session, 3, &listed);
    assert_eq!(gone.iter().map(|released| released.key).collect::<Vec<_>>(), [leases[2]]);
    assert!(world.fleet.unlisted(session, 3, &listed).is_empty(), "it is being ended");
    world.fleet.keep(leases[2]);
    assert_eq!(
        world.fleet.unlisted(session, 3, &listed).len(),
        1,
        "that failed, and is tried again"
    );
}

#[test]
fn an_executor_stays_connected_when_an_older_stream_of_it_ends() {
    let world = World::new();
    let executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let newer = Stream { id: executor.stream.id + 1_000, ..executor.stream.clone() };
    connect(&world.fleet, &newer, Epoch(2), executor.identity(), PREMIUM);
    assert!(!disconnect(&world.fleet, &executor.stream));
    assert!(world.fleet.knows(&newer));
    assert!(disconnect(&world.fleet, &newer));
}

#[test]
fn a_new_session_of_an_executor_ends_placement_on_the_one_before() {
    let world = World::new();
    let before = FakeExecutor::connect(&world, "one", PREMIUM);
    let now = FakeExecutor::connect(&world, "one", PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    let placed = place(&world.fleet, &[hint]);
    assert_eq!(placed[0].session, now.stream.session);
    assert_ne!(placed[0].session, before.stream.session);
    assert_eq!(world.fleet.loads()[0].free_slots, 3);
}

#[test]
fn an_executor_that_drains_gets_nothing_and_keeps_what_it_has() {
    let world = World::new();
    let executor = FakeExecutor::connect(&world, "one", PREMIUM);
    let hints = [(); 2].map(|()| world.store.add(FakeTask::queued()));
    hold(&world.fleet, &hints[..1]);
    world.fleet.drain(executor.stream.session);
    assert!(place(&world.fleet, &hints[1..]).is_empty());
    assert!(!world.fleet.has_room(&pool()));
    assert_eq!(world.fleet.busy(), [executor.stream.session]);
}

#[test]
fn a_bad_name_outlives_the_session() {
    let world = World::new();
    let executor = FakeExecutor::connect(&world, "one", PREMIUM);
    for _ in 0..world.config.resource_manager.quarantine_after {
        let leases = hold(&world.fleet, &[world.store.add(FakeTask::queued())]);
        world.fleet.release(leases.into_iter().map(|lease| (lease, Ending::CameBack)));
    }
    assert!(!world.fleet.has_room(&pool()));
    assert!(disconnect(&world.fleet, &executor.stream));
    let again = FakeExecutor::connect(&world, "one", PREMIUM);
    assert_eq!(world.fleet.quarantined(), HashSet::from([again.stream.session]));
    let _other = FakeExecutor::connect(&world, "two", PREMIUM);
    assert!(world.fleet.has_room(&pool()), "others are as they were");
}

#[test]
fn messages_stay_within_half_of_the_limit_however_large_the_tasks_are() {
    let world = World::new();
    let capacity = Resources::from_dimensions(PREMIUM.dimensions().map(|of| of * 16));
    let mut executor = FakeExecutor::connect(&world, "one", capacity);
    let hints: Vec<Hint> = (0..40).map(|_| world.store.add(FakeTask::queued())).collect();
    let run = || StoredRun::Unread("x".repeat(RUN));
    let grants = place(&world.fleet, &hints)
        .into_iter()
        .map(|placement| Grant { placement, placed: Placed { run: run(), ..granted(&placement) } });
    world.fleet.assign(grants.collect());
    let (mut messages, mut tasks) = (0, 0);
    while let Some(protocol::to_executor::Message::Assignments(sent)) = executor.message() {
        let bytes: usize = sent.assignments.iter().map(Assignment::bytes).sum();
        assert!(bytes <= protocol::MAX_MESSAGE_BYTES / 2, "{bytes}");
        let numbers: Vec<u64> = sent.assignments.iter().map(|a| a.number).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        (messages, tasks) = (messages + 1, tasks + sent.assignments.len());
    }
    assert!(messages > 1);
    assert_eq!(tasks, 40);
}
