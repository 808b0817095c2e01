//! Why a task waits: each reason from real rows, and what the answer costs beside a million.
//!
//! What batcher and resource managers write by themselves is written here as they would.

use crate::support::{World, new_session, new_task};
use domain::explain::{Basis, Explanation, Holder, Reason, Turn, explain};
use domain::id::{NodeId, TaskId, TenantId};
use domain::resources::{Dimension, Resources, Tier};
use domain::task::{AttemptOutcome, State};
use std::time::Duration;
use store::TenantScope;
use store::audit::By;
use store::task::submit::NewTask;
use testkit::settings::rounds;

/// What is told to `tenant` of `task`.
async fn explained(world: &World, tenant: TenantId, task: TaskId) -> Explanation {
    let facts = store::task::explain(&world.api, &TenantScope::of_role(tenant), task).await;
    explain(facts.unwrap().unwrap())
}

fn names(explanation: &Explanation) -> Vec<String> {
    let name = |reason: &Reason| serde_json::to_value(reason).unwrap()["reason"].clone();
    explanation.reasons.iter().map(|r| name(r).as_str().unwrap().to_owned()).collect()
}

fn turn(explanation: &Explanation) -> Turn {
    let turn = explanation.reasons.iter().find_map(|reason| match reason {
        Reason::Turn(turn) => Some(*turn),
        _ => None,
    });
    turn.unwrap_or_else(|| panic!("{explanation:?}"))
}

/// A resource manager says what it has; `lacks` as JSON.
async fn room(world: &World, free_slots: u64, largest: Resources, lacks: &str) {
    let [cpu, memory, disk, iops, ports] = largest.dimensions();
    world
        .sql(format!(
            "insert into pool_load (owner, pool, free_slots, completed_slots, largest_cpu_millis, largest_memory_mib,
                largest_disk_mib, largest_iops, largest_ports, lacks, reported_at)
            values (gen_random_uuid(), 'default', {free_slots}, 0, {cpu}, {memory}, {disk}, {iops}, {ports}, '{lacks}',
                clock_timestamp() + interval '1 minute')"
        ))
        .await;
}

/// The batcher says where `tenant` stands: two before it, ten turns a second.
async fn stands(world: &World, tenant: TenantId, held_by: Option<&str>) {
    let held_by = held_by.map_or("null".to_owned(), |text| format!("'{text}'"));
    world
        .sql(format!(
            "insert into tenant_turn (pool, tenant_id, ahead, before, rate, held_by, at)
            values ('default', '{}', 0, 2, 10, {held_by}, clock_timestamp() + interval '1 minute')",
            tenant.uuid()
        ))
        .await;
}

/// A pool with much room, in which `tenant` waits.
async fn in_order(world: &World, tenant: TenantId) {
    room(world, 1000, Tier::Premium.resources(), "[]").await;
    stands(world, tenant, None).await;
}

/// Sets columns of a task.
async fn set(world: &World, task: TaskId, columns: &str) {
    world.sql(format!("update task set {columns} where id = '{}'", task.uuid())).await;
}

/// A ready task that should start within so many seconds.
async fn within(world: &World, tenant: TenantId, seconds: u64) -> TaskId {
    let delay_tolerance = Duration::from_secs(seconds);
    world.store(NewTask { delay_tolerance, ..new_task(tenant) }).await
}

