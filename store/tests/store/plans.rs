//! Golden plans: every statement reads by index, by a whole key, whatever the planner last saw of the tables.
//!
//! The statements are those of the committed query data. Each is planned as the role that runs it,
//! with a generic plan, twice: while the statistics say that all tables are empty (a plan made then
//! stays while they fill), and with 200 000 live and 200 000 ended tasks.

use crate::support::World;
use serde_json::Value;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Executor};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::TenantScope;
use store::task::{TaskFilter, find};

/// Tables that grow with the work: nothing may read them whole.
const LARGE: [&str; 16] = [
    "task",
    "task_spec",
    "task_history",
    "attempt",
    "task_output",
    "task_result",
    "idempotency",
    "executor_session",
    "schedule",
    "schedule_fire",
    "task_event",
    "task_edge",
    "task_release",
    "workflow_run",
    "workflow_items",
    "webhook_delivery",
];

/// The statement from which the batcher chooses.
const SELECTION: &str = include_str!("../../src/task/select_ready.sql");

/// In the statement that counts a slice of what a tenant holds.
const SLICE: &str = "-- All of a tenant, up to a slice.";

/// With these goes on, in a statement that changes, ends or stores tasks, what `end_tasks!`, `change_tasks!` and `store_plain!` add to the
/// part of its own.
const ADDED: [&str; 4] =
    [", history as (", ", decided as materialized (", ", event as (", ", spec as ("];

pub(crate) struct Statement {
    pub(crate) sql: String,
    values: String,
    roles: BTreeSet<&'static str>,
}

/// The statements of the committed query data, each with the roles that run it.
pub(crate) fn statements() -> Vec<Statement> {
    let sources = sources();
    let folder = testkit::settings::workspace().join(".sqlx");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    files
        .filter_map(|text| {
            let data: Value = serde_json::from_str(&text).unwrap();
            let types = data["describe"]["parameters"]["Left"].as_array().unwrap();
            let values: Vec<_> = types
                .iter()
                .map(|kind| match &kind["Custom"]["name"] {
                    Value::String(rows) if rows.ends_with("[]") => "'{}'",
                    _ => value_of(kind.as_str().unwrap_or("Text")),
                })
                .collect();
            let values =
                if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
            let sql = data["query"].as_str().unwrap().to_owned();
            let own = ADDED
                .iter()
                .filter_map(|added| sql.find(added))
                .min()
                .map_or(&*sql, |at| &sql[..at]);
            let in_files: Vec<_> = sources.iter().filter(|(_, text)| text.contains(own)).collect();
            assert!(!in_files.is_empty(), "not in the source: {sql}");
            // The doctor reads samples of whole tables, once a minute and within time-outs; and what is counted, counted again or tried with
            // other prices is a day, or what was added.
            let reads_much = |path: &Path| {
                ["doctor", "price_dry_run", "usage_rebuild"].iter().any(|of| path.starts_with(of))
                    || path.ends_with("rollup/read.rs")
                    // Along the key until there are enough.
                    || path.starts_with("overview")
            };
            if in_files.iter().all(|(path, _)| reads_much(path)) {
                return None;
            }
            let roles: BTreeSet<_> =
                in_files.iter().flat_map(|(path, text)| roles_of(path, text)).collect();
            Some(Statement { sql, values, roles })
        })
        .collect()
}

/// The source files, each with the statement beside it that it reads from a file of its own (`x.rs`
/// and `x.sql`).
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let root = testkit::settings::workspace().join("store/src");
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let mut text = std::fs::read_to_string(&path).unwrap();
                text += &std::fs::read_to_string(path.with_extension("sql")).unwrap_or_default();
                files.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    files
}

