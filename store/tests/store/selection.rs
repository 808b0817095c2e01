//! What the batcher and the scheduler see: candidates, load, and what time has come for.

use crate::support::{World, new_task};
use domain::batch::{ConcurrencyKey, Conditions, Strand};
use domain::epoch::Epoch;
use domain::id::{NodeId, PoolName, TaskId, TenantId};
use domain::placement::Lacks;
use domain::resources::{Resources, Tier};
use domain::task::{DriverSet, Run, State, TaskSpec};
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;
use store::TenantScope;
use store::audit::By;
use store::load::{self, LoadOfPool, PoolReport};
use store::pool::DispatchPool;
use store::task::submit::NewTask;
use store::task::{
    ReadyTask, Selection, SelectionQuery, due_for_a_look, select_ready, stale_hints, transition,
};
use store::tenant::{Created, NewTenant};

fn pool() -> PoolName {
    "default".parse().unwrap()
}

fn any_size() -> Resources {
    Resources::from_dimensions([u32::MAX; 5])
}

/// Of drivers nothing is known.
static ALL: LazyLock<DriverSet> = LazyLock::new(DriverSet::default);

fn of_each(rows_per_strand: u64, lacks: &Lacks) -> SelectionQuery<'_> {
    SelectionQuery {
        after: None,
        strands_per_tenant: 4,
        scanned_strands: 100,
        requested: &[],
        requested_strands: 100,
        rows: 4096,
        rows_per_strand,
        tenant_limits: &[],
        largest: any_size(),
        lacks,
        drivers: &ALL,
    }
}

fn rows(seen: &Selection) -> impl Iterator<Item = (TenantId, &ReadyTask)> {
    seen.strands.iter().flat_map(|strand| strand.tasks.iter().map(|row| (strand.tenant, row)))
}

fn rows_of(seen: &Selection) -> Vec<TaskId> {
    rows(seen).map(|(_, row)| row.task).collect()
}

#[tokio::test]
async fn each_tenant_shows_its_most_urgent_tasks_and_no_more_than_asked() {
    let world = World::new().await;
    let mut expected = Vec::new();
    for _ in 0..7 {
        let tenant = world.tenant().await;
        let mut urgent: Vec<(u64, TaskId)> = Vec::new();
        // Of one strand: about the same tolerance.
        for tolerance in [55, 35, 50, 45, 40] {
            let delay_tolerance = Duration::from_secs(tolerance);
            urgent.push((
                tolerance,
                world.store(NewTask { delay_tolerance, ..new_task(tenant) }).await,
            ));
        }
        urgent.sort_unstable();
        expected.extend(urgent[..3].iter().map(|(_, task)| (tenant, *task)));
    }
    expected.sort_by_key(|(tenant, _)| *tenant);
    let found =
        select_ready(&world.scheduler, &pool(), of_each(3, &Lacks::default())).await.unwrap();
    assert!(found.strands.iter().all(|strand| strand.more_on_time && !strand.more_late));
    let found: Vec<_> = rows(&found).map(|(tenant, row)| (tenant, row.task)).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn late_tasks_hide_none_that_are_on_time() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let late = world.store_ready(tenant, 5).await;
    assert_eq!(late.len(), 5);
    world.sql("update task set start_deadline = now() - interval '1 second'").await;
    let due = world.store_ready(tenant, 2).await;
    let seen =
        select_ready(&world.scheduler, &pool(), of_each(3, &Lacks::default())).await.unwrap();
    let [strand] = &seen.strands[..] else { panic!("{seen:?}") };
    assert!(strand.more_late && !strand.more_on_time);
    let found: Vec<_> = strand.tasks.iter().map(|row| row.task).collect();
    assert_eq!(
        (found.len(), &found[3..]),
        (5, &due.iter().map(|key| key.1).collect::<Vec<_>>()[..])
    );
}

