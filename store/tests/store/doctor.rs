//! What the doctor finds, and that it finds nothing where all is well.

use crate::support::{Firing, Leader, Owned, World, config, new_schedule};
use domain::id::{NodeId, TenantId};
use domain::task::State;
use runtime::clock;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::TenantScope;
use store::doctor::{Check, CheckOutcome};
use store::doctor::{DoctorDb, DoctorOptions, Unplaceable, run_checks, unplaceable};
use store::schedule::{PutAnswer, put};

const HOUR: Duration = Duration::from_secs(3600);

/// Everything that an installation at work has.
struct Busy {
    world: World,
    doctor: DoctorDb,
    owned: Owned,
    leader: Leader,
    firing: Firing,
}

fn how() -> DoctorOptions {
    DoctorOptions {
        overdue: Duration::from_secs(60),
        statement: Duration::from_secs(20),
        whole: Duration::from_secs(120),
        sample: 100_000,
        transaction: Duration::from_secs(300),
        idle: Duration::from_secs(60),
        dead_rows: 1000,
        unvacuumed: Duration::ZERO,
        clocks: Duration::from_secs(2),
        days_ahead: 6,
    }
}

impl Busy {
    /// Tasks in every state, attempts, schedules and fires, of two tenants.
    async fn new() -> Self {
        let world = World::new().await;
        let doctor = DoctorDb::connect(&config(&world.database)).unwrap();
        let node = NodeId::fresh();
        let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(node).await);
        let firing = Firing::begin(&world, HOUR).await;
        let busy = Self { world, doctor, owned, leader, firing };
        for tenant in [busy.world.tenant().await, busy.world.tenant().await] {
            for state in State::ALL.iter().copied().filter(|state| *state != State::Skipped) {
                busy.world.put(leader, owned, tenant, state).await;
            }
            busy.fire(tenant, "nightly").await;
            busy.schedule(tenant, "later").await;
        }
        // Of one world all leases have one number: each was placed alone.
        busy.world
            .sql("update task t set assignment = n.number, port_first = 20000 + n.number * 4
                from (select id, row_number() over (order by id) as number from task where session_id is not null) n
                where n.id = t.id;
                -- However long the test takes.
                update task set wake_at = now() + interval '1 hour' where wake_at is not null;
                update executor_session set expires_at = now() + interval '1 hour';
                update leadership set expires_at = now() + interval '1 hour'")
            .await;
        busy
    }

    async fn schedule(&self, tenant: TenantId, name: &str) -> uuid::Uuid {
        let answer = put(&self.world.api, &TenantScope::of_role(tenant), &new_schedule(name)).await;
        match answer.unwrap() {
            PutAnswer::Created(schedule) => schedule.id.uuid(),
            other => panic!("{other:?}"),
        }
    }

    /// A schedule that has fired once.
    async fn fire(&self, tenant: TenantId, name: &str) {
        let id = self.schedule(tenant, name).await;
        self.world.make_due(domain::id::ScheduleId(id), 100).await;
        let due = self.firing.due(&self.world).await;
        let written = self.firing.fire(&self.world, &due, HOUR).await.unwrap();
        assert_eq!(written.rows.len(), 1);
    }

    async fn found(&self, how: &DoctorOptions) -> BTreeMap<Check, (u64, String)> {
        let lines = run_checks(&self.doctor, how).await.unwrap();
        let seen: BTreeSet<_> = lines.iter().map(|line| line.check).collect();
        assert_eq!(seen.len(), Check::ALL.len() - 1, "each check but that of the broker, once");
        lines
            .into_iter()
            .filter_map(|line| match line.outcome {
                CheckOutcome::Passed => None,
                CheckOutcome::Failed { count, example } => Some((line.check, (count, example))),
                other => panic!("{}: {other:?}", line.check),
            })
            .collect()
    }

    async fn checks(&self) -> BTreeSet<Check> {
        self.found(&how()).await.into_keys().collect()
    }