/// The roles whose handles a file takes, by its path below the sources; where it takes a
/// transaction, those of its folder.
fn roles_of(path: &Path, text: &str) -> Vec<&'static str> {
    let handles = [
        ("ApiDb", "berth_api"),
        ("SubmitDb", "berth_submit"),
        ("CountDb", "berth_submit"),
        ("SchedulerDb", "berth_scheduler"),
        ("RmDb", "berth_rm"),
        ("NotifierDb", "berth_notifier"),
        ("AdminDb", "berth_admin"),
    ];
    let named: Vec<_> = handles
        .into_iter()
        .filter(|(handle, _)| text.contains(handle))
        .map(|(_, role)| role)
        .collect();
    match named.is_empty() {
        true if path.components().any(|part| part.as_os_str() == "submit") => vec!["berth_submit"],
        true if path.ends_with("task/reserve.rs") => vec!["berth_api", "berth_scheduler"],
        true if path.components().any(|part| part.as_os_str() == "spend") => {
            vec!["berth_api", "berth_submit", "berth_scheduler"]
        }
        true if path.components().any(|part| part.as_os_str() == "audit") => {
            vec!["berth_api", "berth_submit", "berth_admin"]
        }
        true if path.starts_with("invoice") || path.ends_with("price_history.rs") => {
            vec!["berth_api", "berth_scheduler", "berth_admin"]
        }
        true if path.starts_with("webhook") => vec!["berth_api"],
        true if path.components().any(|part| part.as_os_str() == "explain") => vec!["berth_api"],
        true if path.components().any(|part| part.as_os_str() == "gate") => vec!["berth_scheduler"],
        true if path.components().any(|part| part.as_os_str() == "workflow") => {
            vec!["berth_api", "berth_scheduler"]
        }
        true if path.components().any(|part| part.as_os_str() == "schedule") => vec!["berth_api"],
        true if path
            .components()
            .any(|part| ["fire", "rollup"].map(OsStr::new).contains(&part.as_os_str())) =>
        {
            vec!["berth_scheduler"]
        }
        true if path.components().any(|part| part.as_os_str() == "pool") => vec!["berth_admin"],
        true => vec!["berth_rm"],
        false => named,
    }
}

fn value_of(kind: &str) -> &'static str {
    match kind {
        "Uuid" => "'018f0000-0000-7000-8000-000000000001'",
        "Bool" => "'true'",
        "Timestamptz" => "now()",
        "Date" => "current_date",
        "Bytea" => "'\\x00'",
        "Text" | "Jsonb" => "'1'",
        array if array.ends_with("Array") => "'{}'",
        _ => "'1'",
    }
}

/// The plan of a statement as JSON; `None` where the role may not run it.
async fn plan(pool: &PgPool, statement: &Statement) -> Option<Value> {
    let mut connection = pool.acquire().await.unwrap();
    // As its transaction is set.
    let sort = if statement.sql.contains(SLICE) { "off" } else { "on" };
    let prepare = format!(
        "set plan_cache_mode = force_generic_plan; set enable_sort = {sort}; deallocate all; prepare q as {}",
        statement.sql
    );
    connection.execute(AssertSqlSafe(prepare)).await.unwrap();
    let explain = format!("explain (format json) execute q{}", statement.values);
    let plan = sqlx::query_scalar::<_, Value>(AssertSqlSafe(explain))
        .persistent(false)
        .fetch_one(&mut *connection)
        .await;
    match plan {
        Ok(plan) => Some(plan[0]["Plan"].clone()),
        Err(error) => {
            assert_eq!(
                error.as_database_error().unwrap().code().unwrap(),
                "42501",
                "{error}: {}",
                statement.sql
            );
            None
        }
    }
}

/// The large table a node reads, by its first name: `task_history_20261121` is `task_history`.
fn large(node: &Value) -> Option<&'static str> {
    let relation = node["Relation Name"].as_str()?;
    let day = |rest: &str| {
        rest == "_default" || (rest.len() == 9 && rest[1..].bytes().all(|b| b.is_ascii_digit()))
    };
    LARGE
        .into_iter()
        .find(|table| relation.strip_prefix(table).is_some_and(|rest| rest.is_empty() || day(rest)))
}

/// What is wrong with a plan, node by node. `bitmap` nodes are judged by their index scan below.
fn wrongs(node: &Value, wrong: &mut Vec<String>) {
    let kind = node["Node Type"].as_str().unwrap();
    // There are a handful of pools, and all that is in the others is leased, to be released, to be stopped, or to be counted, now.
    let few = [
        "pool_pkey",
        "task_by_session",
        "task_release_by_age",
        "workflow_run_stopped",
        "workflow_run_counted",
    ]
    .iter()
    .any(|index| node["Index Name"] == *index);
    if let Some(table) = large(node) {
        let condition = node["Index Cond"].as_str().unwrap_or_default();
        match kind {
            "Seq Scan" => wrong.push(format!("reads {table} whole")),
            "Index Scan" | "Index Only Scan" if condition.is_empty() && !few => {
                wrong.push(format!("reads all of {}", node["Index Name"]));
            }
            "Index Scan" | "Index Only Scan" if by_tenant_only(node, condition) => {
                wrong.push(format!("reads all of a tenant in {}: {condition}", node["Index Name"]));
            }
            _ => {}
        }
    }
    if kind == "Bitmap Index Scan" && node["Index Cond"].is_null() && !few {
        wrong.push(format!("reads all of {}", node["Index Name"]));
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        wrongs(child, wrong);
    }
}

/// True where of a key that begins with the tenant nothing else is named.
fn by_tenant_only(node: &Value, condition: &str) -> bool {
    node["Index Name"].as_str().unwrap().ends_with("_pkey")
        && condition.contains("tenant_id")
        && ![
            "(id =",
            "(id <",
            "(task_id =",
            "(parent_id =",
            "(schedule_id =",
            "(key =",
            "ended_at",
            "(txid >=",
        ]
        .iter()
        .any(|column| condition.contains(column))
}

