//! What the service roles see and may do.

use crate::support::{World, log_in, refused, two_tenants};
use sqlx::AssertSqlSafe;

const ROLES: [&str; 6] =
    ["berth_api", "berth_submit", "berth_scheduler", "berth_rm", "berth_notifier", "berth_admin"];

async fn tables_with_a_tenant(world: &World) -> Vec<String> {
    sqlx::query_scalar(
        "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = 'public' and c.relkind in ('r', 'p', 'v')
                and (c.relname = 'tenant' or exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id'))",
    )
    .fetch_all(&world.owner)
    .await
    .unwrap()
}

#[tokio::test]
async fn every_table_of_tenants_and_every_partition_forces_row_level_security() {
    let world = World::new().await;
    let open = world
        .text(
            "select string_agg(c.relname, ' ') from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where n.nspname = 'public' and c.relkind in ('r', 'p')
                    and (c.relname in ('tenant', 'api_key') or exists (
                        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id'))
                    and not (c.relrowsecurity and c.relforcerowsecurity)",
        )
        .await;
    assert_eq!(open, None);
    let partitions = world.number("select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relkind = 'r'").await;
    assert!(partitions >= 40, "{partitions}");
}

#[tokio::test]
async fn no_service_role_owns_anything_is_superuser_or_passes_row_level_security() {
    let world = World::new().await;
    let roles = "from pg_roles where rolname like 'berth\\_%'";
    assert_eq!(world.number(format!("select count(*) {roles}")).await, 6);
    let mighty = format!(
        "select count(*) {roles} and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolinherit)"
    );
    assert_eq!(world.number(mighty).await, 0);
    let owns = "select count(*) from pg_class c join pg_roles r on r.oid = c.relowner where r.rolname like 'berth\\_%'";
    assert_eq!(world.number(owns).await, 0);
    let member = "select count(*) from pg_auth_members m join pg_roles r on r.oid = m.member where r.rolname like 'berth\\_%'";
    assert_eq!(world.number(member).await, 0);
}

#[tokio::test]
async fn without_a_tenant_the_api_sees_no_row_of_any_table() {
    let world = World::new().await;
    two_tenants(&world).await;
    let api = log_in(&world, "berth_api").await;
    let mut seen = 0;
    for table in tables_with_a_tenant(&world).await {
        let all = world.number(format!("select count(*) from {table}")).await;
        let count =
            sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!("select count(*) from {table}")));
        match count.fetch_one(&api).await {
            Ok(count) => assert_eq!(count, 0, "{table} of {all}"),
            Err(error) => {
                assert_eq!(error.as_database_error().unwrap().code().unwrap(), "42501", "{table}")
            }
        }
        seen += all;
    }
    assert!(seen > 50, "there was something to see: {seen}");
}

/// Tables with rows of tenants that operators read.
const BY_OPERATORS: [&str; 9] = [
    "tenant",
    "tenant_past_state",
    "tenant_plan",
    "attempt",
    "task_spec",
    "api_key",
    "audit",
    "audit_seal",
    "audit_head",
];

#[tokio::test]
async fn other_roles_see_across_tenants_just_the_tables_of_their_statements() {
    let world = World::new().await;
    two_tenants(&world).await;
    assert!(store::audit::seal_batch(&world.scheduler, 1000).await.unwrap() > 0);
    let sees = |role: &str| match role {
        "berth_submit" => {
            vec![
                "tenant",
                "api_key",
                "app_user",
                "sign_in",
                "refresh_token",
                "task",
                // How parents ended, and nothing else.
                "task_history",
                "idempotency",
                "rate_checkpoint",
                "schedule",
            ]
        }
        "berth_scheduler" => {
            vec![
                "tenant",
                // When they ended, and nothing else.
                "api_key",
                "task",
                "task_spec",
                "task_history",
                "task_result",
                "attempt",
                "idempotency",
                "output_use",
                "tenant_quota_level",
                "task_event",
                "event_consumer",
                "concurrency_limit",
                "schedule",
                "schedule_fire",
                "schedule_backfill",
                "schedule_span",
                "tenant_past_state",
                "audit",
                "audit_seal",
                "audit_head",
                "tenant_plan",
            ]
        }
        "berth_rm" => vec![
            "tenant",
            "task",
            "task_spec",
            "task_history",
            "attempt",
            "task_output",
            "output_use",
            "event_consumer",
        ],
        "berth_notifier" => {
            vec!["webhook", "webhook_delivery", "task_event", "task_spec", "schedule"]
        }
        "berth_admin" => BY_OPERATORS.to_vec(),
        _ => vec![],
    };
    for role in &ROLES[1..] {
        let pool = log_in(&world, role).await;
        for table in tables_with_a_tenant(&world).await {
            let count = sqlx::query_scalar::<_, i64>(AssertSqlSafe(format!(
                "select count(*) from {table}"
            )))
            .fetch_one(&pool)
            .await;
            let expected = sees(role).contains(&table.as_str());
            assert_eq!(count.is_ok_and(|count| count > 0), expected, "{role} reads {table}");
        }
    }
}

#[tokio::test]
#[expect(
    clippy::too_many_lines,
    reason = "one line a statement: cut in two it would be harder to read"
)]
async fn what_a_role_has_no_statement_for_it_may_not_do() {
    let world = World::new().await;
    let tries = [
        ("berth_api", "insert into task select * from task"),
        ("berth_api", "update task_history set state = 'succeeded'"),
        ("berth_api", "delete from task_history"),
        ("berth_api", "delete from attempt"),
        ("berth_api", "update attempt set usage_ms = 0"),
        ("berth_api", "select owner from executor_session"),
        ("berth_api", "select * from leadership"),
        ("berth_api", "update api_key set scopes = '{admin}'"),
        ("berth_api", "update tenant set weight = 1000"),
        ("berth_api", "select berth_partition_drop('attempt', '2100-01-01')"),
        ("berth_api", "truncate task"),
        ("berth_submit", "update task set state = 'ready'"),
        ("berth_submit", "delete from task"),
        ("berth_submit", "update api_key set scopes = '{admin}'"),
        ("berth_submit", "delete from idempotency"),
        ("berth_submit", "select * from attempt"),
        ("berth_submit", "select run from task_spec"),
        ("berth_submit", "select reason from task_history"),
        ("berth_admin", "select * from installation"),
        ("berth_api", "select berth_schedules_resume()"),
        ("berth_api", "update rate_checkpoint set used = 0"),
        ("berth_api", "select * from api_replica"),
        ("berth_scheduler", "select * from rate_checkpoint"),
        ("berth_rm", "select * from api_replica"),
        ("berth_notifier", "select * from task"),
        ("berth_notifier", "select * from api_key"),
        ("berth_notifier", "insert into webhook select * from webhook"),
        ("berth_notifier", "delete from webhook_delivery"),
        ("berth_notifier", "delete from task_event"),
        ("berth_scheduler", "select * from webhook"),
        ("berth_rm", "select * from webhook_delivery"),
        ("berth_admin", "select * from webhook"),
        ("berth_submit", "select * from webhook"),
        ("berth_scheduler", "insert into schedule select * from schedule"),
        ("berth_scheduler", "delete from schedule_fire"),
        ("berth_api", "insert into schedule_fire select * from schedule_fire"),
        ("berth_api", "update schedule_fire set outcome = 'fired'"),
        ("berth_api", "update schedule_shard set epoch = 0"),
        ("berth_api", "select * from scheduler_node"),
        ("berth_submit", "update schedule set due_at = null"),
        ("berth_submit", "select * from schedule_fire"),
        ("berth_submit", "select timing from schedule"),
        ("berth_submit", "select created_at from idempotency"),
        ("berth_submit", "update idempotency set body_hash = body_hash"),
        ("berth_rm", "select * from schedule"),
        ("berth_admin", "select * from schedule"),
        ("berth_scheduler", "update attempt set charged = false"),
        ("berth_api", "delete from attempt"),
        ("berth_scheduler", "update executor_session set owner_epoch = 1"),
        ("berth_scheduler", "select * from api_key"),
        ("berth_scheduler", "delete from task_history"),
        ("berth_scheduler", "update tenant set state = 'active'"),
        ("berth_scheduler", "update plan set limits = '{}'"),
        ("berth_submit", "update plan set limits = '{}'"),
        ("berth_submit", "update tenant set plan = 'default'"),
        ("berth_submit", "select * from tenant_quota_level"),
        ("berth_api", "update tenant set plan = 'default'"),
        (
            "berth_api",
            "insert into task_event (tenant_id, kind, detail) values (gen_random_uuid(), 'x', '{}')",
        ),
        ("berth_api", "select berth_tenant_purge('attempt', null, interval '0', 1)"),
        ("berth_admin", "select berth_tenant_purge('attempt', null, interval '0', 1)"),
        ("berth_rm", "update plan set limits = '{}'"),
        ("berth_rm", "select name from tenant"),
        ("berth_rm", "delete from output_use"),
        ("berth_rm", "select * from output_refused"),
        ("berth_scheduler", "update output_use set bytes = 0"),
        ("berth_api", "update output_use set bytes = 0"),
        ("berth_rm", "select * from api_key"),
        ("berth_rm", "select * from idempotency"),
        ("berth_rm", "update leadership set epoch = 1"),
        ("berth_rm", "update attempt set usage_ms = 0"),
        ("berth_rm", "delete from executor_session"),
        ("berth_api", "select * from operator_key"),
        ("berth_submit", "select * from operator_key"),
        ("berth_scheduler", "select * from operator_key"),
        ("berth_rm", "select * from operator_key"),
        ("berth_admin", "update operator_key set scopes = '{admin}'"),
        ("berth_admin", "delete from operator_key"),
        ("berth_api", "update app_user set email = 'x@y'"),
        ("berth_api", "delete from app_user"),
        ("berth_api", "insert into sign_in select * from sign_in"),
        ("berth_api", "select * from refresh_token"),
        ("berth_api", "select * from sign_in_attempt"),
        ("berth_api", "select * from sign_in_place"),
        ("berth_api", "delete from api_key"),
        ("berth_api", "update api_key set hash = hash"),
        ("berth_submit", "update app_user set role = 'owner'"),
        ("berth_submit", "insert into app_user select * from app_user"),
        ("berth_submit", "insert into api_key select * from api_key"),
        ("berth_scheduler", "select * from app_user"),
        ("berth_rm", "select * from sign_in"),
        ("berth_admin", "select * from app_user"),
        ("berth_admin", "select * from task"),
        ("berth_admin", "delete from tenant"),
        ("berth_submit", "select * from audit"),
        ("berth_rm", "select * from audit"),
        ("berth_rm", "insert into audit select * from audit"),
        (
            "berth_scheduler",
            "insert into audit (id, tenant_id, actor_kind, action, target_kind) values (gen_random_uuid(), gen_random_uuid(), 'system', 'tenant.delete', 'tenant')",
        ),
        ("berth_api", "update task_result set value = '1'"),
        ("berth_api", "delete from task_result"),
        ("berth_rm", "select * from task_result"),
        ("berth_rm", "update task_result set value = '1'"),
        ("berth_scheduler", "delete from task_result"),
        ("berth_scheduler", "update task_spec set name = 'x'"),
        ("berth_api", "update workflow_run set plan = 'x'"),
        ("berth_api", "select * from workflow_tally"),
        ("berth_submit", "update workflow_run set state = 'failed'"),
        ("berth_submit", "select * from workflow"),
        ("berth_rm", "select * from workflow_run"),
        ("berth_rm", "select * from workflow_tally"),
        ("berth_scheduler", "update workflow set plan = 'x'"),
        ("berth_scheduler", "select definition from workflow"),
        ("berth_scheduler", "select * from workflow"),
        ("berth_submit", "select * from task_result"),
        ("berth_scheduler", "update task_event set kind = 'x'"),
        ("berth_api", "delete from task_event"),
        ("berth_rm", "select * from task_event"),
        ("berth_rm", "delete from event_consumer"),
        ("berth_scheduler", "insert into event_consumer values (gen_random_uuid(), 'x', now())"),
        ("berth_scheduler", "update concurrency_limit set running = 1000000"),
        ("berth_submit", "select * from concurrency_limit"),
        ("berth_rm", "select * from concurrency_limit"),
        ("berth_admin", "insert into audit_seal select * from audit_seal"),
        ("berth_admin", "update audit_head set position = 0"),
        ("berth_api", "select * from audit_head"),
        ("berth_admin", "delete from audit_pending"),
        ("berth_scheduler", "delete from audit_head"),
    ];
    for (role, sql) in tries {
        let pool = log_in(&world, role).await;
        assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}: {sql}");
    }
    for role in ROLES {
        let pool = log_in(&world, role).await;
        for sql in [
            "create table mine (n integer)",
            "alter table task disable row level security",
            "set role postgres",
        ] {
            assert_eq!(refused(&pool, sql).await.as_deref(), Some("42501"), "{role}: {sql}");
        }
    }
}