#[tokio::test]
async fn in_every_state_it_says_what_the_task_does() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let own = new_session(owned.session).executor;
    in_order(&world, tenant).await;
    for &state in State::ALL {
        let put = world.put(leader, owned, tenant, state).await;
        let told = explained(&world, tenant, put.task).await;
        assert_eq!((told.id, told.state), (put.task, state));
        let (reason, basis) = match state {
            State::Scheduled => ("due", Basis::Time),
            State::Ready => ("turn", Basis::Pace),
            State::Queued => ("placing", Basis::Placing),
            State::Running => ("running", Basis::Started),
            State::Cancelling => ("stopping", Basis::Started),
            State::Retrying => ("retry", Basis::Time),
            _ => ("ended", Basis::Started),
        };
        assert_eq!(names(&told), [reason], "{state}");
        assert_eq!(told.eta.basis, basis, "{state}");
        match &told.reasons[0] {
            Reason::Running { attempt, executor, .. } => {
                assert_eq!((*attempt, executor.as_ref()), (1, Some(&own)));
            }
            Reason::Retry { failures, max_attempts, last_outcome, last_reason, .. } => {
                assert_eq!((*failures, *max_attempts), (1, 3));
                assert_eq!(*last_outcome, Some(AttemptOutcome::Failed));
                assert_eq!(last_reason.as_deref(), Some("told by a test"));
            }
            Reason::Placing { until } => assert!(*until > told.at),
            _ => {}
        }
    }
    let delay = Some(Duration::from_secs(3600));
    let later = world.store(NewTask { delay, expire_if_late: true, ..new_task(tenant) }).await;
    let told = explained(&world, tenant, later).await;
    assert_eq!(told.reasons, [Reason::Due { at: told.eta.earliest.unwrap() }]);
    let tolerance = told.expires_at.unwrap() - told.eta.earliest.unwrap();
    assert_eq!(tolerance.num_seconds(), 300);
}

#[tokio::test]
async fn what_goes_before_is_counted_over_priorities_classes_and_flexible_tasks() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    in_order(&world, tenant).await;
    let other = world.tenant().await;
    world.store_ready(other, 20).await;
    let urgent = within(&world, tenant, 100).await;
    let task = within(&world, tenant, 300).await;
    let lax = within(&world, tenant, 900).await;
    let at = explained(&world, tenant, task).await;
    assert_eq!(turn(&at).tasks_before, 1);
    assert_eq!((turn(&at).tenants_before, turn(&at).rate), (Some(2), Some(10.0)));
    assert_eq!((at.eta.estimate.unwrap() - at.at).num_milliseconds(), 200);
    assert_eq!(turn(&explained(&world, tenant, urgent).await).tasks_before, 0);
    assert_eq!(turn(&explained(&world, tenant, lax).await).tasks_before, 2);

    // Eleven levels are eleven minutes, so this is before the task; ten would not be.
    let before = async || turn(&explained(&world, tenant, task).await).tasks_before;
    set(&world, lax, "strand = 1, priority = 10").await;
    assert_eq!(before().await, 1);
    set(&world, task, "strand = 2, priority = -1").await;
    assert_eq!(before().await, 2);

    // On spare room it goes before nobody, and in the last tenth of its tolerance as all others.
    set(&world, urgent, "strand = 3, flexible = true").await;
    assert_eq!(before().await, 1);
    set(
        &world,
        urgent,
        "run_at = now() - interval '1 hour', start_deadline = now() + interval '1 minute'",
    )
    .await;
    assert_eq!(before().await, 2);

    // Late ones stand in a class of their own, in the order in which they were due.
    set(&world, urgent, "start_deadline = now() - interval '1 second'").await;
    let told = explained(&world, tenant, task).await;
    assert_eq!((turn(&told).tasks_before, turn(&told).late, turn(&told).shared), (1, false, true));
    assert!(told.eta.estimate > told.eta.earliest);
    set(
        &world,
        lax,
        "run_at = now() - interval '2 hours', start_deadline = now() - interval '1 ms'",
    )
    .await;
    let told = turn(&explained(&world, tenant, urgent).await);
    assert_eq!((told.tasks_before, told.late, told.shared), (1, true, true));
    set(&world, task, "start_deadline = now() - interval '1 minute'").await;
    let told = turn(&explained(&world, tenant, urgent).await);
    assert_eq!((told.tasks_before, told.late, told.shared), (1, true, false));
}

