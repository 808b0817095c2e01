//! Events that compete for the same rows: one wins each row, the others are told so, and nothing is lost or doubled.

use crate::support::{Prize, Told, World, race};
use domain::id::{NodeId, TenantId};
use domain::task::{Event, State};
use std::sync::Arc;

const ROUNDS: u64 = 12;
const TASKS: usize = 60;

async fn prize(world: &World, tenant: TenantId, state: State) -> Prize {
    let leader = world.lead(NodeId::from(TenantNode(tenant))).await;
    let owned = world.open(NodeId::fresh()).await;
    let tasks = world.store_ready(tenant, TASKS).await;
    let mut prize =
        Prize { tenant, leader, owned, tasks, dispatches: Vec::new(), leases: Vec::new() };
    if state == State::Ready {
        // All are late, so that each may expire.
        world
            .sql("update task set expire_if_late = true, start_deadline = now() - interval '1 second' where state = 'ready'")
            .await;
    } else {
        prize.dispatches = world.dispatch(leader, &prize.tasks).await;
    }
    if state == State::Running {
        prize.leases = world.place(owned, &prize.dispatches).await;
        assert_eq!(prize.leases.len(), TASKS);
    }
    prize
}

/// One batcher for all rounds of a test: the tenant's id serves as its name.
struct TenantNode(TenantId);

impl From<TenantNode> for NodeId {
    fn from(TenantNode(tenant): TenantNode) -> Self {
        Self(tenant.uuid())
    }
}

/// Rounds of `events` against each other over tasks in `state`; after each, `check` sees who was told what.
async fn rounds(state: State, events: &[Event], mut check: impl AsyncFnMut(&World, &Prize, &Told)) {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let mut submitted = 0;
    for round in 1..=ROUNDS {
        let prize = prize(&world, tenant, state).await;
        let told = race(&world, &prize, events, 3, round).await;
        submitted += TASKS;
        world.check_promises(submitted).await;
        check(&world, &prize, &told).await;
    }
    assert_eq!(world.deadlocks().await, 0, "every statement locks in the same order");
}

fn count(told: &Told, prize: &Prize, at: usize, events: &[Event]) -> usize {
    let all = told.get(&prize.tasks[at].1).map_or(&[][..], Vec::as_slice);
    all.iter().filter(|event| events.contains(event)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_ends_once_whoever_ends_it() {
    use Event::{CancelRequested, Completed, LeaseLapsed, Stopped};
    let events = [
        Completed,
        Completed,
        LeaseLapsed,
        LeaseLapsed,
        LeaseLapsed,
        CancelRequested,
        CancelRequested,
        Stopped,
        Stopped,
    ];
    rounds(State::Running, &events, async |world, prize, told| {
        for at in 0..TASKS {
            let ends = count(told, prize, at, &[Completed, LeaseLapsed, Stopped]);
            assert!(ends <= 1, "{:?}", told.get(&prize.tasks[at].1));
            let ended = world.number(format!(
                "select count(*) from attempt where task_id = '{}'",
                prize.tasks[at].1.uuid()
            ));
            assert_eq!(
                ended.await,
                i64::try_from(ends).unwrap(),
                "who was told it ended the lease did"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_settlers_and_a_retry_settle_once() {
    use Event::{AttemptFailed, AttemptsExhausted, Completed, HandedBack};
    let events =
        [Completed, Completed, AttemptsExhausted, AttemptFailed, AttemptFailed, HandedBack];
    rounds(State::Running, &events, async |world, prize, told| {
        for at in 0..TASKS {
            assert!(count(told, prize, at, &events) <= 1, "{:?}", told.get(&prize.tasks[at].1));
        }
        // Each round has a session of its own.
        let session = prize.owned.session.uuid();
        let settled =
            world.number(format!("select count(*) from attempt where session_id = '{session}'"));
        let told: usize = (0..TASKS).map(|at| count(told, prize, at, &events)).sum();
        assert_eq!(
            settled.await,
            i64::try_from(told).unwrap(),
            "who was told it settled an attempt did"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatch_leads_to_one_placement_or_none() {
    use Event::{CancelRequested, DispatchStale, Placed, Unplaced};
    let events = [Placed, Placed, Placed, CancelRequested, DispatchStale, Unplaced];
    rounds(State::Queued, &events, async |world, prize, told| {
        for at in 0..TASKS {
            assert!(count(told, prize, at, &[Placed]) <= 1, "{:?}", told.get(&prize.tasks[at].1));
        }
        let leases = store::lease::live(&world.rm, &[prize.owned.session]).await.unwrap();
        let placed = (0..TASKS).filter(|at| count(told, prize, *at, &[Placed]) == 1).count();
        assert_eq!(leases.len(), placed, "who was told it placed has the lease");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ready_task_is_dispatched_cancelled_or_expired() {
    use Event::{CancelRequested, Dispatched, Expired};
    let events = [Dispatched, Dispatched, CancelRequested, CancelRequested, Expired, Expired];
    rounds(State::Ready, &events, async |world, prize, told| {
        for at in 0..TASKS {
            assert!(
                count(told, prize, at, &[Dispatched]) <= 1,
                "{:?}",
                told.get(&prize.tasks[at].1)
            );
            let state = world.state(prize.tasks[at].1).await;
            let cancelled = count(told, prize, at, &[CancelRequested]) == 1;
            assert_eq!(state == Some(State::Cancelled), cancelled, "{state:?}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_task_is_placed_cancelled_marked_or_recalled() {
    use Event::{CancelRequested, Dispatched, MarkedSucceeded, Placed, Recalled};
    let events = [Placed, Placed, Dispatched, Recalled, Recalled, MarkedSucceeded, CancelRequested];
    rounds(State::Queued, &events, async |world, prize, told| {
        for at in 0..TASKS {
            let all = told.get(&prize.tasks[at].1);
            assert!(count(told, prize, at, &[Placed]) <= 1, "{all:?}");
            let marked = count(told, prize, at, &[MarkedSucceeded]);
            assert!(marked <= 1, "{all:?}");
            assert!(marked + count(told, prize, at, &[Placed]) <= 1, "{all:?}");
            let state = world.state(prize.tasks[at].1).await;
            assert_eq!(state == Some(State::Succeeded), marked == 1, "{state:?} {all:?}");
        }
        let leases = store::lease::live(&world.rm, &[prize.owned.session]).await.unwrap();
        let placed = (0..TASKS).filter(|at| count(told, prize, *at, &[Placed]) == 1).count();
        assert_eq!(leases.len(), placed, "who was told it placed has the lease");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_retried_is_due_once_whoever_lets_it_go() {
    use Event::{AttemptFailed, Due, MarkedSucceeded, RunNow};
    let events = [AttemptFailed, RunNow, RunNow, RunNow, Due, Due, MarkedSucceeded];
    rounds(State::Running, &events, async |world, prize, told| {
        for at in 0..TASKS {
            let all = told.get(&prize.tasks[at].1);
            let failed = count(told, prize, at, &[AttemptFailed]);
            assert!(count(told, prize, at, &[RunNow]) <= failed, "{all:?}");
            let state = world.state(prize.tasks[at].1).await;
            let marked = count(told, prize, at, &[MarkedSucceeded]);
            assert_eq!(state == Some(State::Succeeded), marked == 1, "{state:?} {all:?}");
            assert!(failed == 1 || state == Some(State::Running), "{state:?} {all:?}");
        }
    })
    .await;
}