/// The statements that look for the next few of many.
fn takes_the_first(sql: &str) -> bool {
    sql.contains("recursive active")
        || sql.contains("recursive strand")
        || sql.contains("order by wake_at")
        || sql.contains("order by o.created_at")
        || sql.contains("from task_release order by ended_at limit")
        || sql.contains(SLICE)
}

/// Sorts anything but what holds concurrency keys, which is handed out or runs.
fn sorts(node: &Value) -> bool {
    if node["Subplan Name"] == "CTE held" {
        return false;
    }
    node["Node Type"] == "Sort" || node["Plans"].as_array().into_iter().flatten().any(sorts)
}

/// What is wrong with the plan of the selection: each read of `task` is of one known row, or of a
/// range of `task_by_turn` under a limit, in the order of the index. `limited`: a limit stands
/// above `node`, and nothing in between reads all that is below it.
fn selection_wrongs(node: &Value, limited: bool, wrong: &mut Vec<String>) {
    let kind = node["Node Type"].as_str().unwrap();
    if node["Relation Name"] == "task" && kind != "Tid Scan" {
        let condition = node["Index Cond"].as_str().unwrap_or_default();
        if node["Index Name"] != "task_by_turn" || !condition.contains("state = 'ready'") {
            wrong.push(format!("reads task by {kind} {}: {condition}", node["Index Name"]));
        }
        if !limited || !node["Filter"].is_null() {
            wrong.push(format!("reads more than it shows: {condition} {}", node["Filter"]));
        }
    }
    let passes = matches!(kind, "Subquery Scan" | "Append" | "Result" | "Index Scan" | "Tid Scan");
    for child in node["Plans"].as_array().into_iter().flatten() {
        selection_wrongs(child, kind == "Limit" || (limited && passes), wrong);
    }
}

async fn check(world: &World, when: &str) {
    let mut pools = BTreeMap::new();
    for role in [
        "berth_api",
        "berth_submit",
        "berth_scheduler",
        "berth_rm",
        "berth_notifier",
        "berth_admin",
    ] {
        let url = world.database.role_url(role).unwrap();
        pools.insert(role, PgPoolOptions::new().max_connections(1).connect(&url).await.unwrap());
    }
    let (mut planned, mut selections) = (0, 0);
    let mut all = Vec::new();
    for statement in statements() {
        let mut runs = 0;
        for role in &statement.roles {
            let Some(plan) = plan(&pools[role], &statement).await else { continue };
            runs += 1;
            let mut wrong = Vec::new();
            wrongs(&plan, &mut wrong);
            if takes_the_first(&statement.sql) && sorts(&plan) {
                wrong.push("sorts a backlog to take its first rows".to_owned());
            }
            if statement.sql == SELECTION {
                selections += 1;
                selection_wrongs(&plan, false, &mut wrong);
            }
            if statement.sql.contains("-- All of a tenant, up to") {
                wrong.retain(|wrong| !wrong.starts_with("reads all of a tenant in \"task_pkey\""));
            }
            if !wrong.is_empty() {
                all.push(format!("{when}, as {role}: {wrong:?} in: {}", statement.sql));
            }
        }
        assert!(runs > 0, "no role may run: {}", statement.sql);
        planned += runs;
    }
    assert!(all.is_empty(), "{}", all.join("\n\n"));
    assert!(planned > 50, "{planned}");
    assert_eq!(selections, 1, "the batcher selects with one statement");
}