    /// Breaks something and expects just these findings; then puts it back.
    async fn breaks(&self, expected: &[Check], sql: &str, back: &str) {
        self.world.sql(sql).await;
        let found = self.found(&how()).await;
        let checks: Vec<_> = found.keys().copied().collect();
        assert_eq!(checks, expected, "{sql}: {found:?}");
        for (check, (count, example)) in &found {
            assert!(*count > 0 && !example.is_empty(), "{check}: {count} {example:?}");
        }
        self.world.sql(back).await;
        assert_eq!(self.checks().await, BTreeSet::new(), "after {back}");
    }
}

#[tokio::test]
async fn a_busy_healthy_system_has_no_findings_and_the_doctor_changes_nothing() {
    let busy = Busy::new().await;
    let before = busy.world.fingerprint(None).await;
    assert_eq!(busy.found(&how()).await, BTreeMap::new());
    assert_eq!(busy.world.fingerprint(None).await, before);
}

#[tokio::test]
async fn tasks_that_stand_still_are_found() {
    let busy = Busy::new().await;
    for (state, check) in [
        ("scheduled", Check::ScheduledOverdue),
        ("queued", Check::QueuedStale),
        ("retrying", Check::RetryingOverdue),
    ] {
        let pick =
            format!("id in (select id from task where state = '{state}' order by id limit 1)");
        busy.breaks(
            &[check],
            &format!("update task set wake_at = now() - interval '1 hour' where {pick}"),
            &format!("update task set wake_at = now() + interval '1 hour' where {pick}"),
        )
        .await;
        busy.breaks(
            &[Check::TasksWithoutWake],
            &format!("update task set wake_at = null where {pick}"),
            &format!("update task set wake_at = now() + interval '1 hour' where {pick}"),
        )
        .await;
    }
    let pick = "id in (select id from task where state = 'ready' and dispatch_epoch = 0 order by id limit 1)";
    busy.breaks(
        &[Check::ExpiryOverdue],
        &format!("update task set expire_if_late = true, wake_at = now() - interval '1 hour' where {pick}"),
        &format!("update task set expire_if_late = false, wake_at = null where {pick}"),
    )
    .await;
}

#[tokio::test]
async fn what_the_batcher_passes_by_is_found_where_there_is_room() {
    let busy = Busy::new().await;
    let room = "insert into pool_load (owner, pool, free_slots, completed_slots, largest_cpu_millis, largest_memory_mib, largest_disk_mib,
            largest_iops, largest_ports, reported_at)
        values (gen_random_uuid(), 'default', 100, 0, 100000, 100000, 100000, 100000, 100, clock_timestamp() + interval '1 hour');
        insert into pool_turn (pool, stopped, slots, handed_out, rate, free_slots) values ('default', 'nothing_waits', 100, 0, 0, 100)";
    busy.world.sql(room).await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "what is ready since now is not late");
    // As if it had been submitted yesterday.
    let old = "with gone as (delete from task where id in (select id from task where state = 'ready' and dispatch_epoch = 0 limit 1) returning *)
        insert into task select (jsonb_populate_record(null::task, to_jsonb(g) || jsonb_build_object(
            'id', berth_first_id_of(current_date - 1), 'run_at', now() - interval '1 day'))).* from gone g";
    let young = "update task set dispatch_epoch = 1 where id = berth_first_id_of(current_date - 1)";
    busy.breaks(&[Check::ReadyUnseen], old, young).await;
    busy.world
        .sql("update task set dispatch_epoch = 0 where id = berth_first_id_of(current_date - 1)")
        .await;
    for held in [
        "update pool_turn set stopped = 'limits'",
        "update pool_turn set stopped = 'nothing_waits'; update pool set paused_at = now()",
        "update pool set paused_at = null; update pool_load set free_slots = 0",
        "update pool_load set free_slots = 100, largest_cpu_millis = 1",
        "update pool_load set largest_cpu_millis = 100000, drivers = '{command}'",
    ] {
        busy.world.sql(held).await;
        assert_eq!(busy.checks().await, BTreeSet::new(), "{held}");
    }
}

