//! A pool's worker over a store in memory: which hints become leases, which go back, and when.

use super::PoolWorker;
use crate::testing::{FakeExecutor, FakeStore, FakeTask, World, connect, disconnect, pass, quiet};
use bus::{Hint, HintBatch, Topic};
use domain::epoch::Epoch;
use domain::id::{NodeId, PoolName};
use domain::quarantine::Ending;
use domain::resources::{Resources, Tier};
use domain::task::{Dispatch, DriverSet, State};
use protocol::to_executor::Message;
use runtime::health::Health;
use runtime::trace::TraceContext;
use std::time::Duration;
use store::StoreError;

const BASIC: Resources = Tier::Basic.resources();
const PREMIUM: Resources = Tier::Premium.resources();

fn pool() -> PoolName {
    "default".parse().unwrap()
}

fn start(world: &World) {
    let worker = PoolWorker {
        pool: pool(),
        db: world.store.clone(),
        node: NodeId::fresh(),
        bus: world.bus.clone(),
        fleet: world.fleet.clone(),
        settings: world.config.resource_manager.clone(),
        prefetch: 20,
        health: Health::new(),
    };
    world.tasks.spawn_detached("worker", worker.run(world.shutdown.clone()));
}

/// A worker with one executor.
fn started(capacity: Resources) -> (World, FakeExecutor) {
    let world = World::new();
    let executor = FakeExecutor::connect(&world, "one", capacity);
    start(&world);
    (world, executor)
}

/// Publishes these in one message, and waits until the worker has done with it what it can do at once.
async fn publish(world: &World, hints: &[Hint]) {
    let batch = HintBatch { trace: TraceContext::generate(), hints: hints.to_vec() };
    world.bus.publish(&pool(), vec![batch]).await;
    quiet().await;
}

/// True where no message is left in the queue: all were acked, or are in hand.
fn is_queue_empty(world: &World) -> bool {
    world.bus.consume(&pool(), 1).try_next().is_none()
}

fn free_slots(world: &World) -> u64 {
    world.fleet.loads()[0].free_slots
}

/// Ends the lease that `hint`'s task has, as if it had run.
fn finish(world: &World, hint: &Hint) {
    let lease = world.store.task(hint).lease.unwrap();
    world.fleet.release(std::iter::once((lease, Ending::Ran)));
}

fn states<const N: usize>(store: &FakeStore, hints: &[Hint; N]) -> [State; N] {
    hints.each_ref().map(|hint| store.state(hint))
}

