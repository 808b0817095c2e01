//! The generated matrix (C1, C3, C4): every route of the OpenAPI document, with every kind of id and of credential.
//!
//! Built from the document and the table of routes, so that none is forgotten: a route with a kind of id that is not known here
//! fails. What is compared is whole answers, to the byte but the request id.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, SCHEDULE, Server, WORKFLOW};
use crate::users::{server, sign_in, signed_in, user};
use api::routes::table::{Access, Endpoint, TABLE};
use domain::access::{OperatorScope, Permission, PermissionSet, Role, ScopeSet};
use domain::id::{DeliveryId, SignInId, TaskId, TenantId, UserId, WorkflowRunId};
use serde_json::json;
use std::collections::BTreeSet;

const VERBS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// A spend cap that can be stored.
pub const SPEND_CAP: &str =
    r#"{"amount":5000000,"currency":"EUR","period":"day","label":{"key":"team","value":"ml"}}"#;

/// A webhook that can be stored.
pub const WEBHOOK: &str = r#"{"url":"https://a.example/hook","events":["berth.task.*"],"labels":{"team":"ml"},"headers":{"x-key":"k"}}"#;

/// A price book that can be stored.
pub const PRICE_BOOK: &str = r#"{"currency":"EUR","prices":[{"effective_from":"2020-01-01T00:00:00Z","rates":{"cpu_core":40000},
    "tiers":{"premium":{"cpu_core":30000}},"each":{"task":5},"discounts":{"tolerance":[{"at_least_s":60,"percent":10}],"flexible_percent":20},
    "volume":[{"above":1000000,"percent":5}]}]}"#;

/// A plan, as it is stored.
pub const PLAN: &str = r#"{"submits_per_second":1,"submit_burst":1,"submits_per_hour":0,"running_tasks":1,"backlog":1,"schedules":0,
    "payload_bytes":1024,"stored_output_bytes":0,"retention_days":1,"weight":1}"#;

/// A past range.
const BACKFILL: &str = r#"{"from":"2020-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}"#;

/// Somebody who asks, and what they may.
struct Asker {
    name: String,
    credential: String,
    may: PermissionSet,
    /// A sign-in of its own that is over; of a key one that never was.
    ended: String,
}

/// Every role and kind of key of the tenant.
async fn askers(server: &Server) -> Vec<Asker> {
    let mut all = Vec::new();
    for scopes in [&ALL_SCOPES[..], &["read"], &["submit"], &["approve"], &["admin"]] {
        let credential = server.new_key(server.tenant, scopes).await;
        let may = ScopeSet::from_names(scopes).permissions().with(PermissionSet::OF_EVERYBODY);
        let ended = SignInId::fresh().to_string();
        all.push(Asker { name: format!("key {scopes:?}"), credential, may, ended });
    }
    for role in Role::ALL {
        let email = format!("{role}@example.com");
        user(server, &email, role).await;
        let before = sign_in(server, &email, crate::users::PASSWORD).await.json();
        let bearer = format!("Bearer {}", before["access_token"].as_str().unwrap());
        let headers = [("Authorization", bearer.as_str())];
        let out = request(server.addr, "DELETE", "/v1/sessions", &headers, b"").await;
        assert_eq!(out.status, 200, "{out:?}");
        let ended = before["id"].as_str().unwrap().to_owned();
        let credential = signed_in(server, &email).await.0;
        let may = role.permissions().with(PermissionSet::OF_EVERY_USER);
        let may = may.with(PermissionSet::OF_EVERYBODY);
        all.push(Asker { name: role.to_string(), credential, may, ended });
    }
    all
}

/// Ids of one kind of thing: somebody else's, nobody's, one's own that is gone.
async fn ids(server: &Server, path: &str, theirs: &Theirs) -> [String; 3] {
    let kind = path.split('/').nth(2).unwrap();
    let gone = async |path: String| {
        let bearer = format!("Bearer {}", server.key);
        let ended = request(server.addr, "DELETE", &path, &[("Authorization", &bearer)], b"").await;
        assert_eq!(ended.status, 200, "{path}: {ended:?}");
    };
    match kind {
        "tasks" => {
            let own = server.noop().await;
            let id = own.parse::<TaskId>().unwrap().uuid();
            let sql = format!(
                "delete from task where id = '{id}'; delete from task_spec where id = '{id}'"
            );
            server.db.sql(&sql).await.unwrap();
            [theirs.task.clone(), TaskId::fresh().to_string(), own]
        }
        "workflow-runs" => {
            let own = server.run().await;
            let hex = own.trim_start_matches("run_");
            let sql = format!(
                "delete from task where run_id = '{hex}'; delete from workflow_run where id = '{hex}'"
            );
            server.db.sql(&sql).await.unwrap();
            [theirs.run.clone(), WorkflowRunId::fresh().to_string(), own]
        }
        "keys" => {
            let own = server.key_id().await;
            gone(format!("/v1/keys/{own}")).await;
            [theirs.key.clone(), "abcdefghij23".to_owned(), own]
        }
        "webhooks" => {
            let own = server.delivery().await;
            server.db.sql("delete from webhook_delivery where tenant_id = (select id from tenant where name = 'first')").await.unwrap();
            [theirs.delivery.clone(), DeliveryId::fresh().to_string(), own]
        }
        "users" => {
            let own = server.user_id().await;
            gone(format!("/v1/users/{own}")).await;
            [theirs.user.clone(), UserId::fresh().to_string(), own]
        }
        "sessions" => {
            // One's own is the asker's.
            [theirs.sign_in.clone(), SignInId::fresh().to_string(), String::new()]
        }
        other => panic!("no ids are known for {other}: a new route needs its row in this matrix"),
    }
}