#[tokio::test]
async fn what_stands_aside_goes_before_nobody() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    stands(&world, tenant, None).await;
    let regular = format!("[{:?}]", Tier::Regular.resources().dimensions());
    room(&world, 1000, Tier::Premium.resources(), &regular).await;
    let task = within(&world, tenant, 300).await;
    let before = async || turn(&explained(&world, tenant, task).await).tasks_before;
    let sized = async |resources: Resources| {
        let id = world.store(NewTask { tier: None, resources, ..new_task(tenant) }).await;
        let strand = resources.memory_mib;
        let sooner = format!("strand = {strand}, start_deadline = now() + interval '1 minute'");
        set(&world, id, &sooner).await;
    };
    sized(Tier::Premium.resources()).await;
    assert_eq!(before().await, 0, "as large as what lacks room");
    sized(Resources { ports: 5, memory_mib: 1, ..Resources::default() }).await;
    assert_eq!(before().await, 0, "larger than all");
    sized(Resources { memory_mib: 64, ..Resources::default() }).await;
    assert_eq!(before().await, 1);

    let keyed = within(&world, tenant, 100).await;
    set(&world, keyed, "strand = 7, concurrency_key = 'db'").await;
    assert_eq!(before().await, 2);
    let holder = world.run(leader, owned, tenant, 1).await[0].task;
    set(&world, holder, "concurrency_key = 'db'").await;
    assert_eq!(before().await, 1, "its key is used up");
    let raise = format!(
        "insert into concurrency_limit (tenant_id, key, running) values ('{}', 'db', 2)",
        tenant.uuid()
    );
    world.sql(raise).await;
    assert_eq!(before().await, 2);
}

#[tokio::test]
async fn whoever_must_act_is_named_before_the_turn() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    stands(&world, tenant, None).await;
    let task = within(&world, tenant, 300).await;
    let told = explained(&world, tenant, task).await;
    let pool = "default".parse().unwrap();
    assert_eq!(told.reasons, [Reason::NoExecutor { pool }]);
    assert_eq!(told.eta.basis, Basis::Executors);

    let tiny = Resources { cpu_millis: 100, ..Tier::Premium.resources() };
    room(&world, 100, tiny, "[]").await;
    let told = explained(&world, tenant, task).await;
    let dimension = Dimension::CpuMillis;
    assert_eq!(told.reasons, [Reason::TooLarge { dimension, asked: 250, largest: 100 }]);

    world.sql("delete from pool_load").await;
    room(&world, 1000, Tier::Premium.resources(), "[]").await;
    world.sql("update pool_load set drivers = '{http,command}'").await;
    let told = explained(&world, tenant, task).await;
    assert_eq!(told.reasons, [Reason::NoDriver { driver: "noop".to_owned() }]);
    assert_eq!(told.eta.basis, Basis::Executors);
    for known in ["drivers = '{noop}'", "drivers = null"] {
        world.sql(format!("update pool_load set {known}")).await;
        assert_eq!(names(&explained(&world, tenant, task).await), ["turn"], "{known}");
    }
    let full = "update pool_load set drivers = '{noop}', lacks_by_driver = '{\"noop\": [[1, 1, 1, 1, 1]]}'";
    world.sql(full).await;
    assert_eq!(names(&explained(&world, tenant, task).await), ["no_room"]);
    world.sql("update pool_load set lacks_by_driver = '{\"http\": [[1, 1, 1, 1, 1]]}'").await;
    assert_eq!(names(&explained(&world, tenant, task).await), ["turn"]);

    world.sql("update pool set paused_at = now(), paused_because = 'new racks'").await;
    let told = explained(&world, tenant, task).await;
    assert_eq!(names(&told), ["pool_paused", "turn"]);
    let Reason::PoolPaused(pause) = &told.reasons[0] else { panic!("{told:?}") };
    assert_eq!(pause.because.as_deref(), Some("new racks"));
    assert_eq!(told.eta.basis, Basis::People);
    store::tenant::suspend(&world.admin, tenant, By::SYSTEM).await.unwrap();
    let told = explained(&world, tenant, task).await;
    assert_eq!(names(&told), ["tenant_suspended", "pool_paused", "turn"]);
    assert!(matches!(told.reasons[0], Reason::TenantSuspended { since: Some(_) }));
}

