//! One tenant's setting never reaches the next request on the same connection.

use crate::support::{World, new_task};
use domain::id::TenantId;
use sqlx::AssertSqlSafe;
use std::sync::Arc;
use std::time::Duration;
use store::TenantScope;
use store::connect::ApiDb;
use store::task::{TaskFilter, find, transition};
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
    let (scope, filter) = (TenantScope::new(tenant), TaskFilter::default());
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
    let scope = TenantScope::new(tenant);
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
        find(&api, &TenantScope::new(tenant), &TaskFilter::default(), 10).await.unwrap_err();
    assert!(matches!(error, store::StoreError::Timeout), "{error:?}");
    assert!(error.is_retryable() && !error.outcome_unknown());
    blocker.rollback().await.unwrap();
    assert_eq!(
        find(&api, &TenantScope::new(tenant), &TaskFilter::default(), 10).await.unwrap().len(),
        5
    );
}

#[tokio::test]
async fn with_a_pooler_in_front_nothing_rests_on_named_statements() {
    let world = World::new().await;
    let tenant = world.tenant().await;
    let pooled =
        runtime::config::DatabaseConfig { pooler: true, ..crate::support::config(&world.database) };
    let (api, submit) =
        (ApiDb::connect(&pooled).unwrap(), store::connect::SubmitDb::connect(&pooled).unwrap());
    for stored in 1..4 {
        store::task::submit::insert(&submit, &[new_task(tenant)]).await.unwrap();
        let found =
            find(&api, &TenantScope::new(tenant), &TaskFilter::default(), 10).await.unwrap();
        assert_eq!(found.len(), stored);
    }
}
