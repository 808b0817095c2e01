//! Spend caps: what is accepted never costs more than the cap, and nothing stays reserved.

use crate::support::{Firing, Leader, Owned, World, ended, labels, new_schedule, new_task, priced};
use domain::id::{NodeId, TenantId};
use domain::price::{Micros, Reservation};
use domain::resources::Tier;
use domain::spend::{CapPeriod, CapScope, SpendCap};
use domain::task::{AttemptOutcome, Event, LeaseKey};
use futures::future::join_all;
use std::time::Duration;
use store::TenantScope;
use store::idempotency::IdempotencyKey;
use store::schedule::{self, PutAnswer};
use store::spend_cap::{self, CapDeleted, CapRecord, CapStored};
use store::task::lever::{ChangeAnswer, TaskChange, change};
use store::task::submit::{NewTask, SubmitAnswer, Submitter, insert, insert_batch};
use store::task::transition::{self, EndedAttempt, FailedAttempt};

fn cap(amount: i64, scope: CapScope) -> SpendCap {
    SpendCap {
        amount: Micros(amount),
        currency: "EUR".parse().unwrap(),
        period: CapPeriod::Month,
        zone: "UTC".to_owned(),
        scope,
    }
}

/// Stores a cap, which is new.
async fn put(world: &World, tenant: TenantId, name: &str, cap: &SpendCap) -> CapRecord {
    let scope = TenantScope::of_role(tenant);
    match spend_cap::put(&world.api, &scope, &name.parse().unwrap(), None, cap).await.unwrap() {
        CapStored::Created(record) | CapStored::Updated(record) => record,
        other => panic!("{other:?}"),
    }
}

/// What is spent, reserved and free of a cap.
async fn stands(world: &World, tenant: TenantId, name: &str) -> [i64; 3] {
    let scope = TenantScope::of_role(tenant);
    let record =
        spend_cap::find(&world.api, &scope, &name.parse().unwrap()).await.unwrap().unwrap();
    let used = record.used;
    assert_eq!(used.spent + used.reserved + used.free, record.cap.amount);
    let live = world
        .number(format!(
            "select coalesce(sum((t.reservation ->> 'amount')::bigint), 0)::bigint from task t
                join spend_cap c on c.tenant_id = t.tenant_id and c.name = '{name}' and t.reservation -> 'caps' ? c.id::text
                where t.tenant_id = '{}'",
            tenant.uuid()
        ))
        .await;
    assert_eq!(live, used.reserved.0, "what is reserved is in the tasks' rows");
    [used.spent.0, used.reserved.0, used.free.0]
}

/// The most that a task of [`new_task`] can cost: three minutes of basic with 7 % off, and 3.
const MOST: i64 = 3 * 296 + 3;

async fn reservation_of(world: &World, task: &NewTask) -> Option<Reservation> {
    let sql = format!("select reservation::text from task where id = '{}'", task.id.uuid());
    world.text(sql).await.map(|text| serde_json::from_str(&text).unwrap())
}

/// Places ready tasks; they seem to run for a minute already.
async fn running(
    world: &World,
    (leader, owned): (Leader, Owned),
    tenant: TenantId,
    tasks: &[NewTask],
) -> Vec<LeaseKey> {
    let keys: Vec<_> = tasks.iter().map(|task| (tenant, task.id)).collect();
    let leases = world.place(owned, &world.dispatch(leader, &keys).await).await;
    world
        .sql("update task set placed_at = placed_at - interval '1 minute' where session_id is not null")
        .await;
    leases
}

async fn nodes(world: &World) -> (Leader, Owned) {
    (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await)
}