#[tokio::test]
async fn room_that_lacks_is_told_with_its_dimension() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    stands(&world, tenant, None).await;
    let resources = Tier::Regular.resources();
    let task = world.store(NewTask { tier: None, resources, ..new_task(tenant) }).await;
    room(&world, 4, Tier::Premium.resources(), "[]").await;
    let told = explained(&world, tenant, task).await;
    assert_eq!(
        (names(&told), told.eta.basis),
        (vec!["turn".into(), "no_room".into()], Basis::Pace)
    );
    world.sql("update pool_load set free_slots = 40, lacks = '[[1, 1, 1, 1, 1]]'").await;
    let told = explained(&world, tenant, task).await;
    let no_room = Reason::NoRoom {
        dimension: Dimension::Ports,
        asked: 2,
        largest: 4,
        slots: 5,
        free_slots: 40,
        for_its_size: true,
    };
    assert_eq!((told.reasons, told.eta.basis), (vec![no_room], Basis::Room));
    // Of what is free it is the memory that is too little.
    world
        .sql(
            "update pool_load set free_slots = 0, lacks = '[]', free_cpu_millis = 4000, free_memory_mib = 100, free_disk_mib = 20480,
                free_iops = 1000, free_ports = 4",
        )
        .await;
    let told = explained(&world, tenant, task).await;
    let short_of = told.reasons.iter().find_map(|reason| match reason {
        Reason::NoRoom { dimension, .. } => Some(*dimension),
        _ => None,
    });
    assert_eq!(short_of, Some(Dimension::MemoryMib), "{told:?}");
}

#[tokio::test]
async fn limits_are_told_with_what_holds_them() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    room(&world, 1000, Tier::Premium.resources(), "[]").await;
    stands(&world, tenant, Some("limit")).await;
    let holders = world.run(leader, owned, tenant, 2).await;
    let task = within(&world, tenant, 300).await;
    let queued = world.put(leader, owned, tenant, State::Queued).await.task;
    let told = explained(&world, tenant, task).await;
    assert_eq!(names(&told), ["running_limit", "turn"]);
    let Reason::RunningLimit(limit) = told.reasons[0] else { panic!("{told:?}") };
    assert_eq!((limit.held, limit.limit), (3, 100_000));
    assert_eq!(told.eta.basis, Basis::Pace);

    for id in [holders[0].task, holders[1].task, queued] {
        set(&world, id, "concurrency_key = 'db'").await;
    }
    set(&world, holders[0].task, "cap_ms = 3600000").await;
    set(&world, task, "concurrency_key = 'db', strand = 1").await;
    let key_of = async || {
        let told = explained(&world, tenant, task).await;
        assert_eq!(names(&told), ["concurrency_key", "running_limit"]);
        let Reason::ConcurrencyKey(key) = told.reasons[0].clone() else { panic!("{told:?}") };
        (key, told.eta)
    };
    let (key, eta) = key_of().await;
    assert_eq!((key.limit, key.held, key.others_before), (1, 3, false));
    let ids: Vec<_> = key.holders.iter().map(|holder| holder.id).collect();
    assert_eq!(ids, [holders[1].task, holders[0].task, queued], "by the end of their caps");
    let Holder { state, since, ends_by, .. } = key.holders[0];
    assert_eq!(state, State::Running);
    assert_eq!((ends_by.unwrap() - since.unwrap()).num_seconds(), 60);
    assert_eq!(key.holders[2].ends_by, None);
    assert_eq!(eta.basis, Basis::Key, "three must end, and one has not begun");
    let limit = |running: u32| {
        format!(
            "insert into concurrency_limit (tenant_id, key, running) values ('{}', 'db', {running})
                on conflict (tenant_id, key) do update set running = excluded.running",
            tenant.uuid()
        )
    };
    world.sql(limit(3)).await;
    let (_, eta) = key_of().await;
    assert_eq!((eta.basis, eta.estimate), (Basis::Caps, ends_by));
    let first = within(&world, tenant, 100).await;
    set(&world, first, "concurrency_key = 'db', strand = 1").await;
    let (key, eta) = key_of().await;
    assert_eq!((key.others_before, eta.basis), (true, Basis::Key));
    world.sql(limit(0)).await;
    assert_eq!(key_of().await.1.basis, Basis::People);
}

