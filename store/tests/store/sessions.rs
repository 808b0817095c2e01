//! Executor sessions: one owner at a time, and no lease outlives its session.

use crate::support::{Leader, Owned, World, new_session};
use domain::audit::By;
use domain::epoch::Epoch;
use domain::id::{NodeId, PoolName, SessionId, TenantId};
use domain::resources::{Dimension, Resources};
use domain::task::{Delivery, State};
use std::sync::Arc;
use std::time::Duration;
use store::pool::{self, PoolChange, PoolStored};
use store::session::{
    ExecutorPosition, NewSession, Opened, Renewal, Renewed, end, lapse, list, open_or_adopt, prune,
    quarantine, renew,
};
use tokio::task::JoinSet;

const TERM: Duration = Duration::from_secs(30);

async fn adopt(world: &World, session: SessionId, node: NodeId) -> Opened {
    open_or_adopt(&world.rm, &new_session(session), node, TERM).await.unwrap()
}

async fn expire(world: &World, session: SessionId) {
    let id = session.uuid();
    world.sql(format!("update executor_session set expires_at = now() - interval '1 millisecond' where id = '{id}'")).await;
}

async fn renew_one(world: &World, owned: Owned, draining: bool) -> Renewed {
    let renewal = Renewal { session: owned.session, epoch: owned.epoch, draining };
    renew(&world.rm, owned.node, &[renewal], TERM).await.unwrap()[0]
}

/// Whether a new task can be placed on the session.
async fn places(world: &World, leader: Leader, owned: Owned, tenant: TenantId) -> bool {
    let tasks = world.store_ready(tenant, 1).await;
    !world.place(owned, &world.dispatch(leader, &tasks).await).await.is_empty()
}

#[tokio::test]
async fn adoption_raises_the_epoch_and_the_old_owner_can_do_nothing_more() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let old = world.open(NodeId::fresh()).await;
    assert!(places(&world, leader, old, tenant).await);
    let node = NodeId::fresh();
    let Opened::Owned { epoch, adopted: true } = adopt(&world, old.session, node).await else {
        panic!("not adopted")
    };
    assert_eq!(epoch, Epoch(old.epoch.0 + 1));
    let new = Owned { node, epoch, ..old };
    assert!(!places(&world, leader, old, tenant).await);
    assert_eq!(renew_one(&world, old, false).await, Renewed::Over);
    assert_eq!(end(&world.rm, old.node, old.session, old.epoch, "mine").await.unwrap(), None);
    assert!(places(&world, leader, new, tenant).await);
    assert_eq!(renew_one(&world, new, false).await, Renewed::Live);
    assert_eq!(
        store::lease::live(&world.rm, &[old.session]).await.unwrap().len(),
        2,
        "its leases live on"
    );
}