fn is_over(answer: &SubmitAnswer) -> bool {
    matches!(answer, SubmitAnswer::OverCap(_))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_thousand_at_once_as_many_are_accepted_as_the_cap_has_room_for() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    put(&world, tenant, "all", &cap(137 * MOST + MOST - 1, CapScope::Tenant)).await;
    // Three writers, as of as many processes.
    let writers = [(); 3].map(|()| Submitter::new(world.submit.clone()));
    let submit = async |place: usize| {
        // Alone, in groups, with and without an idempotency key.
        let count = if place.is_multiple_of(4) { 7 } else { 1 };
        let keyed = |mut task: NewTask| {
            task.idempotency = Some(IdempotencyKey {
                route: "POST /v1/tasks".to_owned(),
                key: task.id.to_string(),
                body_hash: [1; 32],
            });
            task
        };
        let tasks: Vec<_> = (0..count)
            .map(|at| {
                if (place + at).is_multiple_of(3) {
                    keyed(new_task(tenant))
                } else {
                    new_task(tenant)
                }
            })
            .collect();
        let answers = writers[place % 3].insert(&tasks).await.unwrap();
        let accepted = tasks.iter().zip(&answers).filter(|(_, answer)| !is_over(answer));
        accepted.map(|(task, _)| task.clone()).collect::<Vec<_>>()
    };
    let accepted = join_all((0..400).map(submit)).await.concat();
    assert_eq!(accepted.len(), 137, "of a thousand");
    assert_eq!(stands(&world, tenant, "all").await, [0, 137 * MOST, MOST - 1]);

    // Nothing stays reserved, however they end.
    let nodes = nodes(&world).await;
    let leases = running(&world, nodes, tenant, &accepted[..100]).await;
    let report =
        |lease: &LeaseKey| EndedAttempt { ran_ms: 30_000, ..ended(*lease, Event::Completed) };
    let reports: Vec<_> = leases.iter().map(report).collect();
    let half = |part: &[EndedAttempt]| {
        let (world, part) = (&world, part.to_vec());
        async move { transition::completed(&world.rm, &part).await.unwrap() }
    };
    join_all(reports.chunks(10).map(half)).await;
    let scope = TenantScope::of_role(tenant);
    let rest = &accepted[100..];
    let rest: Vec<_> = rest.iter().map(|task| task.id).collect();
    transition::cancel_requested(&world.api, &scope, &rest, Duration::ZERO).await.unwrap();
    let [spent, reserved, free] = stands(&world, tenant, "all").await;
    // Half a minute each.
    assert_eq!((spent, reserved), (100 * (148 + 3), 0));
    assert_eq!(free, 137 * MOST + MOST - 1 - spent);
    let ledger = world.number("select sum(cost + task_cost)::bigint from attempt").await;
    assert_eq!(ledger, spent);
    assert_eq!(world.deadlocks().await, 0);
}

#[tokio::test]
async fn what_a_task_costs_is_what_its_attempts_cost_at_the_prices_it_was_accepted_with() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    put(&world, tenant, "all", &cap(1_000_000, CapScope::Tenant)).await;
    let mut tasks = Vec::new();
    for (tier, tolerance, flexible) in
        [(Tier::Basic, 0, false), (Tier::Premium, 60, true), (Tier::Regular, 90_000, false)]
    {
        let task = new_task(tenant);
        let delay_tolerance = Duration::from_secs(tolerance);
        let resources = tier.resources();
        let task = NewTask { tier: Some(tier), resources, flexible, delay_tolerance, ..task };
        world.store(task.clone()).await;
        tasks.push(task);
    }
    // A higher price for tasks that are accepted from now on.
    let dearer = r#"update price_book set version = version + 1, document = jsonb_set(document, '{prices, 1, rates, cpu_core}', '9999999')"#;
    world.sql(dearer).await;
    let nodes = nodes(&world).await;
    let mut costs = vec![0; tasks.len()];
    for attempt in 1..=2_u32 {
        let leases = running(&world, nodes, tenant, &tasks).await;
        for (place, lease) in leases.iter().enumerate() {
            let ran_ms = 12_345 * (u64::try_from(place).unwrap() + 1) + u64::from(attempt);
            let task = tasks.iter().position(|task| task.id == lease.task).unwrap();
            let reservation = reservation_of(&world, &tasks[task]).await.unwrap();
            let now = runtime::clock::wall();
            costs[task] += reservation.cost(now, ran_ms).0;
            if attempt == 1 {
                costs[task] += reservation.task_cost(now).0;
                let ended = EndedAttempt { ran_ms, ..ended(*lease, Event::AttemptFailed) };
                let failed = FailedAttempt { ended, retry_after: Duration::ZERO, held: None };
                transition::attempt_failed(&world.rm, &[failed]).await.unwrap();
            } else {
                let ended = EndedAttempt { ran_ms, ..ended(*lease, Event::Completed) };
                transition::completed(&world.rm, &[ended]).await.unwrap();
            }
        }
        let all: Vec<_> = tasks.iter().map(|task| (tenant, task.id)).collect();
        transition::due(&world.scheduler, &all).await.unwrap();
    }
    let [spent, reserved, _] = stands(&world, tenant, "all").await;
    assert_eq!((spent, reserved), (costs.iter().sum(), 0));
    for (task, cost) in tasks.iter().zip(&costs) {
        let sql = format!(
            "select sum(cost + task_cost)::bigint from attempt where task_id = '{}' and price_book = 'eur'",
            task.id.uuid()
        );
        assert_eq!(world.number(sql).await, *cost);
    }
    // A task that is accepted now reserves at the new price.
    let task = new_task(tenant);
    world.store(task.clone()).await;
    assert!(reservation_of(&world, &task).await.unwrap().amount.0 > 10 * MOST);
}