#[tokio::test]
async fn tasks_that_fit_no_executor_are_found_by_pool_when_they_have_waited_for_long() {
    let busy = Busy::new().await;
    let one = "id = (select id from task where state = 'ready' and dispatch_epoch = 0 order by id limit 1)";
    let waits =
        format!("update task set run_at = now() - interval '1 hour', strand = 7 where {one}");
    busy.world.sql(waits).await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "it waits, and fits");
    busy.world.sql("insert into pool (name) values ('empty')").await;
    let by_pool = async || unplaceable(&busy.doctor, &how()).await.unwrap();
    assert_eq!(by_pool().await, []);
    // Larger than all there is, and in a pool without executors.
    for (broken, back) in [
        ("cpu_millis = 2000001", "cpu_millis = 1"),
        ("ports = 60000", "ports = 0"),
        ("pool = 'empty'", "pool = 'default'"),
        ("driver = 'command'", "driver = 'noop'"),
    ] {
        busy.breaks(
            &[Check::TasksUnplaceable],
            &format!("update task set {broken} where {one}"),
            &format!("update task set {back} where {one}"),
        )
        .await;
    }
    busy.world.sql(format!("update task set pool = 'empty' where {one}")).await;
    let found = by_pool().await;
    let [Unplaceable { pool, tasks: 1, example, short_of: None }] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(pool == "empty" && example.starts_with("task_"), "{found:?}");
    // An executor that has none of a dimension is named by that, and not by the first there is.
    for (size, short_of) in [("ports = 60000", "ports"), ("iops = 2000000000", "iops")] {
        busy.world.sql(format!("update task set pool = 'default', {size} where {one}")).await;
        let found = by_pool().await;
        let [of_pool] = &found[..] else { panic!("{found:?}") };
        assert_eq!(of_pool.short_of.as_deref(), Some(short_of));
        busy.world.sql(format!("update task set ports = 0, iops = 1 where {one}")).await;
    }
    busy.world.sql(format!("update task set driver = 'command' where {one}")).await;
    let found = by_pool().await;
    let [of_pool] = &found[..] else { panic!("{found:?}") };
    assert_eq!(of_pool.short_of.as_deref(), Some("the driver command"));
    busy.world.sql("update executor_session set drivers = null").await;
    assert_eq!(by_pool().await, [], "an executor of an earlier release may have it");
}

#[tokio::test]
async fn leases_that_cannot_be_are_found() {
    let busy = Busy::new().await;
    let session = busy.owned.session.uuid();
    let lease = |state: &str| {
        format!("id in (select id from task where state = '{state}' order by id limit 1)")
    };
    let (running, cancelling) = (lease("running"), lease("cancelling"));
    busy.breaks(
        &[Check::LeaseWithoutSession],
        &format!("update task set session_id = gen_random_uuid() where {running}"),
        &format!("update task set session_id = '{session}' where {running}"),
    )
    .await;
    busy.breaks(
        &[Check::SessionsLapsed],
        "update executor_session set expires_at = now() - interval '1 hour'",
        "update executor_session set expires_at = now() + interval '1 hour'",
    )
    .await;
    for (which, check) in
        [(&running, Check::RunningPastEnd), (&cancelling, Check::CancellingPastEnd)]
    {
        busy.breaks(
            &[check],
            &format!("update task set wake_at = now() - interval '1 hour' where {which}"),
            &format!("update task set wake_at = now() + interval '1 hour' where {which}"),
        )
        .await;
    }
    busy.breaks(
        &[Check::AssignmentDoubled],
        &format!("update task set assignment = (select assignment from task where {cancelling}) where {running}"),
        &format!("update task set assignment = 1000 where {running}"),
    )
    .await;
    busy.breaks(
        &[Check::PortsOverlap],
        &format!("update task set port_first = (select port_first from task where {cancelling}) where {running}"),
        &format!("update task set port_first = 20200 where {running}"),
    )
    .await;
    busy.breaks(
        &[Check::PortsOverlap],
        &format!("update task set port_first = 30000 where {running}"),
        &format!("update task set port_first = 20200 where {running}"),
    )
    .await;
    for dimension in ["cpu_millis", "memory_mib", "disk_mib", "iops"] {
        busy.breaks(
            &[Check::CapacityExceeded],
            &format!("update executor_session set {dimension} = 10"),
            &format!("update executor_session set {dimension} = 2000000"),
        )
        .await;
    }
}

