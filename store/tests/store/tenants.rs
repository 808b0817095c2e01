//! Plans, and what becomes of suspended and deleted tenants.

use crate::support::{World, id_days_off, two_tenants};
use domain::id::{NodeId, PlanName, TenantId};
use domain::plan::PlanLimits;
use domain::task::State;
use domain::tenant::TenantState;
use std::time::Duration;
use store::audit::By;
use store::plan::{self, Deleted, PlanStored};
use store::task::transition::{self, EndedTasks};
use store::tenant::{self, Changed, Stood, TenantChange};

const GRACE: Duration = Duration::from_secs(3600);

fn name(text: &str) -> PlanName {
    text.parse().unwrap()
}

/// What bills are made of stays.
const BILLED: [&str; 5] = ["tenant_plan", "usage_rollup", "tenant_billing", "invoice", "credit"];

/// What a purge keeps, and nothing else: the audit outlives what it tells of (docs/audit.md).
const KEPT: [&str; 3] = ["audit", "audit_seal", "audit_head"];

/// Rows of a tenant that a purge is to take, in whatever table knows tenants.
async fn rows_of(world: &World, tenant: TenantId) -> i64 {
    let id = tenant.uuid();
    let tables = world
        .text(
            "select string_agg(c.relname, ' ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
                join pg_attribute a on a.attrelid = c.oid
                where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'tenant_id'",
        )
        .await
        .unwrap();
    assert!(KEPT.iter().all(|kept| tables.split(' ').any(|table| table == *kept)), "{tables}");
    let counts: Vec<_> = tables
        .split(' ')
        .filter(|table| !KEPT.contains(table) && !BILLED.contains(table))
        .map(|table| format!("(select count(*) from {table} where tenant_id = '{id}')"))
        .collect();
    assert!(counts.len() > 12, "{tables}");
    world.number(format!("select {}", counts.join(" + "))).await
}

/// The audit of a tenant, sealed and not.
async fn audit_of(world: &World, tenant: TenantId) -> i64 {
    let counts = KEPT.map(|table| {
        format!("(select count(*) from {table} where tenant_id = '{}')", tenant.uuid())
    });
    world.number(format!("select {}", counts.join(" + "))).await
}

/// As if it had been deleted before the grace began.
async fn grace_is_over(world: &World, tenant: TenantId) {
    let sql = "update tenant set deleted_at = now() - interval '2 hours' where id = ";
    world.sql(format!("{sql}'{}'", tenant.uuid())).await;
}

#[tokio::test]
async fn the_two_plans_of_a_new_installation_are_as_documented() {
    let world = World::new().await;
    let plans = plan::list(&world.admin).await.unwrap();
    let names: Vec<_> = plans.iter().map(|plan| plan.name.as_str()).collect();
    assert_eq!(names, ["default", "free"]);
    assert_eq!(plans[0].limits, PlanLimits::default());
    let free = plans[1].limits;
    assert_eq!((free.submits_per_second, free.submit_burst, free.submits_per_hour), (10, 20, 1000));
    assert_eq!((free.running_tasks, free.backlog), (5, 1000));
    assert!(plans.iter().all(|plan| plan.limits.check().is_ok()));
}

