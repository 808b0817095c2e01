//! Where few tasks wait, one walk shows them as a look that sees everything does, and where all of them may go it marks them.

use crate::malformed::unguard;
use crate::support::{Leader, World, new_task};
use domain::id::{NodeId, PoolName, TaskId, TenantId};
use domain::placement::Shapes;
use domain::resources::{Resources, Tier};
use domain::task::State;
use std::collections::BTreeMap;
use std::time::Duration;
use store::TenantScope;
use store::leadership::LeaderEpoch;
use store::task::submit::NewTask;
use store::task::transition::{self, Few, all_dispatched};
use store::task::{Look, Seen, candidates};
use testkit::poll::until;

fn pool() -> PoolName {
    "default".parse().unwrap()
}

/// What a look with room for everything sees.
async fn look(world: &World, largest: Resources, lacks: &Shapes) -> Seen {
    let look = Look {
        after: None,
        of_tenant: 100,
        strands: 1000,
        named: &[],
        named_strands: 1,
        rows: 1_000_000,
        per_strand: 1000,
        fewer: &[],
        largest,
        lacks,
    };
    candidates(&world.scheduler, &pool(), look).await.unwrap()
}

/// Nobody's.
fn no_leader() -> Leader {
    Leader { node: NodeId::fresh(), epoch: LeaderEpoch(1) }
}

/// What is read in a walk where nothing may go.
pub const fn to_look_at(most: u64, largest: Resources, lacks: &Shapes) -> Few<'_> {
    Few { most, slots: 0, free: &[], each: u64::MAX, largest, lacks }
}

/// What a walk shows and marks.
pub async fn walk(
    world: &World,
    leader: Leader,
    few: Few<'_>,
) -> Option<(Seen, BTreeMap<TaskId, i32>)> {
    let by = (leader.node, leader.epoch);
    let term = Duration::from_secs(5);
    let read = all_dispatched(&world.scheduler, by, &pool(), few, term).await.unwrap();
    read.map(|(seen, marked)| {
        (seen, marked.into_iter().map(|row| (row.task, row.dispatch_epoch)).collect())
    })
}

/// Both show the same; gives how many tasks in how many strands.
async fn alike(world: &World, largest: Resources, lacks: &Shapes) -> (usize, usize) {
    let all = look(world, largest, lacks).await;
    let (walk, marked) = walk(world, no_leader(), to_look_at(1000, largest, lacks)).await.unwrap();
    assert!(marked.is_empty());
    assert_eq!(walk.strands, all.strands);
    assert_eq!((walk.next, walk.partly.len()), (all.next, all.partly.len()));
    assert!(walk.now >= all.now);
    (walk.strands.iter().map(|strand| strand.rows.len()).sum(), walk.strands.len())
}

fn any_size() -> Resources {
    Resources::from_dimensions([u32::MAX; 5])
}

async fn give_strands(world: &World, tenant: TenantId) {
    world
        .sql(format!(
            "update task t set strand = n.n % 3, priority = n.n % 2, flexible = n.n % 2 = 1
                from (select id, row_number() over (order by id) n from task where tenant_id = '{}') n where t.id = n.id",
            tenant.uuid()
        ))
        .await;
}

#[tokio::test]
async fn a_walk_shows_what_a_look_that_sees_everything_shows() {
    let world = World::new().await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (0, 0));
    let [one, two, keyed] = [world.tenant().await, world.tenant().await, world.tenant().await];
    for tenant in [one, two, keyed] {
        world.store_ready(tenant, 12).await;
        give_strands(&world, tenant).await;
    }
    let key = "k1".parse().unwrap();
    store::concurrency::put(&world.api, &TenantScope::new(keyed), &key, 9).await.unwrap();
    let of_keyed = format!("tenant_id = '{}' and strand = 1; ", keyed.uuid());
    world
        .sql(format!(
            "update task set concurrency_key = 'k1' where {of_keyed}
            update task set start_deadline = now() - interval '1 second' where strand = 2 and priority = 0;
            update task set expire_if_late = true where strand = 2 and flexible;
            update task set prepaid = true where strand = 0"
        ))
        .await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (36, 9));

    // What is about to expire is left out, unless it has run before.
    world.sql("update task set expire_if_late = true where strand = 2 and priority = 0").await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (30, 9));
    world.sql("update task set first_started_at = now() where strand = 2").await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (36, 9));

    // Of a size for which there is no room a strand is told, and no task of it.
    let premium = Tier::Premium.resources();
    let large = NewTask { tier: None, resources: premium, ..new_task(one) };
    let large = world.store(large).await;
    world.sql(format!("update task set strand = 7 where id = '{}'", large.0)).await;
    assert_eq!(alike(&world, any_size(), &Shapes::default()).await, (37, 10));
    assert_eq!(alike(&world, Tier::Basic.resources(), &Shapes::default()).await, (36, 10));
    assert_eq!(alike(&world, any_size(), &[premium].into_iter().collect()).await, (36, 10));
    let none = [Resources::default()].into_iter().collect();
    assert_eq!(alike(&world, any_size(), &none).await, (0, 10));
}