#[tokio::test]
async fn a_scan_reads_all_tenants_in_turn_and_those_that_are_requested() {
    let world = World::new().await;
    let mut tenants = Vec::new();
    for _ in 0..5 {
        tenants.push(world.tenant().await);
    }
    tenants.sort_unstable();
    for tenant in &tenants {
        world.store_ready(*tenant, 2).await;
    }
    let lacks = Lacks::default();
    let (mut after, mut rounds) = (None, Vec::new());
    loop {
        let query = SelectionQuery { after, scanned_strands: 2, ..of_each(9, &lacks) };
        let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
        rounds.push(seen.strands.iter().map(|strand| strand.tenant).collect::<Vec<_>>());
        after = seen.resume_after;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(rounds, [&tenants[..2], &tenants[2..4], &tenants[4..]]);
    let requested = [(tenants[4], None), (tenants[1], None), (TenantId::fresh(), None)];
    let query = SelectionQuery { scanned_strands: 2, requested: &requested, ..of_each(1, &lacks) };
    let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
    let found: Vec<_> = seen.strands.iter().map(|strand| strand.tenant).collect();
    assert_eq!(found, [tenants[0], tenants[1], tenants[4]], "each once, and none without tasks");
    assert_eq!(seen.resume_after, Some(tenants[1]));
    assert_eq!(seen.partial.into_keys().collect::<Vec<_>>(), []);
}

/// So many ready tasks of `tenant`, in so many strands.
async fn in_strands(world: &World, tenant: TenantId, tasks: usize, strands: usize) {
    world.store_ready(tenant, tasks).await;
    let tenant = tenant.uuid();
    world
        .sql(format!(
            "update task t set strand = n.n % {strands}
                from (select id, row_number() over (order by id) n from task where tenant_id = '{tenant}') n where t.id = n.id"
        ))
        .await;
}

#[tokio::test]
async fn a_tenant_of_many_strands_hides_no_other_and_shows_all_of_them_in_turn() {
    let world = World::new().await;
    let mut tenants = [world.tenant().await, world.tenant().await, world.tenant().await];
    tenants.sort_unstable();
    let [wide, plain, last] = tenants;
    for (tenant, strands) in [(wide, 20), (plain, 1), (last, 9)] {
        in_strands(&world, tenant, strands, strands).await;
    }
    let lacks = Lacks::default();
    let query = SelectionQuery { scanned_strands: 6, ..of_each(1, &lacks) };
    let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
    let found: Vec<_> = seen.strands.iter().map(|strand| strand.tenant).collect();
    assert_eq!(found, [wide, wide, wide, wide, plain, last]);
    assert_eq!(seen.resume_after, Some(last));
    assert_eq!(seen.partial, HashMap::from([(wide, Strand(3)), (last, Strand(0))]));
    let (mut inside, mut shown) = (seen.partial[&wide], Vec::new());
    for _ in 0..4 {
        let requested = [(wide, Some(inside)), (plain, None)];
        let query = SelectionQuery {
            scanned_strands: 0,
            requested: &requested,
            requested_strands: 9,
            ..of_each(1, &lacks)
        };
        let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
        assert!(seen.strands.iter().any(|strand| strand.tenant == plain));
        shown.extend(seen.strands.iter().filter(|s| s.tenant == wide).map(|s| s.strand.0));
        inside = seen.partial[&wide];
    }
    shown.sort_unstable();
    shown.dedup();
    assert_eq!(shown.into_iter().filter(|strand| *strand > 3).count(), 16);
    let requested = [(wide, Some(inside))];
    let query = SelectionQuery { requested: &requested, ..of_each(1, &lacks) };
    let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
    assert_eq!(seen.strands.iter().filter(|strand| strand.tenant == wide).count(), 20);
    assert_eq!(seen.partial.into_keys().collect::<Vec<_>>(), [last]);
}

#[tokio::test]
async fn tenants_have_equal_parts_of_the_rows_however_many_strands_they_have() {
    let world = World::new().await;
    let [many, one] = [world.tenant().await, world.tenant().await];
    in_strands(&world, many, 80, 4).await;
    in_strands(&world, one, 80, 1).await;
    let lacks = Lacks::default();
    let query = SelectionQuery { rows: 80, ..of_each(100, &lacks) };
    let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
    let of = |tenant| rows(&seen).filter(|row| row.0 == tenant).count();
    assert_eq!((of(many), of(one)), (40, 40));
}

#[tokio::test]
async fn of_a_key_its_limit_is_shown_and_one_task_more_than_may_run_is_read() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    in_strands(&world, tenant, 30, 3).await;
    world.sql("update task set concurrency_key = 'k' || strand where strand > 0").await;
    let scope = TenantScope::of_role(tenant);
    let key = |text: &str| text.parse::<ConcurrencyKey>().unwrap();
    store::concurrency::put(&world.api, &scope, &key("k2"), 4).await.unwrap();
    let seen =
        select_ready(&world.scheduler, &pool(), of_each(100, &Lacks::default())).await.unwrap();
    let told: Vec<_> = seen.strands.iter().map(|s| (s.key.clone(), s.tasks.len())).collect();
    assert_eq!(told, [(None, 10), (Some((key("k1"), 1)), 2), (Some((key("k2"), 4)), 5)]);
}