#[tokio::test]
async fn attempts_that_do_not_add_up_are_found() {
    let busy = Busy::new().await;
    // One more attempt of a task that has ended, which it does not count.
    let of = "select * from attempt where outcome = 'succeeded' order by task_id limit 1";
    let more = |changed: &str| {
        format!(
            "insert into attempt select (jsonb_populate_record(null::attempt, to_jsonb(a) || {changed})).* from ({of}) a"
        )
    };
    let back = "delete from attempt where attempt = 2 or usage_ms = 77 or task_id = '00000000-0000-7000-8000-000000000001'";
    let second = more("jsonb_build_object('attempt', 2, 'placed_at', a.ended_at, 'usage_ms', 0)");
    busy.breaks(&[Check::AttemptsMissing], &second, back).await;
    busy.breaks(
        &[Check::LeasesOverlap],
        &format!(
            "update task_history set attempt = 2 where id = (select task_id from ({of}) a);
            {}",
            more(
                "jsonb_build_object('attempt', 2, 'placed_at', a.placed_at - interval '1 second')"
            )
        ),
        &format!("{back}; update task_history set attempt = 1 where attempt = 2"),
    )
    .await;
    busy.breaks(
        &[Check::AttemptWithoutTask],
        &more("jsonb_build_object('task_id', '00000000-0000-7000-8000-000000000001')"),
        back,
    )
    .await;
    // A lease that is live before the attempt before it has ended.
    let live = "select id from task where state = 'running' order by id limit 1";
    busy.breaks(
        &[Check::LeasesOverlap],
        &format!(
            "update task set attempt = 2 where id = ({live});
            insert into attempt select (jsonb_populate_record(null::attempt, to_jsonb(a) || jsonb_build_object('task_id', t.id, 'tenant_id', t.tenant_id,
                'ended_at', t.placed_at + interval '1 second', 'usage_ms', 0))).* from ({of}) a, task t where t.id = ({live})"
        ),
        &format!("delete from attempt where task_id = ({live}); update task set attempt = 1 where id = ({live})"),
    )
    .await;
    for wrong in ["usage_ms = 100000000", "outcome = 'lost'", "charged = false, usage_ms = 0"] {
        let one = "task_id = (select task_id from attempt where reason = 'told by a test' and exit_code = 7
            order by task_id limit 1)";
        busy.world.sql(format!("create table kept as select * from attempt where {one}")).await;
        busy.breaks(
            &[Check::UsageWrong],
            &format!("update attempt set {wrong} where {one}"),
            "delete from attempt where task_id in (select task_id from kept); insert into attempt select * from kept; drop table kept",
        )
        .await;
    }
    busy.breaks(
        &[Check::TaskEndedTwice],
        "insert into task_history select (jsonb_populate_record(null::task_history, to_jsonb(h) || jsonb_build_object('finished_at', h.finished_at + interval '1 ms'))).*
            from task_history h where state = 'cancelled' and attempt = 0 order by id limit 1",
        "delete from task_history h using task_history o where h.id = o.id and h.finished_at > o.finished_at",
    )
    .await;
    busy.breaks(
        &[Check::TaskEndedTwice],
        "insert into task_history (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline,
                cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, finished_at)
            select tenant_id, id, pool, 'failed', tier, cpu_millis, memory_mib, disk_mib, iops, ports, run_at, start_deadline,
                cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, now() from task where state = 'scheduled' limit 1",
        "delete from task_history h using task t where h.id = t.id",
    )
    .await;
}