#[tokio::test]
async fn what_is_elsewhere_or_not_ready_is_not_shown_and_more_than_asked_for_is_told() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for state in
        [State::Scheduled, State::Queued, State::Running, State::Cancelling, State::Retrying]
    {
        world.put(leader, owned, tenant, state).await;
    }
    store::pool::list(&world.submit).await.unwrap();
    world.sql("insert into pool (name) values ('gpu')").await;
    world.store(NewTask { pool: "gpu".parse().unwrap(), ..new_task(tenant) }).await;
    world.store_ready(tenant, 5).await;
    let lacks = Shapes::default();
    let free = [tenant];
    let few = |most| Few { slots: 5, free: &free, ..to_look_at(most, any_size(), &lacks) };
    let shown = async |most| {
        let (seen, marked) = walk(&world, leader, few(most)).await?;
        Some((seen.strands.iter().map(|strand| strand.rows.len()).sum::<usize>(), marked.len()))
    };
    assert_eq!(
        [shown(4).await, shown(5).await, shown(5).await],
        [None, Some((5, 5)), Some((0, 0))]
    );
    let ready = "select count(*) from task where state = 'ready'";
    assert_eq!(world.number(ready).await, 1, "that of the other pool");
}

/// Two tenants with six tasks each, of 12 slots in all.
async fn two_of_six(world: &World) -> ([TenantId; 2], Vec<(TenantId, TaskId)>) {
    let tenants = [world.tenant().await, world.tenant().await];
    let mut tasks = world.store_ready(tenants[0], 6).await;
    tasks.extend(world.store_ready(tenants[1], 6).await);
    (tenants, tasks)
}

#[tokio::test]
async fn where_all_may_go_all_of_it_goes_with_its_next_dispatch() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let (tenants, tasks) = two_of_six(&world).await;
    for tenant in tenants {
        give_strands(&world, tenant).await;
    }
    world
        .sql("update task set flexible = false, prepaid = strand = 0, dispatch_epoch = strand")
        .await;
    let lacks = Shapes::default();
    let before = look(&world, any_size(), &lacks).await;
    let few = Few { slots: 12, free: &tenants, each: 12, ..to_look_at(12, any_size(), &lacks) };
    let (seen, marked) = walk(&world, leader, few).await.unwrap();
    assert_eq!(seen.strands, before.strands, "as it was before it went");
    assert_eq!(marked.len(), tasks.len());
    let queued = "select count(*) from task where state = 'queued' and prepaid and dispatch_epoch = strand + 1
        and wake_at between now() + interval '3 seconds' and now() + interval '5 seconds'";
    assert_eq!(world.number(queued).await, 12);
    for strand in &seen.strands {
        for row in &strand.rows {
            assert_eq!(i64::from(marked[&row.task]), strand.strand.0 + 1);
        }
    }
    let dispatches: Vec<_> = tasks.iter().map(|(t, task)| (*t, *task, marked[task])).collect();
    let owned = world.open(NodeId::fresh()).await;
    assert_eq!(world.place(owned, &dispatches).await.len(), 12, "their hints name these");
}