#[tokio::test]
async fn a_flexible_task_waits_for_spare_room() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    in_order(&world, tenant).await;
    let task = within(&world, tenant, 300).await;
    set(&world, task, "flexible = true").await;
    let told = explained(&world, tenant, task).await;
    let Reason::SpareRoom { until } = told.reasons[0] else { panic!("{told:?}") };
    assert!((268..=270).contains(&(until - told.at).num_seconds()), "{told:?}");
    assert_eq!((names(&told).len(), told.eta.basis), (1, Basis::SpareRoom));
}

#[tokio::test]
async fn what_nobody_has_said_lately_is_not_known() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    in_order(&world, tenant).await;
    let task = within(&world, tenant, 300).await;
    world.sql("update tenant_turn set at = clock_timestamp() - interval '6 seconds'").await;
    let told = explained(&world, tenant, task).await;
    assert_eq!((turn(&told).rate, turn(&told).tenants_before), (None, None));
    assert_eq!(told.eta.basis, Basis::NoFigures);
    world.sql("update pool_load set reported_at = clock_timestamp() - interval '4 seconds'").await;
    assert_eq!(names(&explained(&world, tenant, task).await), ["no_executor"]);
}

#[tokio::test]
async fn nobody_is_told_of_anothers_task() {
    let world = World::new().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    for &state in State::ALL {
        let put = world.put(leader, owned, tenant, state).await;
        let scope = TenantScope::of_role(other);
        assert_eq!(store::task::explain(&world.api, &scope, put.task).await.unwrap(), None);
    }
    let scope = TenantScope::of_role(tenant);
    assert_eq!(store::task::explain(&world.api, &scope, TaskId::fresh()).await.unwrap(), None);
}

/// With `SCALE=1` a million tasks of the tenant, and a tenth as many of others in the same pool: p95 below 50 ms.
#[tokio::test]
async fn the_answer_costs_the_same_however_much_waits() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    in_order(&world, tenant).await;
    let (tasks, asked) = (rounds(12_000, 1_000_000), rounds(20, 400));
    let most = Duration::from_millis(rounds(1000, 50) as u64);
    world
        .sql(format!(
            "set synchronous_commit = off;
            insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, strand, priority, concurrency_key)
                select case when n <= {tasks} then '{}' else md5((n % 100)::text)::uuid end, gen_random_uuid(), 'default', 'ready',
                    'basic', 250, 512, 1024, 50, 1, 1, now(), now() + n * interval '1 second', 60000, 3, false, false,
                    n % 20, n % 20 % 3, case when n % 20 > 15 then (n % 20)::text end
                from generate_series(1, {tasks} + {tasks} / 10) n",
            tenant.uuid()
        ))
        .await;
    world.sql("vacuum analyze task").await;
    let ids = "select string_agg(id::text, ' ') from (
        (select id from task where tenant_id = '$' order by start_deadline limit 5)
        union all (select id from task where tenant_id = '$' order by start_deadline desc limit 15)) t";
    let ids = world.text(ids.replace('$', &tenant.uuid().to_string())).await.unwrap();
    let ids: Vec<TaskId> = ids.split(' ').map(|id| TaskId(id.parse().unwrap())).collect();
    let (mut took, mut deep) = (Vec::new(), 0);
    for n in 0..asked {
        let began = runtime::clock::monotonic();
        let told = explained(&world, tenant, ids[n % ids.len()]).await;
        took.push(began.elapsed());
        let turn = turn(&told);
        assert_eq!(turn.at_least, turn.tasks_before == 10_000, "{told:?}");
        deep += usize::from(turn.at_least);
    }
    assert!(deep >= asked / 2, "{deep}");
    took.sort_unstable();
    let (median, p95) = (took[asked / 2], took[asked * 95 / 100]);
    println!("{tasks} tasks: median {median:?}, p95 {p95:?}");
    assert!(p95 < most, "{p95:?}");
}