#[tokio::test]
async fn an_attempt_that_overran_its_cap_costs_no_more_than_was_reserved() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    put(&world, tenant, "all", &cap(MOST, CapScope::Tenant)).await;
    let task = new_task(tenant);
    world.store(task.clone()).await;
    let nodes = nodes(&world).await;
    for attempt in 1..=3 {
        let lease = running(&world, nodes, tenant, std::slice::from_ref(&task)).await[0];
        world
            .sql("update task set placed_at = placed_at - interval '1 hour' where session_id is not null")
            .await;
        let ended = EndedAttempt {
            outcome: AttemptOutcome::Failed,
            ran_ms: 3_600_000,
            ..ended(lease, Event::AttemptFailed)
        };
        if attempt < 3 {
            let failed = FailedAttempt { ended, retry_after: Duration::ZERO, held: None };
            transition::attempt_failed(&world.rm, &[failed]).await.unwrap();
            transition::due(&world.scheduler, &[(tenant, task.id)]).await.unwrap();
        } else {
            transition::attempts_exhausted(&world.rm, &[ended]).await.unwrap();
        }
    }
    assert_eq!(stands(&world, tenant, "all").await, [MOST, 0, 0]);
    assert_eq!(world.number("select sum(usage_ms)::bigint from attempt").await, 3 * 60_000);
}

/// A writer remembers caps and prices: its one statement stores only where they still hold.
#[tokio::test]
async fn what_a_writer_knows_of_caps_counts_only_while_it_holds() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    let nightly = CapScope::Label { key: "job".to_owned(), value: "nightly".to_owned() };
    put(&world, tenant, "nightly", &cap(10 * MOST, nightly)).await;
    let submitter = Submitter::new(world.submit.clone());
    let store = async |count: usize| {
        let tasks: Vec<_> = (0..count).map(|_| new_task(tenant)).collect();
        let answers = submitter.insert(&tasks).await.unwrap();
        (tasks, answers.iter().filter(|answer| !is_over(answer)).count())
    };
    // The first reads what holds, the others know it: of none of these caps.
    for _ in 0..3 {
        assert_eq!(store(2).await.1, 2);
    }
    assert_eq!(stands(&world, tenant, "nightly").await, [0, 0, 10 * MOST]);
    let (name, scope) = ("nightly".parse().unwrap(), TenantScope::of_role(tenant));
    let deleted = spend_cap::delete(&world.api, &scope, &name, None).await.unwrap();
    assert_eq!(deleted, CapDeleted::Yes);
    put(&world, tenant, "nightly", &cap(3 * MOST, CapScope::Tenant)).await;
    // Another cap, which is of all tasks; what is known is of none.
    assert_eq!(store(1).await.1, 1);
    assert_eq!(stands(&world, tenant, "nightly").await, [0, MOST, 2 * MOST]);
    // One more cap of all.
    put(&world, tenant, "other", &cap(MOST, CapScope::Tenant)).await;
    assert_eq!(store(1).await.1, 1);
    assert_eq!(store(2).await.1, 0, "the other cap is used up");
    assert_eq!(stands(&world, tenant, "other").await, [0, MOST, 0]);
    assert_eq!(stands(&world, tenant, "nightly").await, [0, 2 * MOST, MOST]);
    let other = "other".parse().unwrap();
    let deleted = spend_cap::delete(&world.api, &scope, &other, None).await.unwrap();
    assert_eq!(deleted, CapDeleted::Yes);
    let raised = cap(5 * MOST, CapScope::Tenant);
    put(&world, tenant, "nightly", &raised).await;
    // Beside a tenant that has no cap, and one whose cap has no room.
    let (free, full) = (world.tenant().await, world.tenant().await);
    world.sql(format!("update tenant set plan = 'team' where id = '{}'", full.uuid())).await;
    put(&world, full, "all", &cap(MOST - 1, CapScope::Tenant)).await;
    for _ in 0..2 {
        let answers = submitter.insert(&[free, full, tenant].map(new_task)).await.unwrap();
        let stored: Vec<_> = answers.iter().map(|answer| !is_over(answer)).collect();
        assert_eq!(stored, [true, false, true]);
    }
    assert_eq!(stands(&world, tenant, "nightly").await, [0, 4 * MOST, MOST]);
    // A plan that is billed by nothing: tasks cost nothing from now on.
    world.sql("update plan set billing = null where name = 'team'").await;
    let (tasks, stored) = store(5).await;
    assert_eq!(stored, 5);
    assert_eq!(reservation_of(&world, &tasks[4]).await.unwrap().amount, Micros(0));
    assert_eq!(stands(&world, tenant, "nightly").await, [0, 4 * MOST, MOST]);
    let deleted = spend_cap::delete(&world.api, &scope, &name, None).await.unwrap();
    assert_eq!(deleted, CapDeleted::Yes);
    let (tasks, stored) = store(2).await;
    assert_eq!((stored, reservation_of(&world, &tasks[0]).await), (2, None));
}