#[tokio::test]
async fn where_something_may_have_to_wait_nothing_goes() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let (tenants, tasks) = two_of_six(&world).await;
    let large = Tier::Premium.resources();
    let (none, some) = (Shapes::default(), [large].into_iter().collect());
    let all = Few { slots: 12, free: &tenants, ..to_look_at(12, any_size(), &none) };
    let goes = async |leader, few| walk(&world, leader, few).await.map(|(_, marked)| marked.len());

    let small = Resources { cpu_millis: Tier::Basic.resources().cpu_millis - 1, ..any_size() };
    let another = Leader { node: NodeId::fresh(), ..leader };
    let earlier = Leader { epoch: LeaderEpoch(leader.epoch.0 - 1), ..leader };
    for (why, leader, few) in [
        ("less room", leader, Few { slots: 11, ..all }),
        ("a tenant near its limit", leader, Few { free: &tenants[..1], ..all }),
        ("more than each may run", leader, Few { each: 11, ..all }),
        ("no executor so large", leader, Few { largest: small, ..all }),
        ("something finds no room", leader, Few { lacks: &some, ..all }),
        ("another leads", another, all),
        ("another epoch", earlier, all),
    ] {
        assert_eq!(goes(leader, few).await, Some(0), "{why}");
    }
    assert_eq!(goes(leader, Few { most: 11, ..all }).await, None);

    unguard(&world, "task").await;
    let one = tasks[7].1.uuid();
    for (change, back) in [
        (
            "start_deadline = now() - interval '1 second'",
            "start_deadline = now() + interval '1 hour'",
        ),
        ("flexible = true", "flexible = false"),
        ("concurrency_key = 'k'", "concurrency_key = null"),
        ("slots = 2", "slots = 1"),
        ("cpu_millis = null", "cpu_millis = 100"),
        ("flexible = null", "flexible = false"),
    ] {
        world.sql(format!("update task set {change} where id = '{one}'")).await;
        assert_eq!(goes(leader, all).await, Some(0), "{change}");
        world.sql(format!("update task set {back} where id = '{one}'")).await;
    }
    assert_eq!(world.number("select count(*) from task where state = 'ready'").await, 12);
    // What cannot be worked with stays, as it does where each is picked.
    world.sql(format!("update task set cap_ms = 0 where id = '{one}'")).await;
    assert_eq!(goes(leader, all).await, Some(11));
    assert_eq!(world.state(tasks[7].1).await, Some(State::Ready));
}

#[tokio::test]
async fn what_is_cancelled_while_it_is_read_does_not_go() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let (tenants, tasks) = two_of_six(&world).await;
    let cancelled = tasks[3].1;
    let mut other = world.owner.begin().await.unwrap();
    let cancel = format!("delete from task where id = '{}'", cancelled.uuid());
    sqlx::raw_sql(sqlx::AssertSqlSafe(cancel)).execute(&mut *other).await.unwrap();
    let lacks = Shapes::default();
    let few = Few { slots: 12, free: &tenants, ..to_look_at(12, any_size(), &lacks) };
    let waits = async || {
        // Other tests have databases of their own beside this one.
        let waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        world.number(waiting).await > 0
    };
    let (read, ()) = tokio::join!(walk(&world, leader, few), async {
        until("the walk to wait for that row", Duration::from_secs(10), waits).await.unwrap();
        other.commit().await.unwrap();
    });
    let (seen, marked) = read.unwrap();
    let shown = seen.strands.iter().flat_map(|strand| &strand.rows);
    assert_eq!((shown.count(), marked.len()), (12, 11));
    assert!(!marked.contains_key(&cancelled));
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_others_each_task_goes_once_and_nobody_locks_out_anybody() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let tenant = world.tenant().await;
    for round in 0..10 {
        let tasks = world.store_ready(tenant, 60).await;
        let (lacks, free) = (Shapes::default(), [tenant]);
        let few = Few { slots: 100, free: &free, ..to_look_at(100, any_size(), &lacks) };
        let scope = TenantScope::new(tenant);
        let ids: Vec<_> = tasks.iter().rev().skip(20).map(|task| task.1).collect();
        let (one, two, marked, _) = tokio::join!(
            walk(&world, leader, few),
            walk(&world, leader, few),
            world.dispatch(leader, &tasks[10..50]),
            transition::cancel_requested(&world.api, &scope, &ids, Duration::from_secs(9)),
        );
        let mut gone: Vec<TaskId> = marked.into_iter().map(|row| row.1).collect();
        for (_, marked) in [one.unwrap(), two.unwrap()] {
            gone.extend(marked.into_keys());
        }
        let all = gone.len();
        gone.sort_unstable();
        gone.dedup();
        assert_eq!(gone.len(), all, "round {round}: each once");
        let twice = world.number("select count(*) from task where dispatch_epoch > 1").await;
        assert_eq!(twice, 0);
        world.sql("delete from task").await;
    }
    assert_eq!(world.deadlocks().await, 0, "every statement locks in the same order");
}