#[tokio::test]
async fn the_same_owner_adopting_again_has_a_new_epoch_too() {
    let world = World::new().await;
    let owned = world.open(NodeId::fresh()).await;
    let again = adopt(&world, owned.session, owned.node).await;
    assert_eq!(again, Opened::Owned { epoch: Epoch(owned.epoch.0 + 1), adopted: true });
    assert_eq!(
        renew_one(&world, owned, false).await,
        Renewed::Over,
        "an earlier stream of the same process"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_opened_by_many_at_once_is_owned_under_as_many_epochs() {
    let world = Arc::new(World::new().await);
    for _ in 0..10 {
        let session = SessionId::fresh();
        let mut owners = JoinSet::new();
        for _ in 0..6 {
            let world = Arc::clone(&world);
            owners.spawn(async move { adopt(&world, session, NodeId::fresh()).await });
        }
        let mut epochs: Vec<_> = owners
            .join_all()
            .await
            .into_iter()
            .map(|opened| match opened {
                Opened::Owned { epoch, .. } => epoch.0,
                other => panic!("a new session is {other:?}"),
            })
            .collect();
        epochs.sort_unstable();
        assert_eq!(epochs, [1, 2, 3, 4, 5, 6]);
    }
}

#[tokio::test]
async fn a_lapse_ends_the_leases_each_as_its_task_asked() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let (owned, other) = (world.open(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let running = world.put(leader, owned, tenant, State::Running).await;
    let cancelling = world.put(leader, owned, tenant, State::Cancelling).await;
    let elsewhere = world.put(leader, other, tenant, State::Running).await;
    let once = crate::support::new_task(tenant);
    let once =
        world.store(store::task::submit::NewTask { delivery: Delivery::AtMostOnce, ..once }).await;
    world.place(owned, &world.dispatch(leader, &[(tenant, once)]).await).await;
    expire(&world, owned.session).await;
    let lapsed = lapse(&world.rm, Duration::ZERO, 10).await.unwrap();
    assert_eq!((lapsed.sessions, lapsed.leases, lapsed.too_early), (vec![owned.session], 3, false));
    assert_eq!(world.state(running.task).await, Some(State::Retrying));
    assert_eq!(world.state(cancelling.task).await, Some(State::Cancelled));
    assert_eq!(world.state(once).await, Some(State::Failed));
    assert_eq!(world.state(elsewhere.task).await, Some(State::Running));
    assert_eq!(
        world.number("select count(*) from attempt where outcome = 'lost' and not charged").await,
        3
    );
    assert_eq!(adopt(&world, owned.session, NodeId::fresh()).await, Opened::Over);
    assert_eq!(renew_one(&world, owned, false).await, Renewed::Over);
    assert!(!places(&world, leader, owned, tenant).await);
    let again = lapse(&world.rm, Duration::ZERO, 10).await.unwrap();
    assert!(again.sessions.is_empty());
    world.check_promises(5).await;
}

#[tokio::test]
async fn a_session_is_adopted_by_its_own_executor_alone_and_with_what_it_has() {
    let world = World::new().await;
    let owned = world.open(NodeId::fresh()).await;
    world.sql("insert into pool (name) values ('other')").await;
    let own = new_session(owned.session);
    let mut more = own.capacity;
    more.cpu_millis += 1;
    for strange in [
        NewSession { executor: "another".parse().unwrap(), ..own.clone() },
        NewSession { pool: "other".parse().unwrap(), ..own.clone() },
        NewSession { capacity: more, ..own.clone() },
        NewSession { port_first: own.port_first + 1, ..own.clone() },
    ] {
        let opened = open_or_adopt(&world.rm, &strange, NodeId::fresh(), TERM).await.unwrap();
        assert_eq!(opened, Opened::Over, "{strange:?}");
    }
    assert_eq!(renew_one(&world, owned, false).await, Renewed::Live, "its owner still has it");
    let adopted = adopt(&world, owned.session, NodeId::fresh()).await;
    assert_eq!(adopted, Opened::Owned { epoch: Epoch(owned.epoch.0 + 1), adopted: true });
}

#[tokio::test]
async fn a_name_that_is_held_is_opened_by_who_held_it_before_and_by_all_once_the_term_is_over() {
    let world = World::new().await;
    let first = world.open(NodeId::fresh()).await;
    let executor = new_session(first.session).executor;
    let boot = |earlier: &[SessionId]| NewSession {
        executor: executor.clone(),
        earlier: earlier.to_vec(),
        ..new_session(SessionId::fresh())
    };
    let open = async |session: &NewSession| {
        open_or_adopt(&world.rm, session, NodeId::fresh(), TERM).await.unwrap()
    };
    let owned = Opened::Owned { epoch: Epoch(1), adopted: false };
    assert_eq!(open(&boot(&[])).await, Opened::NameTaken);
    assert_eq!(open(&boot(&[SessionId::fresh()])).await, Opened::NameTaken);
    let second = boot(&[first.session]);
    assert_eq!(open(&second).await, owned);
    assert_eq!(open(&boot(&[first.session])).await, Opened::NameTaken, "the second holds it, too");
    assert_eq!(open(&boot(&[second.id, first.session])).await, owned);
    world.sql("update executor_session set expires_at = now() - interval '1 millisecond'").await;
    assert_eq!(open(&boot(&[])).await, owned);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_come_with_one_name_at_once_one_is_let_in() {
    let world = Arc::new(World::new().await);
    let executor = new_session(SessionId::fresh()).executor;
    let mut boots = JoinSet::new();
    for _ in 0..6 {
        let (world, executor) = (Arc::clone(&world), executor.clone());
        boots.spawn(async move {
            let session = NewSession { executor, ..new_session(SessionId::fresh()) };
            open_or_adopt(&world.rm, &session, NodeId::fresh(), TERM).await.unwrap()
        });
    }
    let opened = boots.join_all().await;
    let taken = opened.iter().filter(|opened| **opened == Opened::NameTaken).count();
    assert_eq!((taken, opened.len()), (5, 6), "{opened:?}");
}

#[tokio::test]
async fn an_executor_is_held_to_its_pool_and_to_the_bounds_of_it() {
    let world = World::new().await;
    let session = new_session(SessionId::fresh());
    let open = async |session: &NewSession| {
        open_or_adopt(&world.rm, session, NodeId::fresh(), TERM).await.unwrap()
    };
    let nowhere = NewSession { pool: "nowhere".parse().unwrap(), ..session.clone() };
    assert_eq!(open(&nowhere).await, Opened::NoPool);
    let limit = async |dimension, most| {
        let change = PoolChange { max_executor: [(dimension, most)].into(), ..Default::default() };
        let set = pool::set(&world.admin, &PoolName::default(), change, By::SYSTEM).await.unwrap();
        assert!(matches!(set, PoolStored::Updated(_)), "{set:?}");
    };
    for (dimension, most) in Dimension::ALL.into_iter().zip([255_999, 524_287, 0, 1, 255]) {
        limit(dimension, Some(most)).await;
        assert_eq!(open(&session).await, Opened::TooLarge { dimension, most });
        limit(dimension, None).await;
    }
    assert_eq!(world.number("select count(*) from executor_session").await, 0);
    assert_eq!(open(&session).await, Opened::Owned { epoch: Epoch(1), adopted: false });
    // A bound that comes later does not tear an executor from its work.
    limit(Dimension::Iops, Some(1)).await;
    assert!(matches!(open(&session).await, Opened::Owned { adopted: true, .. }));
}

#[tokio::test]
async fn a_session_past_its_term_takes_nothing_even_before_it_is_lapsed() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let owned = world.open(NodeId::fresh()).await;
    expire(&world, owned.session).await;
    assert_eq!(renew_one(&world, owned, false).await, Renewed::Over);
    assert!(!places(&world, leader, owned, tenant).await);
    assert_eq!(adopt(&world, owned.session, NodeId::fresh()).await, Opened::Over);
}

#[tokio::test]
async fn nothing_lapses_within_a_term_of_the_databases_start() {
    let world = World::new().await;
    let owned = world.open(NodeId::fresh()).await;
    expire(&world, owned.session).await;
    let lapsed = lapse(&world.rm, Duration::from_secs(1_000_000_000), 10).await.unwrap();
    assert!(lapsed.too_early && lapsed.sessions.is_empty());
    assert_eq!(
        world.number("select count(*) from executor_session where state <> 'over'").await,
        1
    );
}

#[tokio::test]
async fn a_draining_session_takes_nothing_more_and_keeps_draining_when_adopted() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let owned = world.open(NodeId::fresh()).await;
    assert_eq!(renew_one(&world, owned, true).await, Renewed::Live);
    assert!(!places(&world, leader, owned, tenant).await);
    assert_eq!(
        renew_one(&world, owned, false).await,
        Renewed::Live,
        "a late heartbeat ends no drain"
    );
    assert!(!places(&world, leader, owned, tenant).await);
    let Opened::Owned { epoch, .. } = adopt(&world, owned.session, owned.node).await else {
        panic!("over")
    };
    assert!(!places(&world, leader, Owned { epoch, ..owned }, tenant).await);
}

#[tokio::test]
async fn an_end_lapses_what_is_left_and_says_how_much() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let owned = world.open(NodeId::fresh()).await;
    world.run(leader, owned, tenant, 3).await;
    let ended =
        async || end(&world.rm, owned.node, owned.session, owned.epoch, "drained").await.unwrap();
    assert_eq!(ended().await, Some(3));
    assert_eq!(ended().await, None);
    assert_eq!(world.number("select count(*) from task where state = 'retrying'").await, 3);
    world.check_promises(3).await;
}

#[tokio::test]
async fn heartbeats_are_answered_each_in_order() {
    let world = World::new().await;
    let node = NodeId::fresh();
    let (one, two, three) =
        (world.open(node).await, world.open(node).await, world.open(NodeId::fresh()).await);
    expire(&world, two.session).await;
    let beat = |owned: Owned, epoch| Renewal {
        session: owned.session,
        epoch: Epoch(epoch),
        draining: false,
    };
    let beats = [
        beat(three, 1),
        beat(two, 1),
        beat(one, 1),
        beat(one, 2),
        beat(Owned { session: SessionId::fresh(), ..one }, 1),
    ];
    let answers = renew(&world.rm, node, &beats, TERM).await.unwrap();
    use Renewed::{Live, Over};
    assert_eq!(answers, [Over, Over, Live, Over, Over]);
}

#[tokio::test]
async fn live_leases_and_stops_are_listed_under_their_session() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let (owned, other) = (world.open(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let running = world.put(leader, owned, tenant, State::Running).await;
    let cancelling = world.put(leader, owned, tenant, State::Cancelling).await;
    world.put(leader, other, tenant, State::Cancelling).await;
    let live = store::lease::live(&world.rm, &[owned.session]).await.unwrap();
    let keys: Vec<_> = live.iter().map(|lease| (lease.key, lease.cancelling)).collect();
    assert_eq!(keys.len(), 2);
    assert!(keys.contains(&(running.lease, false)) && keys.contains(&(cancelling.lease, true)));
    assert_eq!(live[0].resources, domain::resources::Tier::Basic.resources());
    assert_eq!(store::lease::stops(&world.rm, &[owned.session]).await.unwrap(), [cancelling.lease]);
    assert_eq!(
        store::lease::stops(&world.rm, &[owned.session, other.session]).await.unwrap().len(),
        2
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_adopter_reads_is_all_there_is() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let mut placed = 0;
    for _ in 0..30 {
        let owned = world.open(NodeId::fresh()).await;
        let mut claims = JoinSet::new();
        for _ in 0..3 {
            let tasks = world.store_ready(tenant, 10).await;
            let dispatches = world.dispatch(leader, &tasks).await;
            let world = Arc::clone(&world);
            claims.spawn(async move {
                let mut leases = Vec::new();
                for some in dispatches.chunks(2) {
                    leases.extend(world.place(owned, some).await);
                }
                leases
            });
        }
        let adopter = NodeId::fresh();
        assert!(matches!(adopt(&world, owned.session, adopter).await, Opened::Owned { .. }));
        let mut read: Vec<_> = store::lease::live(&world.rm, &[owned.session])
            .await
            .unwrap()
            .into_iter()
            .map(|lease| lease.key)
            .collect();
        let mut granted: Vec<_> = claims.join_all().await.into_iter().flatten().collect();
        read.sort();
        granted.sort();
        assert_eq!(read, granted);
        placed += granted.len();
    }
    assert!(placed > 0, "some claims came before the adoption");
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_while_reapers_lapse_leave_no_lease_under_a_session_that_is_over() {
    let world = Arc::new(World::new().await);
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let mut submitted = 0;
    for _ in 0..15 {
        let owned = world.open(NodeId::fresh()).await;
        let mut all = JoinSet::new();
        for _ in 0..3 {
            let tasks = world.store_ready(tenant, 12).await;
            submitted += tasks.len();
            let dispatches = world.dispatch(leader, &tasks).await;
            let world = Arc::clone(&world);
            all.spawn(async move {
                for some in dispatches.chunks(3) {
                    world.place(owned, some).await;
                }
                0
            });
        }
        for reaper in 0..3 {
            let world = Arc::clone(&world);
            all.spawn(async move {
                if reaper == 0 {
                    expire(&world, owned.session).await;
                }
                let mut ended = 0;
                for _ in 0..10 {
                    ended += lapse(&world.rm, Duration::ZERO, 10).await.unwrap().sessions.len();
                }
                ended
            });
        }
        let ended: usize = all.join_all().await.into_iter().sum();
        assert!(ended <= 1, "one reaper ends a session");
        lapse(&world.rm, Duration::ZERO, 10).await.unwrap();
        world.check_promises(submitted).await;
        assert_eq!(world.number("select count(*) from task where session_id is not null").await, 0);
    }
}

#[tokio::test]
async fn a_session_is_deleted_once_no_attempt_of_its_time_is_kept() {
    let world = World::new().await;
    let node = NodeId::fresh();
    let (live, recent, old) =
        (world.open(node).await, world.open(node).await, world.open(node).await);
    for owned in [recent, old] {
        end(&world.rm, node, owned.session, owned.epoch, "left").await.unwrap();
    }
    world
        .sql(format!(
            "update executor_session set started_at = now() - interval '32 days',
                ended_at = now() - interval '31 days 1 hour' where id = '{}'",
            old.session.uuid()
        ))
        .await;
    let left = async || world.number("select count(*) from executor_session").await;
    assert_eq!(prune(&world.scheduler, 31, 10).await.unwrap(), 0);
    assert_eq!(prune(&world.scheduler, 30, 10).await.unwrap(), 1);
    assert_eq!(left().await, 2);
    let kept = world
        .number(format!(
            "select count(*) from executor_session where id in ('{}', '{}')",
            live.session.uuid(),
            recent.session.uuid()
        ))
        .await;
    assert_eq!(kept, 2);
}

#[tokio::test]
async fn operators_see_who_is_connected_with_what_is_granted_page_by_page() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let busy = world.open(NodeId::fresh()).await;
    let idle = world.open(NodeId::fresh()).await;
    let gone = world.open(NodeId::fresh()).await;
    expire(&world, gone.session).await;
    assert!(places(&world, leader, busy, tenant).await);
    let held = format!(
        "update executor_session set quarantined_at = now() where id = '{}'",
        idle.session.uuid()
    );
    world.sql(held).await;
    let pool = PoolName::default();
    let all = list(&world.admin, Some(&pool), None, 10).await.unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    let of = |owned: Owned| all.iter().find(|one| one.session == owned.session).unwrap();
    let basic = domain::resources::Tier::Basic.resources();
    assert_eq!((of(busy).running, of(busy).granted), (1, basic));
    assert!(of(busy).quarantined_at.is_none() && of(idle).quarantined_at.is_some());
    assert_eq!((of(idle).running, of(idle).granted), (0, Resources::default()));
    assert!(of(idle).capacity.cpu_millis > 0 && !of(idle).draining);

    let first = list(&world.admin, None, None, 1).await.unwrap();
    let (executor, started_at) = (first[0].executor.clone(), first[0].started_at);
    let after = ExecutorPosition { executor, started_at };
    let rest = list(&world.admin, None, Some(&after), 10).await.unwrap();
    assert_eq!([&first[..], &rest].concat(), all);
    let none: PoolName = "none".parse().unwrap();
    assert_eq!(list(&world.admin, Some(&none), None, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_quarantine_is_noted_and_cleared_by_the_owner_of_the_session_alone() {
    let world = World::new().await;
    let owned = world.open(NodeId::fresh()).await;
    let since = async || {
        let id = owned.session.uuid();
        let sql = format!("select quarantined_at::text from executor_session where id = '{id}'");
        world.text(sql).await
    };
    let note = async |owner, held| {
        quarantine(&world.rm, owner, &[(owned.session, held)]).await.unwrap();
        since().await
    };
    let another = NodeId::fresh();
    assert_eq!(note(another, true).await, None);
    let noted = note(owned.node, true).await;
    assert!(noted.is_some());
    assert_eq!(note(owned.node, true).await, noted, "since its begin");
    assert_eq!(note(another, false).await, noted);
    assert_eq!(note(owned.node, false).await, None);
}