#[tokio::test(start_paused = true)]
async fn a_queued_task_gets_a_lease_and_is_sent_to_an_executor_with_room() {
    let (world, mut executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    publish(&world, &[hint]).await;
    assert_eq!(world.store.state(&hint), State::Running);
    assert_eq!(executor.assigned(), [hint.dispatch.task]);
    assert_eq!(free_slots(&world), 3, "an executor as large as four");
    world.stop.shut_down();
    quiet().await;
    assert!(is_queue_empty(&world), "the message was acked");
    assert_eq!(world.store.calls(), [("placed", 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_stale_hint_runs_nothing_and_keeps_no_room() {
    let (world, mut executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask { dispatch_epoch: Epoch(2), ..FakeTask::queued() });
    let dispatch = Dispatch { epoch: Epoch(1), ..hint.dispatch };
    publish(&world, &[Hint { dispatch, ..hint }]).await;
    assert_eq!(world.store.state(&hint), State::Queued, "as its newer dispatch left it");
    assert!(executor.assigned().is_empty());
    assert_eq!(free_slots(&world), 4);
    world.stop.shut_down();
    quiet().await;
    assert!(is_queue_empty(&world));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_came_in_two_messages_is_sent_once_and_takes_room_once() {
    let (world, mut executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    publish(&world, &[hint, hint]).await;
    assert_eq!(executor.assigned(), [hint.dispatch.task]);
    assert_eq!(free_slots(&world), 3);
    publish(&world, &[hint]).await;
    assert!(executor.assigned().is_empty());
    assert_eq!((free_slots(&world), world.store.task(&hint).attempt), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_room_is_held_for_a_moment_and_then_given_back() {
    let (world, mut executor) = started(PREMIUM);
    let hold = world.config.resource_manager.hint_hold;
    let small = world.store.add(FakeTask::queued());
    let large = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[small]).await;
    publish(&world, &[large]).await;
    pass(hold - Duration::from_millis(20)).await;
    assert_eq!(states(&world.store, &[small, large]), [State::Running, State::Queued]);
    let woken = world.bus.wakeups(&[Topic::Batcher]);
    pass(Duration::from_millis(40)).await;
    assert_eq!(world.store.state(&large), State::Ready, "it waits in the database");
    assert_eq!(woken.next().await, Topic::Batcher);
    // From now on others of its size are not held, until one fits.
    let second = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[second]).await;
    assert_eq!(world.store.state(&second), State::Ready);
    assert!(!world.fleet.loads()[0].lacks.is_empty(), "the batcher is to know");
    finish(&world, &small);
    assert!(world.fleet.loads()[0].lacks.is_empty());
    let third = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[third]).await;
    assert_eq!(executor.assigned(), [small.dispatch.task, third.dispatch.task]);
}

#[tokio::test(start_paused = true)]
async fn a_held_hint_gets_the_room_that_comes_free() {
    let (world, mut executor) = started(PREMIUM);
    let small = world.store.add(FakeTask::queued());
    let large = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[small]).await;
    publish(&world, &[large]).await;
    finish(&world, &small);
    quiet().await;
    assert_eq!(executor.assigned(), [small.dispatch.task, large.dispatch.task]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_no_executor_could_hold_is_given_back_at_once() {
    let (world, mut executor) = started(Tier::Regular.resources());
    let hint = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[hint]).await;
    assert_eq!(world.store.state(&hint), State::Ready);
    assert!(executor.assigned().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_only_to_an_executor_with_its_driver_and_back_at_once_where_there_is_none() {
    let world = World::new();
    let mut noops = FakeExecutor::with_drivers(&world, "one", PREMIUM, &["noop"]);
    start(&world);
    let [command, noop] =
        ["command", "noop"].map(|driver| world.store.add(FakeTask::driven_by(driver)));
    publish(&world, &[command, noop]).await;
    assert_eq!(states(&world.store, &[command, noop]), [State::Ready, State::Running]);
    assert_eq!(noops.assigned(), [noop.dispatch.task]);
    let load = &world.fleet.loads()[0];
    assert_eq!(load.drivers, DriverSet::of([noop.driver.unwrap()]));
    assert!(load.lacks.covers(command.driver, BASIC) && !load.lacks.covers(noop.driver, BASIC));
    // One that comes with the driver is given it, however idle the other is.
    let mut commands = FakeExecutor::with_drivers(&world, "two", BASIC, &["command"]);
    assert!(world.fleet.loads()[0].lacks.is_empty());
    let again = world.store.add(FakeTask::driven_by("command"));
    publish(&world, &[again]).await;
    assert_eq!((commands.assigned(), noops.assigned()), (vec![again.dispatch.task], vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_driver_whose_executors_are_full_holds_back_no_other() {
    let world = World::new();
    let mut noops = FakeExecutor::with_drivers(&world, "one", PREMIUM, &["noop"]);
    let mut commands = FakeExecutor::with_drivers(&world, "two", BASIC, &["command"]);
    start(&world);
    let [first, second] = [(); 2].map(|()| world.store.add(FakeTask::driven_by("command")));
    publish(&world, &[first, second]).await;
    let expected = [State::Running, State::Ready];
    assert_eq!(
        states(&world.store, &[first, second]),
        expected,
        "not held: room of others is left"
    );
    let lacks = world.fleet.loads()[0].lacks.clone();
    assert!(lacks.covers(second.driver, BASIC));
    let noop = world.store.add(FakeTask::driven_by("noop"));
    assert!(!lacks.covers(noop.driver, BASIC));
    publish(&world, &[noop]).await;
    assert_eq!(
        (noops.assigned(), commands.assigned()),
        (vec![noop.dispatch.task], vec![first.dispatch.task])
    );
    finish(&world, &first);
    assert!(world.fleet.loads()[0].lacks.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_does_not_name_its_drivers_is_tried_with_all() {
    let (world, mut executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::driven_by("command"));
    publish(&world, &[hint]).await;
    assert_eq!(executor.assigned(), [hint.dispatch.task]);
    assert_eq!(world.fleet.loads()[0].drivers, DriverSet::default());
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_leaves_its_hints_to_others_until_there_is_room() {
    let (world, mut executor) = started(BASIC);
    let [first, second] = [(); 2].map(|()| world.store.add(FakeTask::queued()));
    publish(&world, &[first]).await;
    pass(Duration::from_millis(100)).await;
    publish(&world, &[second]).await;
    assert_eq!(states(&world.store, &[first, second]), [State::Running, State::Queued]);
    assert!(!is_queue_empty(&world), "another resource manager can have it");
    finish(&world, &first);
    quiet().await;
    assert_eq!(executor.assigned(), [first.dispatch.task, second.dispatch.task]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_claim_returns_its_room_and_its_hints_and_is_tried_again() {
    let (world, mut executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    world.store.fail("placed", StoreError::Busy);
    publish(&world, &[hint]).await;
    assert_eq!((world.store.state(&hint), free_slots(&world)), (State::Queued, 4));
    assert!(executor.message().is_none(), "its executor has no part in it");
    pass(Duration::from_millis(200)).await;
    assert_eq!(executor.assigned(), [hint.dispatch.task]);
    assert_eq!(world.store.calls(), [("placed", 1), ("placed", 1)]);
}

/// The leases may have been granted: only the database knows, and it is read when the executors connect anew.
#[tokio::test(start_paused = true)]
async fn after_a_claim_of_which_nothing_is_known_its_executors_connect_anew() {
    let (world, mut executor) = started(PREMIUM);
    let mut other = FakeExecutor::connect(&world, "two", BASIC);
    world.store.fail("placed", StoreError::overtaken());
    let hint = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[hint]).await;
    assert!(matches!(executor.message(), Some(Message::GoAway(_))));
    assert!(other.message().is_none(), "nothing was placed there");
    assert!(!world.fleet.knows(&executor.stream) && world.fleet.knows(&other.stream));
}

#[tokio::test(start_paused = true)]
async fn a_lease_whose_executor_left_meanwhile_ends_as_not_started() {
    let (world, executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    let (fleet, stream) = (world.fleet.clone(), executor.stream.clone());
    world.store.meanwhile("placed", move || assert!(disconnect(&fleet, &stream)));
    let woken = world.bus.wakeups(&[Topic::Batcher]);
    publish(&world, &[hint]).await;
    assert_eq!(world.store.state(&hint), State::Ready);
    assert_eq!(world.store.calls(), [("placed", 1), ("not_started", 1)]);
    assert_eq!(woken.next().await, Topic::Batcher);
}

/// Its connection is of another epoch, made from the live leases: a placement of the old one has no room to give back there.
#[tokio::test(start_paused = true)]
async fn an_executor_that_was_adopted_meanwhile_keeps_its_room() {
    let (world, executor) = started(PREMIUM);
    let hint = world.store.add(FakeTask::queued());
    let (fleet, stream) = (world.fleet.clone(), executor.stream.clone());
    let store = world.store.clone();
    let owner = executor.identity();
    world.store.meanwhile("placed", move || {
        store.open(stream.session, Epoch(2), owner.clone());
        connect(&fleet, &stream, Epoch(2), owner, PREMIUM);
    });
    publish(&world, &[hint]).await;
    // Not granted under the old epoch, and dispatched again.
    assert_eq!((world.store.state(&hint), free_slots(&world)), (State::Ready, 4));
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_does_not_read_is_disconnected_and_loses_no_lease() {
    let world = World::new();
    let executor = FakeExecutor::with_outbox(&world, "deaf", PREMIUM, 1);
    start(&world);
    let [first, second] = [(); 2].map(|()| world.store.add(FakeTask::queued()));
    publish(&world, &[first]).await;
    assert!(world.fleet.knows(&executor.stream));
    publish(&world, &[second]).await;
    assert!(!world.fleet.knows(&executor.stream));
    // What it does not list when it connects anew is given back then.
    assert_eq!(states(&world.store, &[first, second]), [State::Running; 2]);
}

#[tokio::test(start_paused = true)]
async fn at_shutdown_what_is_in_hand_is_given_back() {
    let (world, _executor) = started(PREMIUM);
    let small = world.store.add(FakeTask::queued());
    let large = world.store.add(FakeTask::of(Tier::Premium));
    publish(&world, &[small, large]).await;
    assert_eq!(
        states(&world.store, &[small, large]),
        [State::Queued, State::Running],
        "the largest first"
    );
    world.stop.shut_down();
    quiet().await;
    assert_eq!(world.store.state(&small), State::Ready);
    assert!(is_queue_empty(&world), "its message was acked");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_given_back_is_left_to_the_sweep_and_the_loop_goes_on() {
    let (world, mut executor) = started(Tier::Regular.resources());
    world.store.fail("unplaced", StoreError::Busy);
    let large = world.store.add(FakeTask::of(Tier::Premium));
    let small = world.store.add(FakeTask::queued());
    publish(&world, &[large]).await;
    publish(&world, &[small]).await;
    assert_eq!(executor.assigned(), [small.dispatch.task]);
    assert_eq!(world.store.state(&large), State::Queued);
}

#[tokio::test(start_paused = true)]
async fn one_statement_claims_no_more_than_the_setting_says() {
    let world = World::with(|config| config.resource_manager.claim_batch = 10);
    let four = |n: u32| n * 16;
    let capacity = Resources::from_dimensions(PREMIUM.dimensions().map(four));
    let mut executor = FakeExecutor::connect(&world, "one", capacity);
    let hints: Vec<Hint> = (0..50).map(|_| world.store.add(FakeTask::queued())).collect();
    let batch = |hints: &[Hint]| HintBatch { trace: TraceContext::generate(), hints: hints.into() };
    world.bus.publish(&pool(), hints.chunks(5).map(batch).collect()).await;
    start(&world);
    quiet().await;
    assert_eq!(executor.assigned().len(), 50);
    let calls = world.store.calls();
    assert!(calls.iter().all(|(name, rows)| *name == "placed" && *rows <= 10), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn an_executor_that_gives_back_what_it_is_given_gets_one_probe() {
    // Hints outlive the quarantine.
    let world = World::with(|config| config.bus.hint_ttl = Duration::from_secs(60));
    let mut executor = FakeExecutor::connect(&world, "one", PREMIUM);
    start(&world);
    let after = world.config.resource_manager.quarantine_after;
    for _ in 0..after {
        let hint = world.store.add(FakeTask::queued());
        publish(&world, &[hint]).await;
        let lease = world.store.task(&hint).lease.unwrap();
        world.fleet.release(std::iter::once((lease, Ending::CameBack)));
    }
    assert_eq!(executor.assigned().len(), after as usize);
    quiet().await;
    let [first, second] = [(); 2].map(|()| world.store.add(FakeTask::queued()));
    publish(&world, &[first, second]).await;
    assert_eq!(states(&world.store, &[first, second]), [State::Queued; 2]);
    // Longer than the first quarantine: others may come and take the hints, so they are still in the queue.
    pass(world.config.resource_manager.quarantine_min + Duration::from_secs(1)).await;
    assert_eq!(executor.assigned().len(), 1, "the probe");
}