#[tokio::test]
async fn schedules_and_fires_that_do_not_match_are_found() {
    let busy = Busy::new().await;
    let one = "id = (select id from schedule where name = 'later' order by id limit 1)";
    let due = "due_at = now() + interval '1 day', fire_at = now() + interval '1 day'";
    for (check, broken) in [
        (
            Check::ScheduleOverdue,
            "due_at = now() - interval '1 hour', fire_at = now() - interval '1 hour'",
        ),
        (Check::ScheduleWithoutDue, "due_at = null, fire_at = null"),
        (Check::ScheduleWithoutDue, "due_at = null, fire_at = null, awaits = gen_random_uuid()"),
        (
            Check::SchedulesMalformed,
            "due_at = null, fire_at = null, paused_at = now(), paused_because = 'malformed: timing cannot be read'",
        ),
    ] {
        let back = format!(
            "update schedule set {due}, awaits = null, paused_at = null, paused_because = null where {one}"
        );
        busy.breaks(&[check], &format!("update schedule set {broken} where {one}"), &back).await;
    }
    let waits = format!(
        "update schedule set due_at = null, fire_at = null, awaits = (
        select k.id from task k where k.tenant_id = schedule.tenant_id limit 1) where {one}"
    );
    busy.world.sql(waits).await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "one may wait for a task that lives");
    busy.world
        .sql("create table kept as select * from schedule_fire order by schedule_id limit 1")
        .await;
    let fire =
        "(tenant_id, schedule_id, due_at) in (select tenant_id, schedule_id, due_at from kept)";
    let back = format!(
        "delete from schedule_fire where {fire}; insert into schedule_fire select * from kept"
    );
    busy.breaks(
        &[Check::FireWithoutTask],
        &format!("update schedule_fire set task_id = gen_random_uuid() where {fire}"),
        &back,
    )
    .await;
    busy.breaks(
        &[Check::FireEarly],
        &format!("update schedule_fire set fired_at = due_at - interval '1 second' where {fire}"),
        &back,
    )
    .await;
    busy.world.sql("alter table schedule_fire drop constraint schedule_fire_pkey").await;
    busy.breaks(&[Check::FireDoubled], "insert into schedule_fire select * from kept", &back).await;
}

#[tokio::test]
async fn owners_that_are_missing_are_found() {
    let busy = Busy::new().await;
    busy.breaks(
        &[Check::BatcherMissing],
        "update leadership set holder = null, expires_at = '-infinity'",
        "update leadership set expires_at = now() + interval '1 hour'",
    )
    .await;
    busy.world.sql("update leadership set expires_at = '-infinity'; insert into pool_turn (pool, stopped, slots, handed_out, rate, free_slots)
        values ('default', 'no_room', 0, 0, 0, 0)").await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "it was there a moment ago");
    busy.breaks(
        &[Check::ShardsUnowned],
        "update scheduler_node set expires_at = now() - interval '1 hour'",
        "update scheduler_node set expires_at = now() + interval '1 hour'",
    )
    .await;
    let (node, leader) = (busy.firing.node.uuid(), busy.leader.node.uuid());
    busy.breaks(
        &[Check::ShardsUnowned],
        &format!("update schedule_shard set owner = '{leader}' where shard = 3"),
        &format!("update schedule_shard set owner = '{node}' where shard = 3"),
    )
    .await;
}

#[tokio::test]
async fn executors_in_quarantine_and_pools_in_which_nothing_is_placed_are_found() {
    let busy = Busy::new().await;
    busy.breaks(
        &[Check::ExecutorsQuarantined],
        "update executor_session set quarantined_at = now()",
        "update executor_session set quarantined_at = null",
    )
    .await;
    // A task that was handed out and is due since long, and room for it.
    busy.world
        .sql("insert into pool_load (owner, pool, free_slots, completed_slots, largest_cpu_millis, largest_memory_mib,
                    largest_disk_mib, largest_iops, largest_ports, last_placed_at, reported_at)
                values (gen_random_uuid(), 'default', 100, 0, 256000, 524288, 1310720, 64000, 256, now(), now() + interval '1 hour');
            update task set id = ('017f0000' || substr(id::text, 9))::uuid, run_at = now() - interval '2 minutes'
                where state = 'queued'")
        .await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "one was placed a moment ago");
    busy.breaks(
        &[Check::PlacementStalled],
        "update pool_load set last_placed_at = now() - interval '61 seconds'",
        "update pool_load set last_placed_at = now() - interval '30 seconds'",
    )
    .await;
    busy.world
        .sql("update pool_load set last_placed_at = now() - interval '1 hour', free_slots = 0")
        .await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "there is no room");
    busy.world.sql("update pool_load set free_slots = 100; update pool set paused_at = now(), paused_because = 'a test'").await;
    assert_eq!(busy.checks().await, BTreeSet::new(), "the pool is paused");
    // All of them are back, and none is queued for long.
    busy.world
        .sql("update pool set paused_at = null, paused_because = null;
            update pool_load set last_placed_at = now();
            update task set run_at = now() where state = 'queued';
            update task set id = ('017f0000' || substr(id::text, 9))::uuid, run_at = now() - interval '2 minutes',
                    dispatch_epoch = 1
                where state = 'ready' and not exists (select from schedule_fire f where f.task_id = task.id)")
        .await;
    busy.breaks(
        &[Check::PlacementStalled],
        "update pool_load set last_placed_at = now() - interval '61 seconds'",
        "update pool_load set last_placed_at = now() - interval '30 seconds'",
    )
    .await;
}

