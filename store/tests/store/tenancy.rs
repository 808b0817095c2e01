//! One tenant reads, writes and reaches nothing of another, and one bad row spoils no other.

use crate::support::{World, ended, log_in, new_task, refused, two_tenants};
use chrono::TimeDelta;
use domain::id::NodeId;
use domain::task::{Event, State};
use domain::tenant::TenantState;
use domain::time::Timestamp;
use sqlx::{AssertSqlSafe, Executor};
use std::time::Duration;
use store::TenantScope;
use store::connect::ApiDb;
use store::cost::{CostQuery, CostRow, Group, Step};
use store::output::OutputFilter;
use store::task::TaskFilter;
use store::task::transition::{self, CancelAnswer};

#[tokio::test]
async fn a_row_of_another_tenant_cannot_be_written_either() {
    let world = World::new().await;
    let [one, other] = two_tenants(&world).await;
    let api = log_in(&world, "berth_api").await;
    let as_one = |sql: String| {
        format!(
            "begin; select set_config('berth.tenant_id', '{}', true); {sql}; commit",
            one.uuid()
        )
    };
    let theirs = other.uuid();
    let before = world.fingerprint(None).await;
    for sql in [
        format!("insert into idempotency (tenant_id, route, key, body_hash) values ('{theirs}', 'r', 'x', decode(repeat('00', 32), 'hex'))"),
        format!("update task set tenant_id = '{theirs}'"),
        format!("insert into task_history select * from task_history where false union all select '{theirs}', id, pool, state, tier, cpu_millis,
            memory_mib, disk_mib, iops, ports, run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late,
            at_most_once, unique_key, first_started_at, finished_at, reason, exit_code from task_history"),
    ] {
        assert_eq!(refused(&api, &as_one(sql.clone())).await.as_deref(), Some("42501"), "{sql}");
        api.execute("rollback").await.unwrap();
    }
    assert_eq!(
        refused(
            &api,
            &as_one(format!("update task set state = state where tenant_id = '{theirs}'"))
        )
        .await,
        None
    );
    assert_eq!(
        refused(&api, &as_one(format!("delete from task where tenant_id = '{theirs}'"))).await,
        None
    );
    assert_eq!(world.fingerprint(None).await, before, "what is not seen is not touched");
}

#[tokio::test]
async fn one_tenant_reaches_nothing_of_another_through_any_function() {
    let world = World::new().await;
    let [one, other] = two_tenants(&world).await;
    let scope = TenantScope::of_role(one);
    let api = &world.api;
    let theirs: Vec<domain::id::TaskId> = sqlx::query_scalar::<_, uuid::Uuid>(AssertSqlSafe(format!(
        "select id from task where tenant_id = '{0}' union all select id from task_history where tenant_id = '{0}'",
        other.uuid()
    )))
    .fetch_all(&world.owner)
    .await
    .unwrap()
    .into_iter()
    .map(domain::id::TaskId)
    .collect();
    assert_eq!(theirs.len(), State::ALL.len());
    let before = world.fingerprint(None).await;
    for task in &theirs {
        assert_eq!(store::task::get(api, &scope, *task).await.unwrap(), None);
        assert!(store::attempt::list(api, &scope, *task, 0, 100).await.unwrap().is_empty());
        assert!(
            store::output::read(api, &scope, *task, OutputFilter::default(), 100)
                .await
                .unwrap()
                .chunks
                .is_empty()
        );
    }
    let answers = transition::cancel_requested(api, &scope, &theirs, Duration::ZERO).await.unwrap();
    assert!(answers.iter().all(|answer| *answer == CancelAnswer::NotFound), "{answers:?}");
    assert_eq!(world.fingerprint(None).await, before);
    let found = store::task::find(api, &scope, &TaskFilter::default(), 1000).await.unwrap();
    assert_eq!(found.len(), State::ALL.len());
    assert!(found.iter().all(|task| task.tenant == one));
    let cursor = TaskFilter { before: theirs.iter().max().copied(), ..TaskFilter::default() };
    assert!(
        store::task::find(api, &scope, &cursor, 1000)
            .await
            .unwrap()
            .iter()
            .all(|task| task.tenant == one)
    );
    crate::rollup::count(&world).await;
    let mine = world
        .number(format!("select count(*) from attempt where tenant_id = '{}'", one.uuid()))
        .await;
    assert_eq!(used(api, &scope).await.iter().map(|row| row.amounts.attempts).sum::<i64>(), mine);
}

/// What the tenant used, ever.
async fn used(api: &ApiDb, scope: &TenantScope) -> Vec<CostRow> {
    let (from, until) = (Timestamp::UNIX_EPOCH, runtime::clock::wall() + TimeDelta::days(1));
    let all = CostQuery { from, until, step: Step::Day, group: Group::Tier };
    store::cost::list(api, scope, &all).await.unwrap()
}

#[tokio::test]
async fn a_suspended_tenants_keys_say_so() {
    let world = World::new().await;
    let [one, _] = two_tenants(&world).await;
    let find = async || store::key::find(&world.submit, "aaaaaaaaaaaa").await.unwrap().unwrap();
    let key = find().await;
    assert_eq!((key.tenant, key.tenant_state, key.hash.len()), (one, TenantState::Active, 32));
    world.sql(format!("update tenant set state = 'suspended' where id = '{}'", one.uuid())).await;
    assert_eq!(find().await.tenant_state, TenantState::Suspended);
    assert!(store::key::find(&world.submit, "zzzzzzzzzzzz").await.unwrap().is_none());
    store::key::touch_last_used(&world.submit, &["aaaaaaaaaaaa".to_owned(), "nobody".to_owned()])
        .await
        .unwrap();
    assert_eq!(
        world.number("select count(*) from api_key where last_used_at is not null").await,
        1
    );
}

#[tokio::test]
async fn a_malformed_row_fails_its_reader_and_nobody_else() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let (leader, owned) = (world.lead(NodeId::fresh()).await, world.open(NodeId::fresh()).await);
    let [good, bad] = [world.store(new_task(tenant)).await, world.store(new_task(tenant)).await];
    world.sql(format!("delete from task_spec where id = '{}'", bad.uuid())).await;
    let leases =
        world.place(owned, &world.dispatch(leader, &[(tenant, good), (tenant, bad)]).await).await;
    assert_eq!(leases.len(), 2, "a lease that was granted is told, or nobody would ever end it");
    let told: Vec<_> = leases.iter().map(|lease| ended(*lease, Event::AttemptsExhausted)).collect();
    transition::attempts_exhausted(&world.rm, &told).await.unwrap();
    assert_eq!(world.state(bad).await, Some(State::Failed));
}