#[tokio::test]
async fn a_plan_is_stored_changed_and_deleted_when_nobody_is_on_it() {
    let world = World::new().await;
    let team = name("team");
    let limits = PlanLimits { backlog: 77, weight: 2.5, flexible: true, ..PlanLimits::default() };
    let put = async |if_version, limits: &PlanLimits| {
        plan::put(&world.admin, &team, if_version, limits, By::SYSTEM).await.unwrap()
    };
    assert_eq!(put(Some(1), &limits).await, PlanStored::VersionMismatch { version: None });
    assert!(matches!(put(Some(0), &limits).await, PlanStored::Created(plan) if plan.version == 1));
    let changed = PlanLimits { backlog: 78, flexible: false, ..limits };
    for other in [Some(0), Some(2)] {
        let mismatch = PlanStored::VersionMismatch { version: Some(1) };
        assert_eq!(put(other, &changed).await, mismatch, "nothing is stored");
    }
    assert!(matches!(put(Some(1), &changed).await, PlanStored::Updated(plan) if plan.version == 2));
    assert!(matches!(put(None, &changed).await, PlanStored::Unchanged(plan) if plan.version == 2));
    let found = plan::find(&world.admin, &team).await.unwrap().unwrap();
    assert_eq!((found.limits, found.version), (changed, 2));
    let shown = plan::list_for_customers(&world.submit).await.unwrap();
    assert!(shown.contains(&(team.clone(), changed)));

    let tenant = world.tenant().await;
    let to = |plan: &PlanName| TenantChange { plan: Some(plan.clone()), weight: None };
    assert_eq!(
        tenant::change(&world.admin, tenant, &to(&team), By::SYSTEM).await.unwrap(),
        Changed::Yes
    );
    let delete =
        async |if_version| plan::delete(&world.admin, &team, if_version, By::SYSTEM).await.unwrap();
    assert_eq!(delete(None).await, Deleted::InUse);
    let none = name("none");
    assert_eq!(
        tenant::change(&world.admin, tenant, &to(&none), By::SYSTEM).await.unwrap(),
        Changed::NoSuchPlan
    );
    let terms = tenant::terms(&world.scheduler, &[tenant]).await.unwrap();
    assert_eq!(terms[0].weight, 2.5, "the plan's");
    let own = TenantChange { plan: Some(PlanName::default()), weight: Some(Some(9.0)) };
    assert_eq!(tenant::change(&world.admin, tenant, &own, By::SYSTEM).await.unwrap(), Changed::Yes);
    let terms = tenant::terms(&world.scheduler, &[tenant]).await.unwrap();
    assert_eq!(terms[0].weight, 9.0, "its own");
    let plans = TenantChange { plan: None, weight: Some(None) };
    tenant::change(&world.admin, tenant, &plans, By::SYSTEM).await.unwrap();
    assert_eq!(tenant::get(&world.admin, tenant).await.unwrap().unwrap().weight, None);

    assert_eq!(delete(Some(1)).await, Deleted::VersionMismatch { version: 2 });
    assert_eq!(delete(Some(2)).await, Deleted::Yes);
    assert_eq!(delete(None).await, Deleted::NotFound);
}

#[tokio::test]
async fn the_database_refuses_what_the_ranges_refuse() {
    let world = World::new().await;
    let good = PlanLimits::default();
    for (column, bad) in [
        ("submits_per_second", PlanLimits { submits_per_second: 0, ..good }),
        ("submit_burst", PlanLimits { submit_burst: 10_000_001, ..good }),
        ("submits_per_hour", PlanLimits { submits_per_hour: 2_000_000_001, ..good }),
        ("running_tasks", PlanLimits { running_tasks: 0, ..good }),
        ("backlog", PlanLimits { backlog: 100_000_001, ..good }),
        ("schedules", PlanLimits { schedules: 10_000_001, ..good }),
        ("payload_bytes", PlanLimits { payload_bytes: 1023, ..good }),
        ("stored_output_bytes", PlanLimits { stored_output_bytes: (1 << 50) + 1, ..good }),
        ("retention_days", PlanLimits { retention_days: 3651, ..good }),
        ("weight", PlanLimits { weight: 0.0, ..good }),
    ] {
        assert_eq!(bad.check().unwrap_err()[0].limit, column);
        let refused = plan::put(&world.admin, &name("bad"), None, &bad, By::SYSTEM).await;
        let refused = refused.unwrap_err();
        assert_eq!(refused.sqlstate().as_deref(), Some("23514"), "{column}");
    }
}

#[tokio::test]
async fn a_tenant_stands_as_it_was_told_and_each_word_may_be_repeated() {
    let world = World::new().await;
    let (admin, tenant) = (&world.admin, world.tenant().await);
    let state = async || tenant::get(admin, tenant).await.unwrap().unwrap().state;
    for _ in 0..2 {
        assert_eq!(tenant::suspend(admin, tenant, By::SYSTEM).await.unwrap(), Stood::Yes);
        assert_eq!(state().await, TenantState::Suspended);
    }
    for _ in 0..2 {
        assert_eq!(tenant::resume(admin, tenant, By::SYSTEM).await.unwrap(), Stood::Yes);
        assert_eq!(state().await, TenantState::Active);
    }
    for _ in 0..2 {
        assert_eq!(tenant::delete(admin, tenant, By::SYSTEM).await.unwrap(), Stood::Yes);
        assert_eq!(state().await, TenantState::Deleted);
    }
    let deleted = Stood::Not(TenantState::Deleted);
    assert_eq!(tenant::resume(admin, tenant, By::SYSTEM).await.unwrap(), deleted);
    assert_eq!(tenant::suspend(admin, tenant, By::SYSTEM).await.unwrap(), deleted);
    let change = TenantChange::default();
    assert_eq!(
        tenant::change(admin, tenant, &change, By::SYSTEM).await.unwrap(),
        Changed::NotFound
    );
    let nobody = TenantId::fresh();
    assert_eq!(tenant::suspend(admin, nobody, By::SYSTEM).await.unwrap(), Stood::NotFound);
    assert_eq!(tenant::get(admin, nobody).await.unwrap(), None);
}