#[tokio::test]
async fn repeats_are_answered_as_before_though_the_cap_is_used_up() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    put(&world, tenant, "all", &cap(2 * MOST, CapScope::Tenant)).await;
    let key = |key: &str| IdempotencyKey {
        route: "POST /v1/tasks".to_owned(),
        key: key.to_owned(),
        body_hash: [1; 32],
    };
    let keyed = NewTask { idempotency: Some(key("a")), ..new_task(tenant) };
    let unique = NewTask { unique_key: Some("u".to_owned()), ..new_task(tenant) };
    for task in [&keyed, &unique] {
        world.store(task.clone()).await;
    }
    let again = [
        NewTask { id: new_task(tenant).id, ..keyed.clone() },
        NewTask { idempotency: Some(key("b")), ..new_task(tenant) },
        NewTask { id: new_task(tenant).id, ..unique.clone() },
    ];
    let answers = insert(&world.submit, &again).await.unwrap();
    assert_eq!(answers[0], SubmitAnswer::Replayed(keyed.id));
    assert_eq!(answers[2], SubmitAnswer::Existing(unique.id));
    let SubmitAnswer::OverCap(refusal) = &answers[1] else { panic!("{:?}", answers[1]) };
    assert_eq!((refusal.cap.as_str(), refusal.free.0, refusal.needed.0), ("all", 0, MOST));
    let refused = world.number("select count(*) from idempotency where key = 'b'").await;
    assert_eq!(refused, 0, "it can be tried again under its key");
    assert_eq!(stands(&world, tenant, "all").await, [0, 2 * MOST, 0]);
}

#[tokio::test]
async fn all_caps_of_a_task_hold_and_others_do_not_feel_it() {
    let world = World::new().await;
    let [tenant, other] = [world.tenant().await, world.tenant().await];
    priced(&world, tenant).await;
    let team = CapScope::Label { key: "team".to_owned(), value: "ml".to_owned() };
    put(&world, tenant, "all", &cap(3 * MOST, CapScope::Tenant)).await;
    put(&world, tenant, "team-ml", &cap(MOST, team)).await;
    let of_team = || {
        let mut task = new_task(tenant);
        task.spec.labels = labels("team", "ml");
        task
    };
    let tasks = [
        of_team(),
        of_team(),
        new_task(tenant),
        new_task(other),
        new_task(tenant),
        new_task(tenant),
    ];
    let answers = insert(&world.submit, &tasks).await.unwrap();
    assert_eq!(
        answers.iter().map(is_over).collect::<Vec<_>>(),
        [false, true, false, false, false, true]
    );
    let SubmitAnswer::OverCap(refusal) = &answers[1] else { panic!() };
    assert_eq!(refusal.cap, "team-ml");
    assert_eq!(stands(&world, tenant, "all").await, [0, 3 * MOST, 0]);
    assert_eq!(stands(&world, tenant, "team-ml").await, [0, MOST, 0]);
    assert_eq!(reservation_of(&world, &tasks[3]).await, None);

    // A batch judges each for itself.
    let scope = TenantScope::of_role(tenant);
    let over = std::sync::Mutex::new(Vec::new());
    let note = |answers: &[SubmitAnswer]| {
        *over.lock().unwrap() = answers.iter().map(is_over).collect();
        Vec::new()
    };
    let free = NewTask { execution_cap: Duration::from_millis(1), ..new_task(tenant) };
    insert_batch(&world.submit, &scope, None, &[of_team(), free], note).await.unwrap();
    assert_eq!(*over.lock().unwrap(), [true, true], "a task costs 3 however short it is");
    world.sql("update price_book set document = document #- '{prices, 1, each}'").await;
    let free = NewTask { execution_cap: Duration::from_millis(1), ..new_task(tenant) };
    insert_batch(&world.submit, &scope, None, &[of_team(), free], note).await.unwrap();
    assert_eq!(*over.lock().unwrap(), [true, false], "what costs nothing needs no room");
}