/// 200 000 live tasks of 100 tenants in all states but leased ones, and as many ended with an attempt each.
async fn fill(world: &World) {
    world
        .sql(
            "set synchronous_commit = off;
            create temp table new as select n, md5((n % 100)::text)::uuid as tenant_id,
                (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || lpad(to_hex(n), 20, '0'))::uuid as id
                from generate_series(1, 400000) n;
            insert into task_spec (id, tenant_id, created_at, run_at, name, run, delay_tolerance_ms, key_id, schedule_id)
                select id, tenant_id, now(), now(), 'name', '{\"noop\":{}}', 1000, 'aaaaaaaaaaaa',
                    case when n % 1000 = 1 then tenant_id end from new;
            insert into task (tenant_id, id, pool, state, tier, cpu_millis, memory_mib, disk_mib, iops, ports, slots, run_at,
                    start_deadline, cap_ms, max_attempts, expire_if_late, at_most_once, unique_key, wake_at)
                select tenant_id, id, 'default', (array['ready', 'ready', 'queued', 'scheduled'])[1 + n % 4]::task_state, 'basic',
                    250, 512, 1024, 50, 1, 1, now(), now() + n * interval '1 second', 60000, 3, false, false,
                    case when n % 10 = 0 then n::text end, case when n % 4 >= 2 then now() + n * interval '1 second' end
                from new where n <= 200000;
            insert into task_history select tenant_id, id, 'default', 'succeeded', 'basic', 250, 512, 1024, 50, 1, now(), now(),
                    60000, 1, 0, 3, false, false, null, now(), now(), null, 0 from new where n > 200000;
            insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib,
                    iops, ports, session_id, placed_at, ended_at, usage_ms)
                select tenant_id, id, 1, 'succeeded', true, 'default', 'basic', 250, 512, 1024, 50, 1, id, now(), now(), 5
                from new where n > 200000;
            insert into task_result (tenant_id, task_id, attempt, value, bytes, finished_at)
                select tenant_id, id, 1, '1', 1, now() from new where n > 200000;
            insert into idempotency (tenant_id, route, key, body_hash, task_id)
                select tenant_id, 'POST /v1/tasks', n::text, decode(repeat('00', 32), 'hex'), id from new where n % 10 = 0;
            insert into executor_session (id, executor_id, pool, state, owner, owner_epoch, expires_at, cpu_millis, memory_mib,
                    disk_mib, iops, port_first, port_count, version, ended_at)
                select id, 'e', 'default', case when n < 200 then 'active' else 'over' end, tenant_id, 1, now(), 1, 1, 1, 1, 1, 1, '',
                    case when n >= 200 then now() end
                from new where n < 5000;
            drop table new;",
        )
        .await;
}

#[tokio::test]
async fn every_statement_reads_by_a_whole_key_whatever_the_planner_last_saw() {
    let world = World::new().await;
    check(&world, "never analysed").await;
    world.sql("vacuum analyze").await;
    check(&world, "known to be empty").await;
    fill(&world).await;
    world.sql("vacuum analyze").await;
    check(&world, "with 400000 tasks").await;
}

#[tokio::test]
async fn a_page_costs_the_page_however_many_tasks_there_are() {
    let world = World::new().await;
    fill(&world).await;
    // The oldest of the tenant's.
    let failed = "update task_history set state = 'failed' where (tenant_id, id) in (
        select tenant_id, id from task_history where tenant_id = 'c4ca4238-a0b9-2382-0dcc-509a6f75849b' order by id limit 20)";
    world.sql(failed).await;
    world.sql("vacuum analyze").await;
    let tenant = domain::id::TenantId(
        uuid::Uuid::parse_str("c4ca4238-a0b9-2382-0dcc-509a6f75849b").unwrap(),
    );
    let scope = TenantScope::of_role(tenant);
    let first = find(&world.api, &scope, &TaskFilter::default(), 50).await.unwrap();
    assert_eq!(first.len(), 50, "the tenant of n % 100 = 1");
    let live = vec![
        domain::task::State::Scheduled,
        domain::task::State::Ready,
        domain::task::State::Queued,
    ];
    let now = runtime::clock::wall();
    let filters = [
        TaskFilter { before: Some(first[49].id), ..TaskFilter::default() },
        TaskFilter { states: live, ..TaskFilter::default() },
        TaskFilter { states: vec![domain::task::State::Succeeded], ..TaskFilter::default() },
        TaskFilter {
            created_from: Some(now - chrono::TimeDelta::hours(1)),
            ..TaskFilter::default()
        },
        TaskFilter { tier: Some(domain::resources::Tier::Basic), ..TaskFilter::default() },
        // One in ten of the tenant's tasks.
        TaskFilter {
            schedule: Some(domain::id::ScheduleId(tenant.uuid())),
            ..TaskFilter::default()
        },
    ];
    for filter in &filters {
        assert_eq!(find(&world.api, &scope, filter, 50).await.unwrap().len(), 50, "{filter:?}");
    }
    let states = vec![domain::task::State::Failed, domain::task::State::Killed];
    let failed = TaskFilter { states, ..TaskFilter::default() };
    assert_eq!(find(&world.api, &scope, &failed, 50).await.unwrap().len(), 20);
    world.api.close().await;
    let gone = "select count(*) from pg_stat_activity where datname = current_database() and usename = 'berth_api'";
    let all_gone = async || world.number(gone).await == 0;
    testkit::poll::until("the connection's counts are in", Duration::from_secs(20), all_gone)
        .await
        .unwrap();
    // The rows read through keys by 8 pages of 50: of live tasks, of ended ones, of specs, each
    // page of both at most.
    let tables = "from pg_stat_user_tables where relname ~ '^task'";
    let read = world.number(format!("select sum(idx_tup_fetch)::bigint {tables}")).await;
    assert!(read < 2_500, "{read} rows fetched");
}