#[tokio::test]
async fn tenants_are_listed_newest_first_page_by_page() {
    let world = World::new().await;
    let mut all = Vec::new();
    for _ in 0..5 {
        all.insert(0, world.tenant().await);
    }
    tenant::suspend(&world.admin, all[1], By::SYSTEM).await.unwrap();
    let ids = async |state, before, limit| -> Vec<TenantId> {
        let found = tenant::list(&world.admin, state, before, limit).await.unwrap();
        found.iter().map(|tenant| tenant.id).collect()
    };
    assert_eq!(ids(None, None, 3).await, all[..3]);
    assert_eq!(ids(None, Some(all[2]), 3).await, all[3..]);
    assert_eq!(ids(Some(TenantState::Suspended), None, 9).await, all[1..2]);
}

#[tokio::test]
async fn hints_of_a_tenant_are_found_with_their_dispatches() {
    let world = World::new().await;
    let leader = world.lead(NodeId::fresh()).await;
    let [one, other] = [world.tenant().await, world.tenant().await];
    let tasks = world.store_ready(one, 3).await;
    let mut dispatched = world.dispatch(leader, &tasks[..2]).await;
    world.dispatch(leader, &world.store_ready(other, 2).await).await;
    let mut queued = store::task::queued(&world.scheduler, &[one], 100).await.unwrap();
    queued.sort_unstable();
    dispatched.sort_unstable();
    assert_eq!(queued, dispatched);
    assert_eq!(transition::dispatch_stale(&world.scheduler, &queued).await.unwrap(), 2);
    assert!(store::task::queued(&world.scheduler, &[one], 100).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_deleted_tenants_tasks_are_cancelled_in_pieces_and_nobody_elses() {
    let world = World::new().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let [one, other] = [world.tenant().await, world.tenant().await];
    let mut put = Vec::new();
    for tenant in [one, other] {
        for state in [
            State::Scheduled,
            State::Ready,
            State::Queued,
            State::Running,
            State::Cancelling,
            State::Retrying,
        ] {
            put.push((tenant, state, world.put(leader, owned, tenant, state).await.task));
        }
    }
    let before = rows_of(&world, other).await;
    let raise = async || {
        transition::tenant_deleted(&world.scheduler, one, Duration::from_secs(40), 2).await.unwrap()
    };
    assert_eq!(raise().await, EndedTasks::default(), "it is not deleted");
    tenant::delete(&world.admin, one, By::SYSTEM).await.unwrap();
    let mut moved = (0, 0);
    for _ in 0..4 {
        let EndedTasks { cancelled, asked } = raise().await;
        assert!(cancelled + asked <= 2, "a bounded piece");
        moved = (moved.0 + cancelled, moved.1 + asked);
    }
    assert_eq!(moved, (4, 1));
    assert_eq!(raise().await, EndedTasks::default(), "again changes nothing");
    for (tenant, state, task) in put {
        let wanted = match state {
            _ if tenant == other => state,
            State::Running | State::Cancelling => State::Cancelling,
            _ => State::Cancelled,
        };
        assert_eq!(world.state(task).await, Some(wanted), "{state}");
    }
    assert_eq!(rows_of(&world, other).await, before);
    world.check_promises(12).await;
}

#[tokio::test]
async fn a_purge_waits_for_the_grace_and_for_the_last_task() {
    let world = World::new().await;
    let [one, _] = two_tenants(&world).await;
    let due = async || tenant::deleted(&world.scheduler, GRACE, 100).await.unwrap();
    let purge = async || tenant::purge(&world.scheduler, one, GRACE, 100).await.unwrap();
    assert_eq!((due().await.len(), purge().await), (0, None), "it is not deleted");
    tenant::delete(&world.admin, one, By::SYSTEM).await.unwrap();
    let found = due().await;
    assert_eq!((found.len(), found[0].tenant, found[0].has_tasks), (1, one, true));
    grace_is_over(&world, one).await;
    assert_eq!(purge().await, None, "tasks of it live");
    world.sql(format!("delete from task where tenant_id = '{}'", one.uuid())).await;
    world.sql(format!("update tenant set deleted_at = now() where id = '{}'", one.uuid())).await;
    assert_eq!((due().await.len(), purge().await), (0, None), "its grace is not over");
    grace_is_over(&world, one).await;
    assert!(!due().await[0].has_tasks);
    assert_eq!(purge().await, Some("schedule"));
}

/// Keys of a tenant of which each took the place of the one before.
async fn replaced_keys(world: &World, tenant: TenantId) {
    let ids = ["cccccccccccc", "dddddddddddd", "eeeeeeeeeeee"];
    for id in ids {
        let key = format!(
            "'{id}', '{}', 'ci', decode(repeat('00', 32), 'hex'), '{{read}}'",
            tenant.uuid()
        );
        world
            .sql(format!("insert into api_key (id, tenant_id, name, hash, scopes) values ({key})"))
            .await;
    }
    for pair in ids.windows(2) {
        let [old, new] = pair else { unreachable!() };
        world.sql(format!("update api_key set replaced_by = '{new}' where id = '{old}'")).await;
    }
}

/// Each step is killed before it commits, done, and the whole is begun anew after each.
#[tokio::test]
async fn a_purge_that_is_killed_anywhere_and_repeated_leaves_a_nameless_row_and_nothing_else() {
    let world = World::new().await;
    let [one, other] = two_tenants(&world).await;
    // A spec that outlived its history, kept for somebody else's sake.
    let old = id_days_off(-40);
    let spec = "insert into task_spec (id, tenant_id, created_at, run_at, run, delay_tolerance_ms, key_id)";
    for (id, tenant) in [(old, one), (id_days_off(-40), other)] {
        let (id, tenant) = (id.uuid(), tenant.uuid());
        world
            .sql(format!("{spec} values ('{id}', '{tenant}', now(), now(), '{{}}', 1, 'k')"))
            .await;
    }
    replaced_keys(&world, one).await;
    tenant::delete(&world.admin, one, By::SYSTEM).await.unwrap();
    world
        .sql(format!(
            "delete from task_spec where tenant_id = '{}' and id in (select id from task)",
            one.uuid()
        ))
        .await;
    world.sql(format!("delete from task where tenant_id = '{}'", one.uuid())).await;
    grace_is_over(&world, one).await;
    let (others, all) = (rows_of(&world, other).await, rows_of(&world, one).await);
    assert!(all > 15, "{all}");
    assert!(store::audit::seal_batch(&world.scheduler, 1000).await.unwrap() > 0);
    let told = audit_of(&world, one).await;
    assert!(told > 2, "{told}");

    let mut steps = Vec::new();
    loop {
        let before = rows_of(&world, one).await;
        for part in [
            "task_output",
            "task_result",
            "attempt",
            "task_history",
            "task_spec",
            "idempotency",
            "others",
        ] {
            // Killed in the middle: undone.
            world
                .sql(format!(
                    "begin; select berth_tenant_purge('{part}', '{}', interval '1 hour', 1); rollback",
                    one.uuid()
                ))
                .await;
        }
        assert_eq!(rows_of(&world, one).await, before);
        let Some(part) = tenant::purge(&world.scheduler, one, GRACE, 1).await.unwrap() else {
            break;
        };
        steps.push(part);
        assert!(steps.len() < 200, "{steps:?}");
        let taken = before - rows_of(&world, one).await;
        // History goes with its spec, and a schedule with its earlier versions.
        let most = if ["task_history", "schedule"].contains(&part) { 2 } else { 1 };
        assert!(taken <= most, "{taken} rows of {part}");
    }
    assert_eq!(rows_of(&world, one).await, 0);
    assert_eq!(audit_of(&world, one).await, told + 1, "the audit is kept, and told of the purge");
    let last = "select action || ' by ' || actor_kind from audit order by id desc limit 1";
    assert_eq!(world.text(last).await.as_deref(), Some("tenant.purge by system"));
    assert!(steps.iter().filter(|part| **part == "task_history").count() >= 7, "{steps:?}");
    assert_eq!(steps.last(), Some(&tenant::LAST_PART));
    let tombstone = tenant::get(&world.admin, one).await.unwrap().unwrap();
    assert_eq!((tombstone.name, tombstone.state), (None, TenantState::Deleted));
    assert!(tombstone.purged_at.is_some());
    assert!(tenant::deleted(&world.scheduler, GRACE, 100).await.unwrap().is_empty());
    assert_eq!(rows_of(&world, other).await, others, "nobody else's");
}
