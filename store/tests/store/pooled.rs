//! One tenant's setting never reaches the next request on the same connection.

use crate::support::{World, new_task};
use domain::id::{TaskId, TenantId};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnectOptions;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::connect::{ApiDb, SubmitDb};
use store::task::{TaskFilter, find, transition};
use testkit::poll::until_some;
use testkit::services::PrivatePgBouncer;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn parallel_requests_of_many_tenants_on_few_connections_see_only_their_own() {
    let world = World::new().await;
    let mut tenants = Vec::new();
    for _ in 0..10 {
        let tenant = world.tenant().await;
        world.store_ready(tenant, 3).await;
        tenants.push(tenant);
    }
    let api = Arc::new(world.api.clone());
    let mut requests = JoinSet::new();
    for client in 0..16_usize {
        let (api, tenants) = (Arc::clone(&api), tenants.clone());
        requests.spawn(async move {
            for turn in 0..100 {
                one_request(&api, tenants[(client + turn) % tenants.len()], turn).await;
            }
        });
    }
    requests.join_all().await;
}

async fn one_request(api: &ApiDb, tenant: TenantId, turn: usize) {
    let (scope, filter) = (TenantScope::of_role(tenant), TaskFilter::default());
    if turn.is_multiple_of(7) {
        // A request that goes away in the middle.
        let abandoned = find(api, &scope, &filter, 10);
        drop(runtime::clock::timeout(Duration::from_micros(300), abandoned).await);
        return;
    }
    let found = find(api, &scope, &filter, 10).await.unwrap();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|task| task.tenant == tenant));
}

#[tokio::test]
async fn after_a_scoped_read_the_connection_has_no_tenant_and_no_time_limit() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let task = world.store(new_task(tenant)).await;
    let scope = TenantScope::of_role(tenant);
    find(&world.api, &scope, &TaskFilter::default(), 10).await.unwrap();
    transition::cancel_requested(&world.api, &scope, &[task], Duration::ZERO).await.unwrap();
    // The same two statements by hand, on one connection, as a pooler would hand it on.
    let url = world.database.role_url("berth_api").unwrap();
    let pool = sqlx::postgres::PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
    let mut tx = pool.begin().await.unwrap();
    let set = format!(
        "select set_config('berth.tenant_id', '{}', true) || set_config('statement_timeout', '15000', true)",
        tenant.uuid()
    );
    sqlx::query_scalar::<_, String>(AssertSqlSafe(set)).fetch_one(&mut *tx).await.unwrap();
    let count = "select count(*) from task_history";
    assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(&mut *tx).await.unwrap(), 1);
    tx.commit().await.unwrap();
    assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(&pool).await.unwrap(), 0);
    assert_eq!(
        sqlx::query_scalar::<_, String>("show statement_timeout").fetch_one(&pool).await.unwrap(),
        "0"
    );
}

#[tokio::test]
async fn an_expensive_read_is_cut_off_and_told_apart() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    world.store_ready(tenant, 5).await;
    let impatient = runtime::config::DatabaseConfig {
        statement_timeout: Duration::from_millis(200),
        ..crate::support::config(&world.database)
    };
    let api = ApiDb::connect(&impatient).unwrap();
    let mut blocker = world.owner.begin().await.unwrap();
    sqlx::raw_sql("lock table task in access exclusive mode").execute(&mut *blocker).await.unwrap();
    let error =
        find(&api, &TenantScope::of_role(tenant), &TaskFilter::default(), 10).await.unwrap_err();
    assert!(matches!(error, store::StoreError::Timeout), "{error:?}");
    assert!(error.is_retryable() && !error.outcome_unknown());
    blocker.rollback().await.unwrap();
    assert_eq!(
        find(&api, &TenantScope::of_role(tenant), &TaskFilter::default(), 10).await.unwrap().len(),
        5
    );
}