#[tokio::test]
async fn tasks_of_strands_that_collide_have_their_own_key_and_priority() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = world.store_ready(tenant, 2).await;
    let set = format!(
        "update task set concurrency_key = 'other', priority = 3, flexible = true where id = '{}'",
        tasks[1].1.0
    );
    world.sql(set).await;
    let seen =
        select_ready(&world.scheduler, &pool(), of_each(9, &Lacks::default())).await.unwrap();
    let [strand] = &seen.strands[..] else { panic!("{seen:?}") };
    let told = |row: &ReadyTask| {
        (row.key.as_ref().map(ToString::to_string), row.priority.level(), row.flexible)
    };
    let told: Vec<_> = strand.tasks.iter().map(told).collect();
    assert_eq!(told, [(None, 0, false), (Some("other".to_owned()), 3, true)]);
}

#[tokio::test]
async fn what_is_not_ready_elsewhere_too_large_without_room_or_late_is_no_candidate() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    store::pool::list(&world.submit).await.unwrap();
    world.sql("insert into pool (name) values ('gpu')").await;
    let ready = world.put(leader, owned, tenant, State::Ready).await.task;
    for state in
        [State::Scheduled, State::Queued, State::Running, State::Cancelling, State::Retrying]
    {
        world.put(leader, owned, tenant, state).await;
    }
    let elsewhere = world.store(NewTask { pool: "gpu".parse().unwrap(), ..new_task(tenant) }).await;
    let large = world
        .store(NewTask { tier: None, resources: Tier::Premium.resources(), ..new_task(tenant) })
        .await;
    let late = world.put(leader, owned, tenant, State::Ready).await.task;
    world.make_late(late).await;
    let see = async |pool: &PoolName, largest: Resources, lacks: &[Resources]| {
        let lacks = lacks.iter().copied().collect();
        let rows = select_ready(
            &world.scheduler,
            pool,
            SelectionQuery { largest, ..of_each(100, &lacks) },
        )
        .await
        .unwrap();
        // Ids are in the order in which the tasks were stored; strands are in none.
        let mut tasks = rows_of(&rows);
        tasks.sort_unstable();
        tasks
    };
    let (small, premium) = (Tier::Basic.resources(), Tier::Premium.resources());
    assert_eq!(see(&pool(), small, &[]).await, [ready]);
    assert_eq!(see(&"gpu".parse().unwrap(), any_size(), &[]).await, [elsewhere]);
    assert_eq!(see(&pool(), any_size(), &[]).await, [ready, large]);
    let wider = Resources { memory_mib: premium.memory_mib + 1, ..Resources::default() };
    assert_eq!(see(&pool(), any_size(), &[wider]).await, [ready, large]);
    assert_eq!(see(&pool(), any_size(), &[wider, premium]).await, [ready]);
    assert_eq!(see(&pool(), any_size(), &[wider, small]).await, []);
}