#[tokio::test]
async fn a_cap_that_is_lowered_holds_at_once_and_a_new_period_frees_what_was_spent() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    put(&world, tenant, "all", &cap(100 * MOST, CapScope::Tenant)).await;
    let tasks: Vec<_> = (0..10).map(|_| new_task(tenant)).collect();
    insert(&world.submit, &tasks).await.unwrap();
    let lowered = put(&world, tenant, "all", &cap(9 * MOST, CapScope::Tenant)).await;
    assert_eq!((lowered.version, lowered.used.free.0), (2, -MOST));
    let nodes = nodes(&world).await;
    let leases = running(&world, nodes, tenant, &tasks[..1]).await;
    let report = EndedAttempt { ran_ms: 60_000, ..ended(leases[0], Event::Completed) };
    transition::completed(&world.rm, &[report]).await.unwrap();
    // 592 came back, on one share; the sum is still less than nothing.
    assert_eq!(stands(&world, tenant, "all").await, [299, 9 * MOST, -299]);
    for _ in 0..20 {
        let cheap = NewTask { execution_cap: Duration::from_millis(500), ..new_task(tenant) };
        assert!(is_over(&insert(&world.submit, &[cheap]).await.unwrap()[0]));
    }
    world.sql("update spend_share set period_start = period_start - interval '1 month'").await;
    assert_eq!(stands(&world, tenant, "all").await, [0, 9 * MOST, 0]);
    put(&world, tenant, "all", &cap(10 * MOST, CapScope::Tenant)).await;
    world.store(new_task(tenant)).await;
    assert_eq!(stands(&world, tenant, "all").await, [0, 10 * MOST, 0]);
}

#[tokio::test]
async fn a_change_that_makes_a_task_dearer_reserves_the_more_it_can_cost() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    let team = CapScope::Label { key: "team".to_owned(), value: "ml".to_owned() };
    put(&world, tenant, "all", &cap(2 * MOST, CapScope::Tenant)).await;
    put(&world, tenant, "team-ml", &cap(MOST, team)).await;
    let scope = TenantScope::of_role(tenant);
    let task = new_task(tenant);
    world.store(task.clone()).await;
    let changed = async |version: i64, wanted: &NewTask| {
        let before = store::task::get(&world.api, &scope, task.id).await.unwrap().unwrap();
        let between = TaskChange::between(&before, wanted);
        change(&world.api, &scope, (task.id, version), &between).await.unwrap()
    };
    let longer = |secs| NewTask { execution_cap: Duration::from_secs(secs), ..task.clone() };
    let answer = changed(1, &longer(600)).await;
    let ChangeAnswer::OverCap(refusal) = answer else { panic!("{answer:?}") };
    assert_eq!(refusal.cap, "all");
    assert_eq!(stands(&world, tenant, "all").await, [0, MOST, MOST], "nothing changed");
    let answer = changed(1, &longer(90)).await;
    assert!(matches!(answer, ChangeAnswer::Changed(_)), "{answer:?}");
    let [_, reserved, _] = stands(&world, tenant, "all").await;
    assert!(reserved > MOST, "{reserved}");
    let mut of_team = task.clone();
    of_team.spec.labels = labels("team", "ml");
    let answer = changed(2, &of_team).await;
    assert!(matches!(answer, ChangeAnswer::Changed(_)), "{answer:?}");
    assert_eq!(stands(&world, tenant, "team-ml").await, [0, MOST, 0]);
    assert_eq!(stands(&world, tenant, "all").await, [0, MOST, MOST]);
}

