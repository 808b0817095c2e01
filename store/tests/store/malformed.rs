//! Rows that came in past every check: each ends, or is paused, alone.

use crate::support::{World, ended, new_schedule};
use domain::id::{NodeId, TenantId};
use domain::plan::PlanLimits;
use domain::task::{Event, State};
use sqlx::{AssertSqlSafe, PgPool};
use store::TenantScope;
use store::fire::pause_unsound;
use store::malformed::Page;
use store::schedule::{DeleteAnswer, ListLimit, PutAnswer, delete, list, put};
use store::task::{TaskFilter, due_for_a_look, find, malformed_of_pages, transition};

const ALL: Page = Page { from: 0, pages: 1_000_000 };

/// Takes the checks and nulls of a table away.
async fn unguard(world: &World, table: &str) {
    world
        .sql(format!(
            "do $$ declare c record; begin
                for c in select conname from pg_constraint where conrelid = '{table}'::regclass and contype = 'c' loop
                    execute format('alter table {table} drop constraint %I', c.conname); end loop;
                for c in select attname from pg_attribute where attrelid = '{table}'::regclass and attnum > 0 and attnotnull
                    and not attisdropped and attname not in ('id', 'tenant_id', 'name', 'key') loop
                    execute format('alter table {table} alter column %I drop not null', c.attname); end loop;
            end $$"
        ))
        .await;
}

/// What makes a row of `task` one that nobody can work with.
const BAD: [&str; 16] = [
    "cap_ms = 9223372036854775807",
    "cap_ms = null",
    "run_at = 'infinity', start_deadline = 'infinity'",
    "run_at = '-infinity'",
    "start_deadline = '290000-01-01'",
    "attempt = 2147483647, failures = 0",
    "attempt = null",
    "failures = 7",
    "dispatch_epoch = 2147483647",
    "dispatch_epoch = null",
    "slots = 0",
    "cpu_millis = -5",
    "max_attempts = null",
    "expire_if_late = null",
    "pool = 'No Such Pool'",
    "strand = null, priority = 99",
];

#[tokio::test]
async fn the_checks_of_tables_refuse_what_no_step_may_leave() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    world.store_ready(tenant, 1).await;
    let pool = PgPool::connect(world.database.owner_url()).await.unwrap();
    for wrong in [
        "state = 'succeeded'",
        "state = 'skipped'",
        // Leases: of the wrong state, and in parts.
        "state = 'running'",
        "state = 'cancelling'",
        "session_id = gen_random_uuid()",
        "assignment = 1",
        "placed_at = now()",
        "session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = now()",
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = null",
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = null, wake_at = now()",
        "state = 'running', session_id = gen_random_uuid(), assignment = null, placed_at = now(), wake_at = now()",
        "state = 'running', session_id = null, assignment = 1, placed_at = now(), wake_at = now()",
    ] {
        let update = AssertSqlSafe(format!("update task set {wrong}"));
        let error = sqlx::raw_sql(update).execute(&pool).await.expect_err(wrong);
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "23514", "{wrong}");
    }
    for right in [
        "state = 'running', session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = now()",
        "state = 'cancelling', attempt = 2, failures = 2",
        "state = 'retrying', session_id = null, assignment = null, placed_at = null, concurrency_key = repeat('k', 200)",
    ] {
        world.sql(format!("update task set {right}")).await;
    }
}

#[tokio::test]
async fn the_checks_of_what_has_ended_refuse_what_nobody_could_bill() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let leases = world.run(leader, owned, tenant, 1).await;
    transition::completed(&world.rm, &[ended(leases[0], Event::Completed)]).await.unwrap();
    let pool = PgPool::connect(world.database.owner_url()).await.unwrap();
    for (table, wrong) in [
        ("attempt", "attempt = 0"),
        ("attempt", "ended_at = placed_at - interval '1 microsecond'"),
        ("attempt", "usage_ms = -1"),
        ("attempt", "usage_ms = 1, charged = false"),
        ("attempt", "outcome = 'won'"),
        ("task_history", "state = 'retrying'"),
    ] {
        let update = AssertSqlSafe(format!("update {table} set {wrong}"));
        let error = sqlx::raw_sql(update).execute(&pool).await.expect_err(wrong);
        assert_eq!(error.as_database_error().unwrap().code().unwrap(), "23514", "{wrong}");
    }
    world.sql("update attempt set usage_ms = 0, charged = false, outcome = 'lost'").await;
}