#[tokio::test]
async fn what_needs_a_driver_that_no_executor_has_is_no_candidate_and_holds_back_no_other() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    store::pool::list(&world.submit).await.unwrap();
    let of = |run: &str| {
        let run = Run::from_json(run).unwrap();
        NewTask { spec: TaskSpec { run, ..new_task(tenant).spec }, ..new_task(tenant) }
    };
    let (noop, command) = (of(r#"{"noop":{}}"#), of(r#"{"command":{"argv":["true"]}}"#));
    let unknown = of(r#"{"noop":{}}"#);
    let conditions = Conditions {
        resources: unknown.resources,
        priority: unknown.priority,
        flexible: unknown.flexible,
        expire_if_late: unknown.expire_if_late,
        tolerance: unknown.delay_tolerance,
        key: None,
        driver: None,
    };
    let (noop, command) = (world.store(noop).await, world.store(command).await);
    let unknown = world.store(unknown).await;
    // As an earlier release stores it.
    let (strand, id) = (Strand::of(conditions).0, unknown.uuid());
    let driverless = format!("update task set driver = null, strand = {strand} where id = '{id}'");
    world.sql(driverless).await;
    let see = async |drivers: &DriverSet, lacks: &[(Option<&str>, Resources)]| {
        let lacks = lacks
            .iter()
            .map(|(driver, size)| (driver.map(|driver| driver.parse().unwrap()), *size));
        let lacks = lacks.collect();
        let query = SelectionQuery { drivers, ..of_each(100, &lacks) };
        let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
        assert_eq!(seen.strands.len(), 3, "a strand for each driver");
        for strand in &seen.strands {
            assert_eq!(strand.lacks_room, strand.tasks.is_empty());
        }
        let mut tasks = rows_of(&seen);
        tasks.sort_unstable();
        tasks
    };
    let drivers = |names: &[&str]| DriverSet::of(names.iter().map(|name| name.parse().unwrap()));
    assert_eq!(see(&ALL, &[]).await, [noop, command, unknown]);
    assert_eq!(see(&drivers(&["command", "noop"]), &[]).await, [noop, command, unknown]);
    assert_eq!(see(&drivers(&["noop"]), &[]).await, [noop, unknown]);
    assert_eq!(see(&drivers(&[]), &[]).await, [unknown]);
    let basic = Tier::Basic.resources();
    assert_eq!(see(&ALL, &[(Some("command"), basic)]).await, [noop, unknown]);
    assert_eq!(see(&drivers(&["command"]), &[(Some("http"), basic)]).await, [command, unknown]);
    assert_eq!(see(&ALL, &[(None, basic)]).await, []);
}

#[tokio::test]
async fn a_late_task_that_expires_for_it_is_no_candidate_unless_it_has_started_before() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let tasks = world.store_ready(tenant, 3).await;
    let select = async || {
        let lacks = Lacks::default();
        rows_of(&select_ready(&world.scheduler, &pool(), of_each(9, &lacks)).await.unwrap()).len()
    };
    let late = "start_deadline = now() - interval '1 second', expire_if_late = true";
    world.sql(format!("update task set {late} where id = '{}'", tasks[1].1.uuid())).await;
    assert_eq!(select().await, 2);
    world.sql("update task set first_started_at = now() where expire_if_late").await;
    assert_eq!(select().await, 3);
}

#[tokio::test]
async fn an_unplaced_task_keeps_its_place_and_is_prepaid_and_burns_no_attempt() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let tasks = world.store_ready(tenant, 2).await;
    let read = async || {
        select_ready(&world.scheduler, &pool(), of_each(10, &Lacks::default())).await.unwrap()
    };
    let before = read().await;
    assert!(rows(&before).all(|(_, row)| !row.prepaid));
    let dispatches = world.dispatch(leader, &tasks).await;
    transition::unplaced(&world.rm, &dispatches).await.unwrap();
    let after = read().await;
    assert!(rows(&after).all(|(_, row)| row.prepaid));
    assert_eq!(rows_of(&after), rows_of(&before));
    assert_eq!(world.number("select sum(attempt)::bigint from task").await, 0);
    let again = world.dispatch(leader, &tasks).await;
    assert!(again.iter().all(|row| row.epoch == Epoch(2)), "the next hint names another dispatch");
}