#[tokio::test]
async fn with_a_pooler_in_front_nothing_rests_on_named_statements() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let pooled =
        runtime::config::DatabaseConfig { pooler: true, ..crate::support::config(&world.database) };
    let (api, submit) = (ApiDb::connect(&pooled).unwrap(), SubmitDb::connect(&pooled).unwrap());
    for stored in 1..4 {
        store::task::submit::insert(&submit, &[new_task(tenant)]).await.unwrap();
        let found =
            find(&api, &TenantScope::of_role(tenant), &TaskFilter::default(), 10).await.unwrap();
        assert_eq!(found.len(), stored);
    }
}

/// Requests of each of the clients; 10 000 in all.
const TURNS: usize = 625;

/// C2: ten tenants by sixteen clients at once, over three connections that `PgBouncer` hands from transaction to transaction.
#[tokio::test(flavor = "multi_thread")]
async fn behind_a_transaction_pooler_ten_thousand_requests_see_only_their_own() {
    if !PrivatePgBouncer::is_installed() {
        eprintln!("SKIPPED: PgBouncer is not installed; scripts/setup installs it");
        return;
    }
    let world = World::new().await;
    let mut tenants = Vec::new();
    for _ in 0..10 {
        let tenant = world.tenant().await;
        tenants.push((tenant, world.store_ready(tenant, 3).await[0].1));
    }
    let pooler =
        PrivatePgBouncer::start(&world.database.role_url("berth_api").unwrap()).await.unwrap();
    let config = runtime::config::DatabaseConfig {
        pooler: true,
        api_url: pooler.url().into(),
        ..crate::support::config(&world.database)
    };
    let (api, tenants) = (ApiDb::connect(&config).unwrap(), Arc::new(tenants));
    let mut requests = JoinSet::new();
    for client in 0..16_usize {
        let (api, tenants) = (api.clone(), Arc::clone(&tenants));
        requests.spawn(async move {
            for turn in 0..TURNS {
                let at = (client + turn) % tenants.len();
                mixed_request(&api, tenants[at], tenants[(at + 1) % tenants.len()].1, turn).await;
            }
        });
    }
    requests.join_all().await;
    let connections = "select count(*) from pg_stat_activity where usename = 'berth_api' and datname = current_database()";
    // The last requests may just have gone away in the middle: the pooler ends such a connection, and its process takes a moment to go.
    let few = || async { (1..=3).contains(&world.number(connections).await).then_some(()) };
    until_some("all of it went over three", Duration::from_secs(5), few).await.unwrap();
    let options: PgConnectOptions = pooler.url().parse().unwrap();
    // Of what sqlx asks for by itself PgBouncer refuses this.
    let bare = sqlx::PgPool::connect_with(options.extra_float_digits(None)).await.unwrap();
    for _ in 0..30 {
        let left = sqlx::raw_sql("select id from task").fetch_optional(&bare).await.unwrap();
        assert!(left.is_none(), "a tenant is left on a connection");
    }
}

/// One of what a tenant asks: a list of tasks or of keys, one task by its id, somebody else's task, a cancel; and one that goes away.
async fn mixed_request(
    api: &ApiDb,
    (tenant, own): (TenantId, TaskId),
    foreign: TaskId,
    turn: usize,
) {
    let scope = TenantScope::of_role(tenant);
    match turn % 6 {
        0 => assert!(store::task::get(api, &scope, foreign).await.unwrap().is_none()),
        1 => {
            let found = store::task::get(api, &scope, own).await.unwrap().unwrap();
            assert_eq!((found.id, found.tenant), (own, tenant));
        }
        2 => {
            let keys = store::key::list(api, &scope, None, None, 10).await.unwrap();
            assert!(keys.is_empty());
        }
        3 => {
            let answers = transition::cancel_requested(api, &scope, &[foreign], Duration::ZERO)
                .await
                .unwrap();
            assert_eq!(answers, [transition::CancelAnswer::NotFound]);
        }
        4 => one_request(api, tenant, 1).await,
        // Gone in the middle.
        _ => one_request(api, tenant, 0).await,
    }
}