/// Things of the operators: one that is there (a tenant: another's), one that is not, one's own tenant.
async fn operators_things(server: &Server, path: &str) -> [String; 3] {
    match path.split('/').nth(3).unwrap() {
        "tenants" => {
            let theirs =
                server.db.sql("select id from tenant where name = 'second'").await.unwrap();
            let theirs = format!("tenant_{}", theirs.trim().replace('-', ""));
            [theirs, TenantId::fresh().to_string(), server.tenant.to_string()]
        }
        "plans" | "price-books" | "pools" | "canaries" => {
            ["free".to_owned(), "nobodys".to_owned(), "default".to_owned()]
        }
        "operator-keys" => {
            let ids = "select string_agg(id, ' ' order by name) from operator_key";
            let ids = server.db.sql(ids).await.unwrap();
            let (one, other) = ids.trim().split_once(' ').unwrap();
            [one.to_owned(), "abcdefghij23".to_owned(), other.to_owned()]
        }
        other => panic!("nothing is known of {other}: a new route needs its row in this matrix"),
    }
}

/// Another tenant, who has one of everything.
struct Theirs {
    admin: String,
    task: String,
    run: String,
    key: String,
    user: String,
    sign_in: String,
    delivery: String,
    cursors: Vec<String>,
}

impl Theirs {
    async fn make(server: &Server) -> Self {
        let tenant = server.new_tenant("second").await;
        let admin = server.new_key(tenant, &ALL_SCOPES).await;
        let password = crate::users::PASSWORD;
        let mut user = String::new();
        for email in ["eve@example.com", "mallory@example.com"] {
            let spec = json!({"email": email, "role": "admin", "password": password});
            let made = server.post_as(&admin, "/v1/users", &[], spec.to_string()).await;
            user = made.json()["id"].as_str().unwrap().to_owned();
        }
        let body = json!({"tenant": "second", "email": "eve@example.com", "password": password});
        let sign_in = server.post("/v1/sessions", body.to_string()).await.json();
        let mut task = String::new();
        for _ in 0..2 {
            let made = server.post_as(&admin, "/v1/tasks", &[], crate::server::NOOP).await;
            task = made.json()["id"].as_str().unwrap().to_owned();
        }
        has_run(server, tenant, &task).await;
        server.invoice(tenant).await;
        let once = [("Idempotency-Key", "theirs")];
        let spec = json!({"name": "theirs", "scopes": ["read"]}).to_string();
        let key = server.post_as(&admin, "/v1/keys", &once, spec).await.json();
        for key in ["theirs", "theirs%20too"] {
            let bearer = format!("Bearer {admin}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let path = format!("/v1/concurrency-limits/{key}");
            let put = request(server.addr, "PUT", &path, &headers, br#"{"running":7}"#).await;
            assert_eq!(put.status, 200, "{put:?}");
        }
        for name in ["theirs", "theirs.too"] {
            let path = format!("/v1/schedules/{name}");
            assert_eq!(server.put_as(&admin, &path, &[], SCHEDULE).await.status, 201);
            let fired = server.post_as(&admin, "/v1/schedules/theirs/trigger", &[], "").await;
            assert_eq!(fired.status, 201, "{fired:?}");
        }
        let mut run = String::new();
        for name in ["theirs", "theirs.too"] {
            let path = format!("/v1/workflows/{name}");
            assert_eq!(server.put_as(&admin, &path, &[], WORKFLOW).await.status, 201);
            let start = json!({"workflow": name}).to_string();
            let made = server.post_as(&admin, "/v1/workflow-runs", &[], start).await;
            run = made.json()["id"].as_str().unwrap().to_owned();
        }
        let second = WORKFLOW.replace("\"b\"", "\"c\"");
        let changed = server.put_as(&admin, "/v1/workflows/theirs", &[], &second).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        let hook = WEBHOOK.to_owned();
        assert_eq!(server.put_as(&admin, "/v1/webhooks/theirs", &[], &hook).await.status, 201);
        let mut delivery = String::new();
        for _ in 0..2 {
            let made = server.post_as(&admin, "/v1/webhooks/theirs/test", &[], "").await;
            delivery = made.json()["id"].as_str().unwrap().to_owned();
        }
        let mut cursors = Vec::new();
        for list in lists(&task) {
            let page = server.get_as(&admin, &format!("{list}?limit=1")).await;
            // Of lines the cursor is in the head.
            let cursor = match page.header("next-cursor") {
                Some(cursor) => cursor.to_owned(),
                None => page.json()["next_cursor"].as_str().unwrap().to_owned(),
            };
            cursors.push(cursor);
        }
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        Self {
            task,
            run,
            user,
            delivery,
            sign_in: text(&sign_in["id"]),
            key: text(&key["id"]),
            cursors,
            admin,
        }
    }
}

/// Every list of a tenant that has pages; those of a task are of this one, those of a schedule of the one named `theirs`.
fn lists(task: &str) -> Vec<String> {
    let paged = |endpoint: &&Endpoint| {
        matches!(endpoint.access, Access::Tenant(..))
            && endpoint.doc.query.iter().any(|param| param.name == "cursor")
    };
    let path = |endpoint: &Endpoint| {
        let path = endpoint.path.replace("{id}", task).replace("{name}", "theirs");
        path.replace("{number}", "2000-02-0001").replace("{line}", "1")
    };
    TABLE.iter().filter(paged).map(path).collect()
}

/// Gives a task two attempts, with output.
async fn has_run(server: &Server, tenant: TenantId, task: &str) {
    let (tenant, task) = (tenant.uuid(), task.trim_start_matches("task_"));
    let sql = format!(
        "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib,
                iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code)
            select '{tenant}', '{task}', n, 'failed', true, 'default', 'basic', 250, 512, 1024, 50, 0, gen_random_uuid(),
                now() - interval '1 s', now(), 1000, 3 from generate_series(1, 2) n;
        insert into task_output (tenant_id, task_id, attempt, stream, seq, \"offset\", data)
            select '{tenant}', '{task}', n, 1, 0, 0, 'x' from generate_series(1, 2) n"
    );
    server.db.sql(&sql).await.unwrap();
}

/// Everything of an answer but what names the request and the moment.
fn shown(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let mut headers = answer.headers.clone();
    // What is left of a rate grows from moment to moment, whatever is asked for.
    let passing = ["x-request-id", "date", "ratelimit"];
    headers.retain(|(name, _)| !passing.contains(&name.to_lowercase().as_str()));
    headers.sort();
    let id = answer.header("x-request-id").unwrap_or_default();
    (answer.status, headers, String::from_utf8_lossy(&answer.body).replace(id, "…"))
}

/// The same without what the path names, which a 404 says back, and whose length differs.
fn shown_but(answer: &Answer, name: &str) -> (u16, Vec<(String, String)>, String) {
    let (status, mut headers, body) = shown(answer);
    headers.retain(|(header, _)| !header.eq_ignore_ascii_case("content-length"));
    (status, headers, body.replace(&format!("`{name}`"), "`…`"))
}

/// What processes write down by themselves, whoever asks.
const OF_PROCESSES: [&str; 2] = ["api_replica", "rate_checkpoint"];

/// What is stored in all tables, but for what asking itself writes down.
async fn fingerprint(server: &Server) -> String {
    let tables = "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition order by 1";
    let tables = server.db.sql(tables).await.unwrap();
    let tables: Vec<&str> = tables.lines().filter(|table| !OF_PROCESSES.contains(table)).collect();
    assert!(tables.len() > 20 && tables.contains(&"audit"), "{tables:?}");
    let row = "(to_jsonb(t) - 'last_used_at')::text";
    let part = |table: &&str| {
        format!(
            "select '{table}', count(*), md5(coalesce(string_agg({row}, '|' order by {row}), '')) from {table} t"
        )
    };
    let parts: Vec<String> = tables.iter().map(part).collect();
    server.db.sql(&format!("{} order by 1", parts.join(" union all "))).await.unwrap()
}

/// A body that the route would take.
fn body_of(endpoint: &Endpoint) -> &'static str {
    match endpoint.name {
        "user.change" | "user.put" | "tenant_user.put" => r#"{"role":"viewer"}"#,
        "tenant.change" | "tenant.put" => r#"{"weight":7}"#,
        "operator_key.create" | "tenant_key.create" => r#"{"name":"n","scopes":["read"]}"#,
        "tenant_user.create" => r#"{"email":"a@b","role":"owner"}"#,
        "pool.pause" => r#"{"reason":"r"}"#,
        "plan.put" => PLAN,
        "price_book.put" | "price_book.dry_run" => PRICE_BOOK,
        "tenant_credit.create" => r#"{"key":"k","currency":"EUR","amount":-1,"reason":"r"}"#,
        "tenant.put_billing" => r#"{"zone":"Europe/Berlin"}"#,
        "pool.set" => r#"{"command_network":true}"#,
        "concurrency.put" => r#"{"running":2}"#,
        "spend_cap.put" => SPEND_CAP,
        "webhook.put" => WEBHOOK,
        "webhook.replay" => r#"{"from":"2020-01-01T00:00:00Z"}"#,
        "usage.quote" => r#"{"task":{"run":{"noop":{}}}}"#,
        "task.mark_succeeded" => r#"{"note":"n"}"#,
        "task.change" => r#"{"priority":1}"#,
        "schedule.put" => SCHEDULE,
        "workflow.put" => WORKFLOW,
        "schedule.backfill" => BACKFILL,
        _ => "",
    }
}

async fn ask(server: &Server, endpoint: &Endpoint, target: &str, credential: &str) -> Answer {
    let bearer = format!("Bearer {credential}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("X-HTTP-Method-Override", "DELETE"),
    ];
    let body = body_of(endpoint).as_bytes();
    request(server.addr, endpoint.verb.as_str(), target, &headers, body).await
}

#[tokio::test]
async fn a_foreign_an_unknown_and_a_gone_thing_are_alike_to_the_byte_on_every_route_for_everybody()
{
    let server = server().await;
    let theirs = Theirs::make(&server).await;
    let askers = askers(&server).await;
    let spec = request(server.addr, "GET", "/openapi.json", &[], b"").await.json();
    let documented: usize = spec["paths"]
        .as_object()
        .unwrap()
        .values()
        .map(|item| item.as_object().unwrap().len())
        .sum();
    assert_eq!(documented, TABLE.len(), "the table is the document");
    let mut asked = 0;
    for endpoint in TABLE.iter().filter(|endpoint| endpoint.path.contains("{id}")) {
        let Access::Tenant(needed, _) = endpoint.access else { continue };
        let ids = ids(&server, endpoint.path, &theirs).await;
        let before = fingerprint(&server).await;
        for asker in &askers {
            let mut answers = Vec::new();
            for id in &ids {
                let id = if id.is_empty() { &asker.ended } else { id };
                let target = endpoint.path.replace("{id}", id).replace("{name}", "free");
                let answer = ask(&server, endpoint, &target, &asker.credential).await;
                answers.push(shown_but(&answer, id));
                asked += 1;
            }
            let what = format!("{endpoint:?} for {}: {answers:?}", asker.name);
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{what}");
            // Judged before the user is looked for: nobody gives a role whose permissions they do not hold.
            let gives = !["user.change", "user.put"].contains(&endpoint.name)
                || asker.may.includes(Role::Viewer.permissions());
            let wanted = if asker.may.contains(needed) && gives { 404 } else { 403 };
            assert_eq!(answers[0].0, wanted, "{what}");
        }
        assert_eq!(fingerprint(&server).await, before, "{endpoint:?} changed something");
    }
    println!("{asked} requests over {} routes and {} askers", TABLE.len(), askers.len());
    assert!(asked >= 200, "{asked}");
}

#[tokio::test]
async fn operators_things_are_refused_alike_to_every_tenant_and_to_operators_who_only_read() {
    let server = server().await;
    Theirs::make(&server).await;
    let reader = server.new_operator("reader", &["read"]).await;
    let admin = server.new_operator("admin", &["read", "admin"]).await;
    let askers = askers(&server).await;
    server.db.sql("insert into pool (name) values ('free')").await.unwrap();
    server.filled("/v1/admin/price-books/{name}").await;
    let before = fingerprint(&server).await;
    let mut asked = 0;
    for endpoint in &TABLE {
        let Access::Operator(scope, _) = endpoint.access else { continue };
        if !endpoint.path.contains('{') {
            continue;
        }
        let things = operators_things(&server, endpoint.path).await;
        let target = |thing: &str| {
            let path = endpoint.path.replace("{id}", thing).replace("{name}", thing);
            let path = path.replace("{number}", "2000-02-0001");
            path.replace("{key_id}", "abcdefghij23").replace("{login}", "eve@example.com")
        };
        let tenants = askers.iter().map(|asker| asker.credential.as_str());
        let too_little = (scope != OperatorScope::Read).then_some(reader.as_str());
        for credential in tenants.chain(too_little) {
            let mut answers = Vec::new();
            for thing in &things {
                answers.push(shown(&ask(&server, endpoint, &target(thing), credential).await));
                asked += 1;
            }
            assert!(
                answers.iter().all(|answer| *answer == answers[0]),
                "{endpoint:?}: {answers:?}"
            );
            assert_eq!(answers[0].0, 403, "{endpoint:?}: {answers:?}");
        }
        // What puts a plan, a price book or a pool makes one that is not there; a canary is whoever reports.
        if !["plan.put", "price_book.put", "pool.set", "canary.report"].contains(&endpoint.name) {
            let answer = ask(&server, endpoint, &target(&things[1]), &admin).await;
            assert_eq!(answer.code(), "not_found", "{endpoint:?}: {answer:?}");
        }
    }
    assert_eq!(fingerprint(&server).await, before);
    println!("{asked} requests");
    assert!(asked >= 150, "{asked}");
}

#[tokio::test]
async fn a_key_that_another_tenant_limits_is_a_key_like_any_other_to_everybody() {
    let server = server().await;
    let theirs = Theirs::make(&server).await;
    let askers = askers(&server).await;
    let limits = "select string_agg(tenant_id::text || key || running, ' ' order by key) from concurrency_limit";
    let before = server.db.sql(limits).await.unwrap();
    let mut asked = 0;
    let of_limits =
        |endpoint: &&Endpoint| endpoint.path.starts_with("/v1/concurrency-limits/{key}");
    for endpoint in TABLE.iter().filter(of_limits) {
        let Access::Tenant(needed, _) = endpoint.access else { panic!("{endpoint:?}") };
        for asker in &askers {
            let mut answers = Vec::new();
            for key in ["theirs", "nobody"] {
                let target = endpoint.path.replace("{key}", key);
                let answer = ask(&server, endpoint, &target, &asker.credential).await;
                let (status, mut headers, body) = shown(&answer);
                let mut body = body.replace(key, "…");
                if endpoint.name == "concurrency.put" {
                    // When it was put differs, also in its length.
                    body.truncate(body.find(r#","updated_at""#).unwrap_or(body.len()));
                    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
                }
                answers.push((status, headers, body));
                asked += 1;
            }
            let what = format!("{endpoint:?} for {}: {answers:?}", asker.name);
            assert_eq!(answers[0], answers[1], "{what}");
            let wanted = if asker.may.contains(needed) { 200 } else { 403 };
            assert_eq!(answers[0].0, wanted, "{what}");
        }
    }
    assert_eq!(asked, 3 * 2 * askers.len());
    let left = server.get_as(&theirs.admin, "/v1/concurrency-limits").await.json();
    assert_eq!(left["data"].as_array().unwrap().len(), 2, "{left}");
    assert_eq!(
        server.db.sql(limits).await.unwrap(),
        before,
        "one's own were put and deleted again"
    );
}

#[tokio::test]
async fn a_schedule_that_another_tenant_has_is_one_that_nobody_has_to_everybody() {
    let server = server().await;
    let theirs = Theirs::make(&server).await;
    let askers = askers(&server).await;
    let own = server.schedule().await;
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str())];
    let path = format!("/v1/schedules/{own}");
    assert_eq!(request(server.addr, "DELETE", &path, &headers, b"").await.status, 200);
    let before = fingerprint(&server).await;
    let (mut asked, mut routes) = (0, 0);
    let of_one = |endpoint: &&Endpoint| endpoint.path.starts_with("/v1/schedules/{name}");
    for endpoint in TABLE.iter().filter(of_one).filter(|e| e.name != "schedule.put") {
        let Access::Tenant(needed, _) = endpoint.access else { panic!("{endpoint:?}") };
        routes += 1;
        for asker in &askers {
            let mut answers = Vec::new();
            for name in ["theirs", "nobodys", own.as_str()] {
                let target = endpoint.path.replace("{name}", name);
                let answer = ask(&server, endpoint, &target, &asker.credential).await;
                answers.push(shown_but(&answer, name));
                asked += 1;
            }
            let what = format!("{endpoint:?} for {}: {answers:?}", asker.name);
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{what}");
            let wanted = if asker.may.contains(needed) { 404 } else { 403 };
            assert_eq!(answers[0].0, wanted, "{what}");
        }
    }
    // The list of tasks that names one, as well.
    let list = TABLE.iter().find(|endpoint| endpoint.name == "task.list").unwrap();
    let Access::Tenant(needed, _) = list.access else { panic!("{list:?}") };
    for asker in &askers {
        let mut answers = Vec::new();
        for name in ["theirs", "nobodys", own.as_str()] {
            let target = format!("{}?schedule={name}", list.path);
            let answer = ask(&server, list, &target, &asker.credential).await;
            answers.push(shown_but(&answer, name));
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{}: {answers:?}", asker.name);
        assert_eq!(
            answers[0].0,
            if asker.may.contains(needed) { 404 } else { 403 },
            "{}",
            asker.name
        );
    }
    assert_eq!((routes, asked), (8, 8 * 3 * askers.len()));
    assert_eq!(fingerprint(&server).await, before, "nothing was changed");
    // What puts one makes one's own, be the name another's or not.
    for asker in &askers {
        for name in ["theirs", "nobodys"] {
            let target = format!("/v1/schedules/{name}");
            let put = server.put_as(&asker.credential, &target, &[], SCHEDULE).await;
            let wanted = if asker.may.contains(Permission::SubmitTasks) { 201 } else { 403 };
            assert_eq!(put.status, wanted, "{} {put:?}", asker.name);
            if wanted == 201 {
                assert_eq!(
                    request(server.addr, "DELETE", &target, &headers, b"").await.status,
                    200
                );
            }
        }
    }
    let left = server.get_as(&theirs.admin, "/v1/schedules").await.json();
    let names: Vec<_> = left["data"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["theirs", "theirs.too"]);
}

#[tokio::test]
async fn a_workflow_and_a_signal_of_another_tenant_are_those_that_nobody_has_to_everybody() {
    let server = server().await;
    let theirs = Theirs::make(&server).await;
    let askers = askers(&server).await;
    let before = fingerprint(&server).await;
    let mut asked = 0;
    let run = TABLE.iter().find(|endpoint| endpoint.name == "workflow_run.start").unwrap();
    let of_one = |endpoint: &&Endpoint| endpoint.path.starts_with("/v1/workflows/{name}");
    for endpoint in TABLE.iter().filter(of_one).filter(|e| e.name != "workflow.put").chain([run]) {
        let Access::Tenant(needed, _) = endpoint.access else { panic!("{endpoint:?}") };
        for asker in &askers {
            let mut answers = Vec::new();
            for name in ["theirs", "nobodys"] {
                let target = endpoint.path.replace("{name}", name).replace("{version}", "1");
                let answer = if endpoint.name == run.name {
                    let body = json!({"workflow": name}).to_string();
                    server.post_as(&asker.credential, &target, &[], body).await
                } else {
                    ask(&server, endpoint, &target, &asker.credential).await
                };
                answers.push(shown_but(&answer, name));
                asked += 1;
            }
            assert_eq!(answers[0], answers[1], "{endpoint:?} for {}", asker.name);
            let wanted = if asker.may.contains(needed) { 404 } else { 403 };
            assert_eq!(answers[0].0, wanted, "{endpoint:?} for {}", asker.name);
        }
    }
    assert_eq!(asked, 5 * 2 * askers.len());
    assert_eq!(fingerprint(&server).await, before, "nothing was changed");
    // A signal reaches one's own nodes only, and says nothing of others.
    let waiting = format!(
        "update task set state = 'scheduled', run_id = gen_random_uuid(), gate = 'waiting', signal_key = 'go' where id = '{}'",
        theirs.task.trim_start_matches("task_")
    );
    server.db.sql(&waiting).await.unwrap();
    for key in ["go", "nobodys"] {
        let sent = server.post(&format!("/v1/signals/{key}"), "").await;
        assert_eq!((sent.status, &sent.json()["nodes"]), (200, &json!(0)), "{sent:?}");
    }
    let path = format!("/v1/tasks/{}", theirs.task);
    assert_eq!(server.get_as(&theirs.admin, &path).await.json()["state"], "scheduled");
    let sent = server.post_as(&theirs.admin, "/v1/signals/go", &[], "").await;
    assert_eq!(sent.json()["nodes"], 1);
    assert_eq!(server.get_as(&theirs.admin, &path).await.json()["state"], "succeeded");
}

#[tokio::test]
async fn what_is_anothers_in_a_cursor_or_a_header_is_worth_what_a_made_up_one_is() {
    let server = server().await;
    let theirs = Theirs::make(&server).await;
    let task = server.noop().await;
    has_run(&server, server.tenant, &task).await;
    server.invoice(server.tenant).await;
    let before = fingerprint(&server).await;
    for list in lists(&task) {
        let with = |cursor: &str| format!("{list}?limit=1&cursor={cursor}");
        let made_up = shown(&server.get(&with("bWFkZSB1cA")).await);
        assert_eq!(made_up.0, 400, "{list}: {made_up:?}");
        for cursor in &theirs.cursors {
            assert_eq!(shown(&server.get(&with(cursor)).await), made_up, "{list}");
        }
    }
    assert_eq!(theirs.cursors.len(), 15);
    assert_eq!(fingerprint(&server).await, before);
    // The same idempotency key and body as theirs: a thing of one's own, and theirs is not shown.
    let (once, spec) = ([("Idempotency-Key", "theirs")], r#"{"name":"theirs","scopes":["read"]}"#);
    let own = server.post_with("/v1/keys", &once, spec).await;
    assert_eq!((own.status, own.header("idempotency-replayed")), (201, None));
    assert_ne!(own.json()["id"], json!(theirs.key));
    let listed = server.get_as(&theirs.admin, "/v1/keys").await.json();
    assert!(listed["data"].as_array().unwrap().iter().all(|key| key["id"] != own.json()["id"]));
}

/// What operators store of a tenant's money.
fn of_money(tenant: &str) -> [(&'static str, String, serde_json::Value); 2] {
    let credit = json!({"key": "k", "currency": "EUR", "amount": -1, "reason": "r"});
    [("POST", format!("{tenant}/credits"), credit), ("PUT", format!("{tenant}/billing"), json!({}))]
}

/// Questions that have a body.
fn asked() -> [(&'static str, serde_json::Value); 2] {
    [
        ("/v1/schedules/preview", json!({"timing": {"specs": []}})),
        ("/v1/quotes", json!({"task": {"run": {"noop": {}}}})),
    ]
}

#[tokio::test]
async fn fields_that_nobody_may_set_are_refused_by_name_in_every_body() {
    let server = server().await;
    let user = server.user_id().await;
    let task = format!("/v1/tasks/{}", server.noop().await);
    let operator = server.new_operator("admin", &["admin"]).await;
    self::user(&server, "ann@example.com", Role::Viewer).await;
    let access = signed_in(&server, "ann@example.com").await.0;
    let run = server.ended_run().await;
    let before = fingerprint(&server).await;
    let (own, platform, users) = (&server.key, &operator, &access);
    let password = json!({"old_password": "x", "password": crate::users::PASSWORD});
    let tenant = format!("/v1/admin/tenants/{}", server.tenant);
    let plan: serde_json::Value = serde_json::from_str(PLAN).unwrap();
    let asked = asked().map(|(path, body)| (own, "POST", path.to_owned(), body));
    let of_money = of_money(&tenant).map(|(verb, path, body)| (platform, verb, path, body));
    let targets = [
        (own, "POST", "/v1/tasks".to_owned(), json!({"run": {"noop": {}}})),
        (own, "PATCH", task.clone(), json!({"priority": 1})),
        (own, "POST", format!("{task}/mark-succeeded"), json!({"note": "n"})),
        (own, "POST", "/v1/keys".to_owned(), json!({"name": "n", "scopes": ["read"]})),
        (own, "POST", "/v1/users".to_owned(), json!({"email": "a@b", "role": "viewer"})),
        (own, "PATCH", format!("/v1/users/{user}"), json!({"role": "viewer"})),
        (own, "PUT", "/v1/concurrency-limits/k".to_owned(), json!({"running": 1})),
        (own, "PUT", "/v1/schedules/s".to_owned(), serde_json::from_str(SCHEDULE).unwrap()),
        (
            own,
            "POST",
            "/v1/schedules/s/backfill".to_owned(),
            serde_json::from_str(BACKFILL).unwrap(),
        ),
        (own, "POST", "/v1/schedules/s/pause".to_owned(), json!({})),
        (own, "PUT", "/v1/workflows/w".to_owned(), serde_json::from_str(WORKFLOW).unwrap()),
        (own, "POST", "/v1/workflow-runs".to_owned(), json!({"workflow": "w"})),
        (own, "POST", format!("/v1/workflow-runs/{run}/rerun"), json!({})),
        (own, "POST", "/v1/signals/k".to_owned(), json!({"payload": 1})),
        (own, "POST", format!("{task}/approve"), json!({})),
        (own, "POST", format!("{task}/reject"), json!({})),
        (users, "POST", "/v1/sessions/password".to_owned(), password),
        (platform, "POST", "/v1/admin/tenants".to_owned(), json!({"name": "n"})),
        (platform, "POST", format!("{tenant}/keys"), json!({"name": "n", "scopes": ["read"]})),
        (platform, "POST", format!("{tenant}/users"), json!({"email": "a@b", "role": "owner"})),
        (
            platform,
            "POST",
            "/v1/admin/operator-keys".to_owned(),
            json!({"name": "n", "scopes": ["admin"]}),
        ),
        (platform, "POST", "/v1/admin/pools/default/pause".to_owned(), json!({"reason": "r"})),
        (platform, "PUT", format!("{tenant}/users/a@b"), json!({"role": "owner"})),
        (platform, "PATCH", tenant, json!({"weight": 1})),
        (platform, "PUT", "/v1/admin/plans/own".to_owned(), plan),
        (platform, "PUT", "/v1/admin/pools/own".to_owned(), json!({"private_targets": true})),
    ];
    for (key, verb, path, body) in targets.into_iter().chain(asked).chain(of_money) {
        for field in [
            "tenant_id",
            "tenant",
            "status",
            "state",
            "fence",
            "attempt",
            "price",
            "tier_override",
            "user_id",
            "id",
        ] {
            let mut body = body.clone();
            body[field] = json!("x");
            let bearer = format!("Bearer {key}");
            let headers =
                [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
            let answer =
                request(server.addr, verb, &path, &headers, body.to_string().as_bytes()).await;
            assert_eq!(
                (answer.status, answer.pointers()),
                (422, vec![format!("/{field}")]),
                "{path}"
            );
        }
    }
    assert_eq!(fingerprint(&server).await, before);
}

#[tokio::test]
async fn every_verb_on_every_path_does_what_the_table_declares_for_every_credential() {
    let server = server().await;
    let operators = [
        server.new_operator("reader", &["read"]).await,
        server.new_operator("admin", &["admin"]).await,
    ];
    let key = |scopes: &'static [&'static str]| server.new_key(server.tenant, scopes);
    let keys = [
        ("read", key(&["read"]).await),
        ("submit", key(&["submit"]).await),
        ("approve", key(&["approve"]).await),
        ("admin", key(&["admin"]).await),
    ];
    let paths: BTreeSet<&str> = TABLE.iter().map(|endpoint| endpoint.path).collect();
    let mut asked = 0;
    for path in paths {
        let target = path.replace("{id}", "nothing").replace("{name}", "nobodys");
        let target = target.replace("{key}", "nobodys").replace("{file}", "swagger-ui.css");
        let target = target.replace("{key_id}", "nobodys").replace("{login}", "nobodys");
        for verb in VERBS {
            // HEAD is answered as GET is.
            let declared = if verb == "HEAD" { "GET" } else { verb };
            let endpoint = TABLE.iter().find(|e| e.path == path && e.verb.as_str() == declared);
            let mut credentials = vec![("none", None), ("garbage", Some("garbage"))];
            credentials.extend(operators.iter().map(|key| ("operator", Some(key.as_str()))));
            credentials.extend(keys.iter().map(|(scope, key)| (*scope, Some(key.as_str()))));
            for (name, credential) in credentials {
                let bearer = credential.map(|key| format!("Bearer {key}"));
                let mut headers =
                    vec![("Content-Type", "application/json"), ("X-HTTP-Method-Override", "GET")];
                headers.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
                let status = request(server.addr, verb, &target, &headers, b"").await.status;
                let what = format!("{verb} {path} as {name}: {status}");
                asked += 1;
                let Some(endpoint) = endpoint else {
                    assert_eq!(status, 405, "{what}");
                    continue;
                };
                match endpoint.access {
                    Access::Open(_) | Access::SignIn(_) => {
                        assert!(![401, 403, 405, 500].contains(&status), "{what}");
                    }
                    _ if ["none", "garbage"].contains(&name) => assert_eq!(status, 401, "{what}"),
                    Access::Tenant(..) if name == "operator" => assert_eq!(status, 403, "{what}"),
                    Access::Operator(..) if name != "operator" => assert_eq!(status, 403, "{what}"),
                    Access::Operator(..) => assert!(![401, 405, 500].contains(&status), "{what}"),
                    Access::Tenant(needed, _) => {
                        let may = ScopeSet::from_names(&[name]).permissions();
                        let may = may.with(PermissionSet::OF_EVERYBODY).contains(needed);
                        assert_eq!(status == 403, !may, "{what}");
                        assert!(![401, 405, 500].contains(&status), "{what}");
                    }
                }
            }
        }
    }
    println!("{asked} requests");
    assert!(asked > 1000, "{asked}");
}

#[tokio::test]
async fn no_other_spelling_of_a_path_gets_around_its_rule() {
    let server = server().await;
    let mut spelt = 0;
    for endpoint in &TABLE {
        if matches!(endpoint.access, Access::Open(_)) {
            continue;
        }
        let path = endpoint.path.replace("{id}", "nothing").replace("{name}", "nobodys");
        let path = path.replace("{key}", "nobodys").replace("{login}", "nobodys");
        let rest = path.strip_prefix("/v1").unwrap_or(&path);
        for spelling in [
            format!("{path}/"),
            format!("{path}//"),
            format!("{path}/."),
            format!("{path}%2f"),
            format!("{path}%00"),
            format!("{path};x"),
            format!("{path}.json"),
            format!("/{path}"),
            format!("/v1/{rest}"),
            format!("/V1{rest}"),
            format!("/v1{}", rest.to_uppercase()),
            format!("/v1/.{rest}"),
            format!("/v1/%2e{rest}"),
            format!("/docs/..{path}"),
            format!("/docs/%2e%2e{path}"),
            format!("/healthz/..{path}"),
            format!("/%76%31{rest}"),
            format!("http://elsewhere{path}"),
        ] {
            let headers = [("Content-Type", "application/json")];
            let answer =
                request(server.addr, endpoint.verb.as_str(), &spelling, &headers, b"").await;
            let fine = match endpoint.access {
                Access::SignIn(_) => ![200, 201, 500].contains(&answer.status),
                _ => [400, 401, 404, 405].contains(&answer.status),
            };
            assert!(fine, "{spelling}: {answer:?}");
            spelt += 1;
        }
    }
    println!("{spelt} spellings");
}