#[tokio::test]
async fn load_is_what_the_live_managers_said_last_and_what_is_queued() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let leader = world.lead(NodeId::fresh()).await;
    let read = async || load::read(&world.scheduler, &pool()).await.unwrap();
    assert_eq!(read().await, LoadOfPool::default());
    let tasks = world.store_ready(tenant, 3).await;
    world.dispatch(leader, &tasks).await;
    let queued = LoadOfPool { owners: vec![], queued_slots: 3 };
    assert_eq!(read().await, queued, "queued shows without any manager");
    let (one, two) = (NodeId::fresh(), NodeId::fresh());
    let say = async |node: NodeId, free_slots: u64| {
        let largest = Resources { cpu_millis: 1000, ..any_size() };
        let other = PoolReport {
            pool: "gpu".parse().unwrap(),
            free_slots: 99,
            completed_slots: 0,
            largest,
            free: Resources::default(),
            total: Resources::default(),
            lacks: Lacks::default(),
            drivers: DriverSet::default(),
            last_placed: runtime::clock::monotonic(),
        };
        let lacks = [Tier::Regular.resources()].into_iter().collect();
        let report = PoolReport {
            pool: pool(),
            free_slots,
            completed_slots: 7,
            largest,
            free: any_size(),
            total: largest,
            lacks,
            drivers: DriverSet::of(["noop".parse().unwrap()]),
            last_placed: runtime::clock::monotonic() - Duration::from_secs(90),
        };
        let reports = [report, other];
        load::report(&world.rm, node, &reports).await.unwrap();
    };
    say(one, 5).await;
    say(two, 8).await;
    say(one, 6).await;
    let LoadOfPool { owners: mut loads, queued_slots } = read().await;
    loads.sort_by_key(|load| load.free_slots);
    assert_eq!(queued_slots, 3);
    let seen: Vec<_> =
        loads.iter().map(|load| (load.owner, load.free_slots, load.completed_slots)).collect();
    assert_eq!(seen, [(one, 6, 7), (two, 8, 7)]);
    assert_eq!(loads[0].largest.cpu_millis, 1000);
    assert_eq!(loads[0].drivers, DriverSet::of(["noop".parse().unwrap()]));
    world.sql("update pool_load set drivers = null where free_slots = 6").await;
    let of_an_earlier_release = read().await.owners.into_iter().find(|load| load.owner == one);
    assert_eq!(of_an_earlier_release.unwrap().drivers, DriverSet::default());
    assert_eq!(loads[0].lacks.any().least(), [Tier::Regular.resources()]);
    let placed_ago = async |pool: &str| {
        let sql =
            "select extract(epoch from clock_timestamp() - last_placed_at)::bigint from pool_load";
        world.number(format!("{sql} where owner = '{}' and pool = '{pool}'", one.uuid())).await
    };
    let (ago, of_other) = (placed_ago(pool().as_str()).await, placed_ago("gpu").await);
    assert!((89..120).contains(&ago) && (0..30).contains(&of_other), "{ago} s, {of_other} s");
    load::forget(&world.rm, two).await.unwrap();
    assert_eq!(read().await.owners.len(), 1);
    world.sql("update pool_load set reported_at = now() - interval '4 seconds'").await;
    assert_eq!(read().await, queued, "who is silent has nothing to give");
    assert_eq!(load::prune(&world.scheduler).await.unwrap(), 0);
    world.sql("update pool_load set reported_at = now() - interval '11 minutes'").await;
    assert_eq!(load::prune(&world.scheduler).await.unwrap(), 2);
}

#[tokio::test]
async fn what_time_has_come_for_is_looked_at_longest_overdue_first_and_leases_never() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let queued = world.put(leader, owned, tenant, State::Queued).await;
    let scheduled = world.put(leader, owned, tenant, State::Scheduled).await;
    let retrying = world.put(leader, owned, tenant, State::Retrying).await;
    for state in [State::Ready, State::Running, State::Cancelling] {
        world.put(leader, owned, tenant, state).await;
    }
    let late = world.put(leader, owned, tenant, State::Ready).await;
    world.make_late(late.task).await;
    let at = async |task: TaskId, seconds: i32| {
        let id = task.uuid();
        world
            .sql(format!(
                "update task set wake_at = now() - interval '{seconds} seconds' where id = '{id}'"
            ))
            .await;
    };
    for (put, seconds) in [(&queued, 40), (&scheduled, 30), (&retrying, 20), (&late, 10)] {
        at(put.task, seconds).await;
    }
    world
        .sql("update task set wake_at = now() - interval '1 hour' where session_id is not null")
        .await;
    let woken = due_for_a_look(&world.scheduler, 10).await.unwrap();
    let seen: Vec<_> = woken.iter().map(|w| (w.task, w.state, w.expires)).collect();
    let expected = [
        (scheduled.task, State::Scheduled, false),
        (retrying.task, State::Retrying, false),
        (late.task, State::Ready, true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(due_for_a_look(&world.scheduler, 2).await.unwrap().len(), 2);
    at(retrying.task, -60).await;
    assert_eq!(due_for_a_look(&world.scheduler, 10).await.unwrap().len(), 2, "not before its time");

    let stale = async |limit| stale_hints(&world.scheduler, limit).await.unwrap();
    assert_eq!(stale(10).await, [queued.dispatch]);
    let other = world.put(leader, owned, tenant, State::Queued).await;
    assert_eq!(stale(10).await.len(), 1, "the other is not stale yet");
    at(other.task, 1).await;
    assert_eq!(stale(10).await.len(), 2);
    assert_eq!(stale(1).await.len(), 1);
}

#[tokio::test]
async fn looking_and_raising_what_is_due_leaves_nothing_to_look_at() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for &state in State::ALL {
        world.put(leader, owned, tenant, state).await;
    }
    let late = world.put(leader, owned, tenant, State::Scheduled).await;
    world.make_late(late.task).await;
    world.sql("update task set wake_at = now() where state = 'queued'").await;
    let stale = stale_hints(&world.scheduler, 100).await.unwrap();
    assert_eq!(transition::dispatch_stale(&world.scheduler, &stale).await.unwrap(), 1);
    assert_eq!(stale_hints(&world.scheduler, 100).await.unwrap(), []);
    for round in 0.. {
        let woken = due_for_a_look(&world.scheduler, 100).await.unwrap();
        if woken.is_empty() {
            break;
        }
        assert!(round < 4, "looks at the same rows again and again: {woken:?}");
        for row in woken {
            let key = [(row.tenant, row.task)];
            match row.state {
                _ if row.expires => {
                    transition::expired(&world.scheduler, &key).await.map(drop).unwrap()
                }
                _ => transition::due(&world.scheduler, &key).await.map(drop).unwrap(),
            }
        }
    }
    assert_eq!(world.state(late.task).await, Some(State::Expired));
}