#[tokio::test]
async fn what_postgres_needs_and_lacks_is_found() {
    let busy = Busy::new().await;
    let world = &busy.world;
    let tomorrow = world
        .text("select to_char((now() at time zone 'UTC')::date + 1, 'YYYYMMDD')")
        .await
        .unwrap();
    busy.breaks(
        &[Check::PartitionsMissing],
        &format!("drop table attempt_{tomorrow}"),
        "select berth_partition_make('attempt', (now() at time zone 'UTC')::date, (now() at time zone 'UTC')::date + 7)",
    )
    .await;
    busy.breaks(
        &[Check::PartitionStrays],
        "insert into task_spec (id, tenant_id, created_at, run_at, run, delay_tolerance_ms, key_id)
            values (gen_random_uuid(), gen_random_uuid(), now(), now(), '{}', 0, 'x')",
        "delete from task_spec_default",
    )
    .await;

    let mut open = world.owner.begin().await.unwrap();
    sqlx::raw_sql("select 1").execute(&mut *open).await.unwrap();
    let short = DoctorOptions {
        transaction: Duration::from_millis(50),
        idle: Duration::from_millis(50),
        ..how()
    };
    let old = async || {
        let found = busy.found(&short).await;
        found.contains_key(&Check::OldTransaction) && found.contains_key(&Check::IdleInTransaction)
    };
    testkit::poll::until("the open transaction is found", Duration::from_secs(10), old)
        .await
        .unwrap();
    open.rollback().await.unwrap();
    let none = async || busy.found(&short).await.is_empty();
    testkit::poll::until("nothing is open any more", Duration::from_secs(10), none).await.unwrap();

    world.sql("create table worn (n integer) with (autovacuum_enabled = false); insert into worn select generate_series(1, 5000);
        delete from worn").await;
    let bloat = async || {
        let found = busy.found(&how()).await;
        found
            .get(&Check::Bloat)
            .is_some_and(|(count, example)| *count == 1 && example.starts_with("worn: 5000 dead"))
    };
    testkit::poll::until("the dead rows are found", Duration::from_secs(20), bloat).await.unwrap();
}

#[tokio::test]
async fn a_clock_that_is_off_is_found_and_one_check_that_takes_too_long_spoils_no_other() {
    let busy = Busy::new().await;
    // No clocks agree to less than nothing: what cannot be explained by the way there and back is zero at least.
    let lines =
        run_checks(&busy.doctor, &DoctorOptions { clocks: Duration::ZERO, ..how() }).await.unwrap();
    let clock = lines.iter().find(|line| line.check == Check::ClockOffset).unwrap();
    assert!(matches!(clock.outcome, CheckOutcome::Passed | CheckOutcome::Failed { .. }));
    // Somebody holds a table that one group of checks needs.
    let mut holding = busy.world.owner.begin().await.unwrap();
    sqlx::raw_sql("lock table leadership in access exclusive mode")
        .execute(&mut *holding)
        .await
        .unwrap();
    let began = clock::monotonic();
    let lines = run_checks(&busy.doctor, &how()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for line in lines {
        let is_held = matches!(
            line.check,
            Check::BatcherMissing | Check::ShardsUnowned | Check::SchedulesHeld
        );
        assert_eq!(
            matches!(line.outcome, CheckOutcome::NotChecked(_)),
            is_held,
            "{}: {:?}",
            line.check,
            line.outcome
        );
    }
    holding.rollback().await.unwrap();
    let none =
        run_checks(&busy.doctor, &DoctorOptions { whole: Duration::ZERO, ..how() }).await.unwrap();
    assert!(
        none.iter().all(|line| matches!(line.outcome, CheckOutcome::NotChecked(_))),
        "no time is no health"
    );
}