#[tokio::test]
async fn each_bad_task_ends_failed_and_the_good_ones_beside_it_stay() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    unguard(&world, "task").await;
    let good = world.store_ready(tenant, 3).await;
    let bad = world.store_ready(tenant, BAD.len()).await;
    for ((_, task), wrong) in bad.iter().zip(BAD) {
        // The first are looked at by the sweep of what is due, too.
        world
            .sql(format!(
                "update task set wake_at = now() - interval '1 second', {wrong} where id = '{}'",
                task.uuid()
            ))
            .await;
    }
    // Nobody who meets them fails.
    assert_eq!(due_for_a_look(&world.scheduler, 100).await.unwrap().len(), BAD.len());
    let leader = world.lead(NodeId::fresh()).await;
    let all: Vec<_> = good.iter().chain(&bad).copied().collect();
    let dispatched = world.dispatch(leader, &all).await;
    // That its pool does not exist is no fault of the row alone.
    assert_eq!(dispatched.len(), good.len() + 1, "only what is sound is handed out");
    world.sql("update task set state = 'queued' where state = 'ready'").await;
    let owned = world.open(NodeId::fresh()).await;
    let claims: Vec<_> = world.dispatched_now(&all).await;
    assert_eq!(world.place(owned, &claims).await.len(), good.len() + 1);
    world.sql(format!("update task set state = 'ready', session_id = null, assignment = null, placed_at = null
        where id = any (array[{}]::uuid[])", ids(&bad))).await;

    let (found, next) = malformed_of_pages(&world.scheduler, ALL, 100).await.unwrap();
    let mut expected = bad.clone();
    expected.sort_unstable();
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert_eq!((sorted, next), (expected, 0));
    let what = domain::task::Malformed::Row;
    assert_eq!(
        transition::malformed(&world.scheduler, &found, what).await.unwrap(),
        BAD.len() as u64
    );
    assert_eq!(malformed_of_pages(&world.scheduler, ALL, 100).await.unwrap().0, vec![]);
    for (_, task) in &good {
        assert_eq!(world.state(*task).await, Some(State::Running));
    }
    // Whoever submitted them sees why they ended.
    let scope = TenantScope::new(tenant);
    let shown = find(&world.api, &scope, &TaskFilter::default(), 100).await.unwrap();
    assert_eq!(shown.len(), all.len());
    let ended: Vec<_> = shown.iter().filter(|task| task.state == State::Failed).collect();
    assert_eq!(ended.len(), BAD.len());
    assert!(ended.iter().all(|task| task.reason.as_deref() == Some(what.reason())));
}

#[tokio::test]
async fn pages_are_looked_through_one_after_the_other() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    unguard(&world, "task").await;
    let tasks = world.store_ready(tenant, 400).await;
    let last = tasks.last().unwrap().1;
    world.sql(format!("update task set slots = 0 where id = '{}'", last.uuid())).await;
    let (mut from, mut looks, mut found) = (0, 0, Vec::new());
    loop {
        let page = Page { from, pages: 1 };
        let (bad, next) = malformed_of_pages(&world.scheduler, page, 10).await.unwrap();
        found.extend(bad);
        looks += 1;
        if next == 0 {
            break;
        }
        assert!(next > from);
        from = next;
    }
    assert_eq!(found, vec![(tenant, last)]);
    assert!(looks > 3, "{looks}");
}

#[tokio::test]
async fn each_bad_schedule_is_paused_with_the_reason_and_can_be_deleted() {
    let world = World::new().await;
    let scope = TenantScope::new(world.tenant().await);
    unguard(&world, "schedule").await;
    let bad = [
        "timing = null",
        "overlap = 'sideways'",
        "due_at = 'infinity', fire_at = now()",
        "created_at = '-infinity'",
        "version = null",
        "recent = null, fires = null",
    ];
    for number in 0..=bad.len() {
        let made = put(&world.api, &scope, &new_schedule(&format!("s{number}"))).await.unwrap();
        assert!(matches!(made, PutAnswer::Created(_)), "{made:?}");
    }
    let all = ListLimit { rows: 100, bytes: 1 << 20 };
    for (number, wrong) in bad.iter().enumerate() {
        world.sql(format!("update schedule set {wrong} where name = 's{number}'")).await;
    }
    assert_eq!(
        list(&world.api, &scope, None, all).await.unwrap().rows.len(),
        1,
        "the good one is listed"
    );
    let (paused, next) = pause_unsound(&world.scheduler, ALL, 100).await.unwrap();
    assert_eq!((paused.len(), next), (bad.len(), 0));
    assert_eq!(pause_unsound(&world.scheduler, ALL, 100).await.unwrap().0, vec![], "once");
    let told = "select count(*) from schedule where paused_because like 'malformed: %' and paused_by = 'system'
        and paused_at is not null and due_at is null and fire_at is null";
    assert_eq!(world.number(told).await, bad.len() as i64);
    for number in 0..=bad.len() {
        let gone = delete(&world.api, &scope, &format!("s{number}"), None).await.unwrap();
        assert_eq!(gone, DeleteAnswer::Deleted, "s{number}");
    }
    assert_eq!(world.number("select count(*) from schedule").await, 0);
}