#[tokio::test]
async fn weights_and_pools_are_listed() {
    let world = World::new().await;
    let (plain, heavy) = (world.tenant().await, domain::id::TenantId::fresh());
    let new = NewTenant { id: heavy, weight: Some(2.5), ..NewTenant::named("heavy").unwrap() };
    let create =
        async |tenant: &NewTenant| store::tenant::create(&world.admin, tenant, By::SYSTEM).await;
    assert_eq!(create(&new).await.unwrap(), Created::Yes);
    assert_eq!(create(&NewTenant::named("heavy").unwrap()).await.unwrap(), Created::NameTaken);
    let elsewhere =
        NewTenant { plan: "none".parse().unwrap(), ..NewTenant::named("elsewhere").unwrap() };
    assert_eq!(create(&elsewhere).await.unwrap(), Created::NoSuchPlan);
    create(&NewTenant { weight: Some(0.0), ..NewTenant::named("weightless").unwrap() })
        .await
        .unwrap_err();
    let nobody = domain::id::TenantId::fresh();
    let terms = store::tenant::terms(&world.scheduler, &[plain, heavy, nobody]).await.unwrap();
    let weights: HashMap<_, _> = terms.iter().map(|t| (t.tenant, t.weight)).collect();
    assert_eq!(weights, HashMap::from([(plain, 1.0), (heavy, 2.5)]));
    assert_eq!(store::tenant::find_by_name(&world.admin, "heavy").await.unwrap(), Some(heavy));
    let pools = store::pool::list(&world.submit).await.unwrap();
    assert_eq!(
        pools,
        [store::pool::SubmitPool {
            name: pool(),
            grants: domain::pool::PoolGrants::everyone(),
            executors: Vec::new()
        }]
    );
    let listed = store::pool::list_for_dispatch(&world.scheduler).await.unwrap();
    assert_eq!(listed, [DispatchPool { name: pool(), paused: false }]);
}

#[tokio::test]
async fn of_a_tenant_near_its_limit_fewer_are_read_and_of_a_suspended_one_none() {
    let world = World::new().await;
    let [near, none, plain] = [world.tenant().await, world.tenant().await, world.tenant().await];
    for tenant in [near, none, plain] {
        world.store_ready(tenant, 5).await;
    }
    let lacks = Lacks::default();
    let query = SelectionQuery { tenant_limits: &[(near, 2), (none, 0)], ..of_each(4, &lacks) };
    let seen = select_ready(&world.scheduler, &pool(), query).await.unwrap();
    let of = |tenant| rows(&seen).filter(|row| row.0 == tenant).count();
    assert_eq!((of(near), of(none), of(plain)), (2, 0, 4));
}