#[tokio::test]
async fn a_new_cap_knows_what_was_spent_and_a_deleted_one_is_of_nothing() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    let spent = format!(
        "insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms, cpu_millis_ms,
            memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost)
        select '{}', kind, date_trunc('hour', now()), key, value, 'eur', 1, 1, 1, 1, 1, 1, 1, 1, 1, 500, 7
        from (values ('tier', '', 'basic'), ('label', 'team', 'ml'), ('label', 'team', 'web')) r(kind, key, value)",
        tenant.uuid()
    );
    world.sql(spent).await;
    let team = CapScope::Label { key: "team".to_owned(), value: "ml".to_owned() };
    put(&world, tenant, "all", &cap(507 + MOST, CapScope::Tenant)).await;
    put(&world, tenant, "team-ml", &cap(100, team)).await;
    assert_eq!(stands(&world, tenant, "all").await, [507, 0, MOST]);
    assert_eq!(stands(&world, tenant, "team-ml").await, [507, 0, -407]);
    let task = new_task(tenant);
    world.store(task.clone()).await;
    assert!(is_over(&insert(&world.submit, &[new_task(tenant)]).await.unwrap()[0]));

    let scope = TenantScope::of_role(tenant);
    let (all, of_team) = ("all".parse().unwrap(), "team-ml".parse().unwrap());
    let version = spend_cap::delete(&world.api, &scope, &all, Some(7)).await.unwrap();
    assert_eq!(version, CapDeleted::VersionMismatch { version: 1 });
    for name in [&all, &of_team] {
        assert_eq!(
            spend_cap::delete(&world.api, &scope, name, None).await.unwrap(),
            CapDeleted::Yes
        );
    }
    assert_eq!(
        spend_cap::delete(&world.api, &scope, &all, None).await.unwrap(),
        CapDeleted::NotFound
    );
    world.store(new_task(tenant)).await;
    put(&world, tenant, "all", &cap(507 + MOST, CapScope::Tenant)).await;
    // What the first reserved was of another cap.
    let task = [task.id];
    transition::cancel_requested(&world.api, &scope, &task, Duration::ZERO).await.unwrap();
    assert_eq!(stands(&world, tenant, "all").await, [507, 0, MOST]);
    assert_eq!(world.number("select count(*) from task where state = 'ready'").await, 1);
}

#[tokio::test]
async fn a_fire_needs_room_for_its_task_and_for_itself() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    priced(&world, tenant).await;
    let scope = TenantScope::of_role(tenant);
    let stored = schedule::put(&world.api, &scope, &new_schedule("fires")).await.unwrap();
    let PutAnswer::Created(record) = stored else { panic!("{stored:?}") };
    let id = record.id;
    let firing = Firing::begin(&world, Duration::from_secs(60)).await;
    // One after another, each a millisecond later than the one before.
    let mut later = 1_000;
    let mut outcome = async || {
        world.make_due(id, later).await;
        later -= 1;
        let due = firing.due(&world).await;
        firing.fire(&world, &due, Duration::from_secs(60)).await.unwrap();
        let newest = format!(
            "select outcome from schedule_fire where schedule_id = '{}' order by due_at desc limit 1",
            id.uuid()
        );
        world.text(newest).await.unwrap()
    };

    put(&world, tenant, "all", &cap(1_000_000, CapScope::Tenant)).await;
    assert_eq!(outcome().await, "fired");
    let [_, once, _] = stands(&world, tenant, "all").await;
    let task = world.number("select (reservation ->> 'amount')::bigint from task").await;
    assert_eq!(once, task, "the task bears its fire");
    let fire = world.number("select (reservation #>> '{prices,-1,fire}')::bigint from task").await;
    assert_eq!(fire, 2);

    put(&world, tenant, "all", &cap(2 * once - 1, CapScope::Tenant)).await;
    assert_eq!(
        outcome().await,
        "shed_spend_cap",
        "there is room for the task, and not for its fire"
    );
    assert_eq!(stands(&world, tenant, "all").await, [0, once, once - 1]);
    put(&world, tenant, "all", &cap(2 * once, CapScope::Tenant)).await;
    assert_eq!(outcome().await, "fired");
    assert_eq!(stands(&world, tenant, "all").await, [0, 2 * once, 0]);
}