#[tokio::test]
async fn bad_limits_fall_back_and_stop_no_other_tenant() {
    let world = World::new().await;
    let [first, second, third] = [world.tenant().await, world.tenant().await, world.tenant().await];
    for table in ["plan", "tenant"] {
        unguard(&world, table).await;
    }
    let usual = PlanLimits::default();
    world.sql("update plan set running_tasks = null, weight = 'NaN', backlog = -1 where name = 'free'").await;
    let of = |tenant: TenantId, set: &str| {
        format!("update tenant set {set} where id = '{}'", tenant.uuid())
    };
    world.sql(of(first, "plan = 'free'")).await;
    world.sql(of(second, "weight = -3")).await;
    world.sql(of(third, "state = 'merry'")).await;
    let terms = store::tenant::terms(&world.scheduler, &[first, second, third]).await.unwrap();
    let terms = |tenant| *terms.iter().find(|terms| terms.tenant == tenant).unwrap();
    assert_eq!(
        (terms(first).running_tasks, terms(first).weight),
        (usual.running_tasks, usual.weight)
    );
    assert_eq!(terms(second).weight, usual.weight);
    assert!(!terms(third).state.may_run(), "nobody knows whether it may");
    let watched = store::tenant::watched(&world.scheduler, None, 10).await.unwrap();
    let backlog = watched.iter().find(|one| one.tenant == first).unwrap().backlog;
    assert_eq!(backlog, u64::from(usual.backlog));
    let rooms = store::fire::rooms(&world.scheduler, &[first, second]).await.unwrap();
    assert!(rooms.iter().all(|(_, room)| *room > 0), "{rooms:?}");
    let plans = store::plan::list(&world.admin).await.unwrap();
    let free = plans.iter().find(|plan| plan.name.as_str() == "free").unwrap();
    assert_eq!(
        (free.limits.backlog, free.limits.running_tasks),
        (usual.backlog, usual.running_tasks)
    );
    assert_eq!(free.limits.submits_per_second, 10, "what is good of it holds");
    assert_eq!(free.limits.check(), Ok(()));
}

#[tokio::test]
async fn a_bad_limit_of_a_key_does_not_keep_the_batcher_from_looking() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    unguard(&world, "concurrency_limit").await;
    for running in ["-7", "2147483647", "null"] {
        world.sql("delete from concurrency_limit").await;
        world.sql(format!("insert into concurrency_limit (tenant_id, key, running) values ('{}', 'k', {running})", tenant.uuid())).await;
        let mut task = crate::support::new_task(tenant);
        task.concurrency_key = Some(domain::batch::ConcurrencyKey("k".into()));
        world.store(task).await;
        let seen = world.select_of_default().await;
        let strand = seen.strands.iter().find(|strand| strand.key.is_some()).unwrap();
        assert_eq!(strand.key.as_ref().unwrap().1, 1, "{running}: the usual limit");
    }
}

fn ids(tasks: &[(TenantId, domain::id::TaskId)]) -> String {
    tasks.iter().map(|(_, task)| format!("'{}'", task.uuid())).collect::<Vec<_>>().join(", ")
}

impl World {
    /// The dispatches that stand, as a resource manager would hold their hints.
    async fn dispatched_now(
        &self,
        tasks: &[(TenantId, domain::id::TaskId)],
    ) -> Vec<(TenantId, domain::id::TaskId, i32)> {
        let mut held = Vec::new();
        for (tenant, task) in tasks {
            let sql = format!(
                "select coalesce(dispatch_epoch, 0)::text from task where id = '{}'",
                task.uuid()
            );
            held.push((*tenant, *task, self.text(sql).await.unwrap().parse().unwrap()));
        }
        held
    }

    async fn select_of_default(&self) -> store::task::Selection {
        use domain::placement::Shapes;
        use domain::resources::Resources;
        let query = store::task::SelectionQuery {
            after: None,
            strands_per_tenant: 8,
            scanned_strands: 100,
            requested: &[],
            requested_strands: 1,
            rows: 100,
            rows_per_strand: 100,
            tenant_limits: &[],
            largest: Resources {
                cpu_millis: 64_000,
                memory_mib: 64_000,
                disk_mib: 640_000,
                iops: 64_000,
                ports: 64,
            },
            lacks: &Shapes::default(),
        };
        let pool = "default".parse().unwrap();
        store::task::select_ready(&self.scheduler, &pool, query).await.unwrap()
    }
}

#[tokio::test]
async fn times_beyond_all_clocks_are_read_without_a_panic() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    world.store_ready(tenant, 2).await;
    world.sql("update task set run_at = 'infinity', start_deadline = 'infinity'").await;
    let seen = world.select_of_default().await;
    assert_eq!(seen.strands.iter().map(|strand| strand.tasks.len()).sum::<usize>(), 2);
    world.sql("update task set start_deadline = '-infinity'; update task_spec set created_at = 'infinity'").await;
    world.select_of_default().await;
    let shown =
        find(&world.api, &TenantScope::new(tenant), &TaskFilter::default(), 10).await.unwrap();
    assert_eq!(shown.len(), 2);
    let one = store::task::get(&world.api, &TenantScope::new(tenant), shown[0].id).await.unwrap();
    assert!(one.is_some());
}
