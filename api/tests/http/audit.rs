//! The audit (C20): each mutating call makes one row, with who, by which key, in which request, from what to what.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, Server};
use crate::users::{JWT, PASSWORD, TEN_SECONDS_LATER, server, sign_in, signed_in, user};
use api::routes::table::{TABLE, Verb};
use domain::access::Role;
use domain::audit::AuditAction;
use serde_json::{Value, json};

/// Every route that changes something, but submits and cancels, and the action under which the audit tells of it.
const AUDITED: [(&str, AuditAction); 72] = [
    ("key.create", AuditAction::KeyCreate),
    ("key.rotate", AuditAction::KeyRotate),
    ("key.revoke", AuditAction::KeyRevoke),
    ("user.create", AuditAction::UserCreate),
    ("user.put", AuditAction::UserPut),
    ("user.change", AuditAction::UserChange),
    ("user.remove", AuditAction::UserRemove),
    ("session.sign_in", AuditAction::SessionSignIn),
    ("session.refresh", AuditAction::SessionRefresh),
    ("session.accept", AuditAction::SessionAccept),
    ("session.sign_out", AuditAction::SessionSignOut),
    ("session.end", AuditAction::SessionEnd),
    ("session.password", AuditAction::SessionPassword),
    ("session.sign_up", AuditAction::SessionSignUp),
    ("task.retry", AuditAction::TaskRetry),
    ("task.rerun", AuditAction::TaskRerun),
    ("task.run_now", AuditAction::TaskRunNow),
    ("task.mark_succeeded", AuditAction::TaskMarkSucceeded),
    ("task.change", AuditAction::TaskChange),
    ("task.approve", AuditAction::TaskApprove),
    ("task.reject", AuditAction::TaskReject),
    ("workflow.put", AuditAction::WorkflowPut),
    ("workflow.delete", AuditAction::WorkflowDelete),
    ("workflow_run.start", AuditAction::WorkflowRunStart),
    ("workflow_run.rerun", AuditAction::WorkflowRunStart),
    ("workflow_run.cancel", AuditAction::WorkflowRunCancel),
    ("signal.send", AuditAction::SignalSend),
    ("concurrency.put", AuditAction::ConcurrencyPut),
    ("concurrency.delete", AuditAction::ConcurrencyDelete),
    ("spend_cap.put", AuditAction::SpendCapPut),
    ("spend_cap.delete", AuditAction::SpendCapDelete),
    ("webhook.put", AuditAction::WebhookPut),
    ("webhook.delete", AuditAction::WebhookDelete),
    ("webhook.rotate", AuditAction::WebhookRotate),
    ("webhook.resume", AuditAction::WebhookResume),
    ("webhook.replay", AuditAction::WebhookReplay),
    ("webhook.replay_one", AuditAction::WebhookReplay),
    ("schedule.put", AuditAction::SchedulePut),
    ("schedule.delete", AuditAction::ScheduleDelete),
    ("schedule.pause", AuditAction::SchedulePause),
    ("schedule.resume", AuditAction::ScheduleResume),
    ("schedule.trigger", AuditAction::ScheduleTrigger),
    ("schedule.backfill", AuditAction::ScheduleBackfill),
    ("tenant.create", AuditAction::TenantCreate),
    ("tenant.put", AuditAction::TenantPut),
    ("tenant.change", AuditAction::TenantChange),
    ("tenant.suspend", AuditAction::TenantSuspend),
    ("tenant.resume", AuditAction::TenantResume),
    ("tenant.delete", AuditAction::TenantDelete),
    ("tenant_key.create", AuditAction::KeyCreate),
    ("tenant_key.rotate", AuditAction::KeyRotate),
    ("tenant_key.revoke", AuditAction::KeyRevoke),
    ("tenant_user.create", AuditAction::UserCreate),
    ("tenant_user.put", AuditAction::UserPut),
    ("tenant_user.remove", AuditAction::UserRemove),
    ("operator_key.create", AuditAction::OperatorKeyCreate),
    ("operator_key.rotate", AuditAction::OperatorKeyRotate),
    ("operator_key.revoke", AuditAction::OperatorKeyRevoke),
    ("restore.resume", AuditAction::InstallationResume),
    ("plan.put", AuditAction::PlanPut),
    ("plan.delete", AuditAction::PlanDelete),
    ("price_book.put", AuditAction::PriceBookPut),
    ("price_book.delete", AuditAction::PriceBookDelete),
    ("tenant.put_billing", AuditAction::TenantPutBilling),
    ("tenant_invoice.finalize", AuditAction::InvoiceFinalize),
    ("tenant_invoice.pay", AuditAction::InvoicePay),
    ("tenant_invoice.void", AuditAction::InvoiceVoid),
    ("tenant_credit.create", AuditAction::CreditCreate),
    ("pool.set", AuditAction::PoolSet),
    ("pool.delete", AuditAction::PoolDelete),
    ("pool.pause", AuditAction::PoolPause),
    ("pool.resume", AuditAction::PoolResume),
];

/// What makes tasks, asks them to stop, or says how an attempt ended, is told by the tasks themselves.
const OF_TASKS: [&str; 4] = ["task.submit", "task.submit_batch", "task.cancel", "task.complete"];

/// Actions of no route, or of a refused call.
const OF_NO_ROUTE: [AuditAction; 3] =
    [AuditAction::SessionRefused, AuditAction::SessionReused, AuditAction::TenantPurge];

/// Nouns of the routes that only operators call.
const OF_OPERATORS: [&str; 10] = [
    "tenant",
    "tenant_key",
    "tenant_user",
    "tenant_invoice",
    "tenant_credit",
    "operator_key",
    "plan",
    "price_book",
    "pool",
    "restore",
];

/// The declared actions of operators' routes, or of all the others; sorted.
fn declared(of_operators: bool) -> Vec<&'static str> {
    let is_theirs = |name: &str| OF_OPERATORS.contains(&name.split('.').next().unwrap());
    let routes = AUDITED.iter().filter(|(name, _)| is_theirs(name) == of_operators);
    let mut actions: Vec<_> = routes.map(|(_, action)| action.as_str()).collect();
    actions.sort_unstable();
    actions
}

#[test]
fn every_route_that_changes_something_says_as_what_it_is_audited() {
    for endpoint in &TABLE {
        // What a canary saw is a figure, every half a minute.
        let of_tasks = OF_TASKS.contains(&endpoint.name) || endpoint.name == "canary.report";
        // A test of a webhook is in its own log, and tells its receiver nothing.
        let of_tasks = of_tasks || endpoint.name == "webhook.test";
        let asks = ["schedule.preview_timing", "usage.quote", "price_book.dry_run"]
            .contains(&endpoint.name);
        let reads = endpoint.verb == Verb::Get || asks;
        if reads || of_tasks || !endpoint.path.starts_with("/v1/") {
            continue;
        }
        let told = AUDITED.iter().any(|(name, _)| *name == endpoint.name);
        assert!(
            told,
            "{endpoint:?} changes something: say here as what it is audited, and test it below"
        );
    }
    for (name, _) in &AUDITED {
        assert!(TABLE.iter().any(|endpoint| endpoint.name == *name), "{name} is no route");
    }
    for action in AuditAction::ALL {
        let of_a_route = AUDITED.iter().any(|(_, audited)| audited == action);
        assert!(of_a_route != OF_NO_ROUTE.contains(action), "{action}");
    }
}

#[tokio::test]
async fn what_another_version_wrote_is_shown_as_it_is() {
    let server = Server::start().await;
    let sql = "insert into audit (id, tenant_id, actor_kind, action, target_kind)
        select gen_random_uuid(), id, 'system', 'safe.open', 'safe' from tenant where name = 'first'";
    server.db.sql(sql).await.unwrap();
    let page = server.get("/v1/audit?action=safe.open").await.json();
    let shown = |name: &str| page["data"][0][name].clone();
    assert_eq!(shown("action"), "safe.open");
    assert_eq!(shown("target"), json!({"kind": "safe", "id": null}));
}

/// Rows of the audit, oldest first, as whoever has this credential reads them there.
async fn rows(server: &Server, credential: &str, first: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut path = first.to_owned();
    loop {
        let page = server.get_as(credential, &path).await;
        assert_eq!(page.status, 200, "{page:?}");
        let page = page.json();
        rows.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("{first}&cursor={cursor}");
    }
    rows.reverse();
    rows
}

/// Watches the audit grow.
struct Watch<'a> {
    server: &'a Server,
    credential: &'a str,
    path: &'a str,
    seen: usize,
    actions: Vec<String>,
}

impl<'a> Watch<'a> {
    /// Begins with what is there.
    async fn begin(server: &'a Server, credential: &'a str, path: &'a str) -> Self {
        let seen = rows(server, credential, path).await.len();
        Self { server, credential, path, seen, actions: Vec::new() }
    }

    async fn rows(&self) -> Vec<Value> {
        rows(self.server, self.credential, self.path).await
    }

    /// Exactly one row was added by this answer's request; gives it.
    async fn one(&mut self, answer: &Answer) -> Value {
        let rows = self.rows().await;
        assert_eq!(rows.len(), self.seen + 1, "{answer:?} {:#?}", &rows[self.seen..]);
        let row = rows[self.seen].clone();
        assert_eq!(row["request_id"].as_str(), answer.header("x-request-id"), "{row}");
        self.seen += 1;
        self.actions.push(row["action"].as_str().unwrap().to_owned());
        row
    }

    /// No row was added.
    async fn none(&self, answer: &Answer) {
        let rows = self.rows().await;
        assert_eq!(rows.len(), self.seen, "{answer:?} {:#?}", &rows[self.seen.min(rows.len())..]);
    }
}

async fn ask(server: &Server, credential: &str, verb: &str, path: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {credential}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request(server.addr, verb, path, &headers, body.as_bytes()).await
}

/// Keys are made, replaced and revoked, by a key.
async fn keys(watch: &mut Watch<'_>) {
    let server = watch.server;
    let (key, key_id) = (&server.key, server.key.split('_').nth(2).unwrap());
    let once = [("Idempotency-Key", "one")];
    let spec = json!({"name": "ci", "scopes": ["read"]}).to_string();
    let made = server.post_with("/v1/keys", &once, &spec).await;
    let row = watch.one(&made).await;
    let new_id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(row["actor"], json!({"kind": "key", "id": key_id, "key_id": key_id}));
    assert_eq!(row["target"], json!({"kind": "key", "id": new_id}));
    assert_eq!((&row["before"], &row["after"]["name"]), (&Value::Null, &json!("ci")));
    watch.none(&server.post_with("/v1/keys", &once, &spec).await).await;
    let other = json!({"name": "other", "scopes": ["read"]}).to_string();
    watch.none(&server.post_with("/v1/keys", &once, other).await).await;
    watch.none(&server.post("/v1/keys", r#"{"name": "", "scopes": []}"#).await).await;
    let rotate = format!("/v1/keys/{new_id}/rotate");
    let row = watch.one(&server.post(&rotate, "").await).await;
    assert_eq!(row["before"]["replaced_by"], Value::Null);
    assert_eq!(row["after"]["old"]["replaced_by"].as_str().unwrap().len(), 12);
    watch.none(&server.post(&rotate, "").await).await;
    let path = format!("/v1/keys/{new_id}");
    let row = watch.one(&ask(server, key, "DELETE", &path, Value::Null).await).await;
    assert_eq!((&row["before"]["name"], &row["after"]), (&json!("ci"), &Value::Null));
    watch.none(&ask(server, key, "DELETE", &path, Value::Null).await).await;
}

/// A user is invited, accepts and is changed; gives their id.
async fn users(watch: &mut Watch<'_>) -> String {
    let server = watch.server;
    let key = &server.key;
    let spec = json!({"email": "ann@example.com", "role": "viewer"}).to_string();
    let invited = server.post("/v1/users", &spec).await;
    let row = watch.one(&invited).await;
    let user_id = invited.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(
        row["after"],
        json!({"email": "ann@example.com", "role": "viewer", "state": "invited"})
    );
    watch.none(&server.post("/v1/users", &spec).await).await;
    let token = invited.json()["invite_token"].clone();
    let accept = json!({"token": token, "password": PASSWORD});
    let accepted = server.post("/v1/sessions/accept", accept.to_string()).await;
    assert_eq!(watch.one(&accepted).await["actor"]["id"], json!(user_id));
    watch.none(&server.post("/v1/sessions/accept", accept.to_string()).await).await;
    let path = format!("/v1/users/{user_id}");
    for role in ["billing", "viewer"] {
        let put = ask(server, key, "PUT", &path, json!({"role": role})).await;
        let row = watch.one(&put).await;
        assert_eq!((&row["after"]["role"], &row["target"]["id"]), (&json!(role), &json!(user_id)));
        watch.none(&ask(server, key, "PUT", &path, json!({"role": role})).await).await;
    }
    watch.actions.pop();
    let changed = ask(server, key, "PATCH", &path, json!({"role": "admin"})).await;
    let row = watch.one(&changed).await;
    assert_eq!(
        (&row["before"]["role"], &row["after"]["role"]),
        (&json!("viewer"), &json!("admin"))
    );
    user_id
}

/// The user signs in and out, here and there.
async fn sign_ins(watch: &mut Watch<'_>, user_id: &str) {
    let server = watch.server;
    let wrong = sign_in(server, "ann@example.com", "wrong wrong wrong").await;
    let row = watch.one(&wrong).await;
    assert_eq!(row["action"], "session.refused");
    assert_eq!(row["actor"], json!({"kind": "nobody", "id": null, "key_id": null}));
    assert_eq!(row["target"], json!({"kind": "user", "id": user_id}));
    watch.actions.pop();
    watch.none(&sign_in(server, "nobody@example.com", PASSWORD).await).await;
    let here = sign_in(server, "ann@example.com", PASSWORD).await;
    let row = watch.one(&here).await;
    let session = |answer: &Answer, name: &str| answer.json()[name].as_str().unwrap().to_owned();
    let as_user = json!({"kind": "user", "id": user_id, "key_id": session(&here, "id")});
    assert_eq!(row["actor"], as_user);
    let there = sign_in(server, "ann@example.com", PASSWORD).await;
    watch.one(&there).await;
    watch.actions.pop();
    let access = session(&here, "access_token");
    let path = format!("/v1/sessions/{}", session(&there, "id"));
    let ended = ask(server, &access, "DELETE", &path, Value::Null).await;
    assert_eq!(watch.one(&ended).await["actor"], as_user);
    watch.none(&ask(server, &access, "DELETE", &path, Value::Null).await).await;
    let refresh = json!({"refresh_token": session(&here, "refresh_token")}).to_string();
    watch.one(&server.post("/v1/sessions/refresh", &refresh).await).await;
    let change = json!({"old_password": PASSWORD, "password": PASSWORD});
    let wrong = json!({"old_password": "wrong wrong wrong", "password": PASSWORD});
    watch.none(&ask(server, &access, "POST", "/v1/sessions/password", wrong).await).await;
    let changed = ask(server, &access, "POST", "/v1/sessions/password", change).await;
    let row = watch.one(&changed).await;
    assert_eq!(
        (&row["target"], &row["actor"]),
        (&json!({"kind": "user", "id": user_id}), &as_user)
    );
    let out = ask(server, &access, "DELETE", "/v1/sessions", Value::Null).await;
    watch.one(&out).await;
    watch.none(&server.post("/v1/sessions/refresh", &refresh).await).await;
}

/// A limit is stored, changed and forgotten.
async fn a_limit(watch: &mut Watch<'_>) {
    let server = watch.server;
    let path = "/v1/concurrency-limits/a%2Fb";
    let put = async |running: u32| {
        ask(server, &server.key, "PUT", path, json!({"running": running})).await
    };
    let row = watch.one(&put(3).await).await;
    assert_eq!(row["target"], json!({"kind": "concurrency_limit", "id": "a/b"}));
    assert_eq!((&row["before"], &row["after"]), (&Value::Null, &json!({"running": 3})));
    watch.none(&put(3).await).await;
    let row = watch.one(&put(0).await).await;
    assert_eq!((&row["before"], &row["after"]), (&json!({"running": 3}), &json!({"running": 0})));
    watch.actions.pop();
    watch.none(&put(1_000_001).await).await;
    let delete = async || ask(server, &server.key, "DELETE", path, Value::Null).await;
    let row = watch.one(&delete().await).await;
    assert_eq!((&row["before"], &row["after"]), (&json!({"running": 0}), &Value::Null));
    watch.none(&delete().await).await;
}

/// A spend cap is stored, changed and deleted.
async fn a_spend_cap(watch: &mut Watch<'_>) {
    let server = watch.server;
    let path = "/v1/spend-caps/all";
    let put = async |amount: i64| {
        let cap = json!({"amount": amount, "currency": "EUR", "period": "day"});
        ask(server, &server.key, "PUT", path, cap).await
    };
    let row = watch.one(&put(3).await).await;
    assert_eq!(row["target"], json!({"kind": "spend_cap", "id": "all"}));
    assert_eq!((&row["before"], &row["after"]["amount"]), (&Value::Null, &json!(3)));
    watch.none(&put(3).await).await;
    let row = watch.one(&put(0).await).await;
    assert_eq!((&row["before"]["amount"], &row["after"]["amount"]), (&json!(3), &json!(0)));
    watch.actions.pop();
    watch.none(&put(-1).await).await;
    let delete = async || ask(server, &server.key, "DELETE", path, Value::Null).await;
    let row = watch.one(&delete().await).await;
    assert_eq!((&row["before"]["amount"], &row["after"]), (&json!(0), &Value::Null));
    watch.none(&delete().await).await;
}

/// A webhook is stored, changed, gets another secret, is replayed, enabled again and deleted. No secret and no header is told.
async fn a_webhook(watch: &mut Watch<'_>) {
    let server = watch.server;
    let path = "/v1/webhooks/all";
    let act = async |verb: &str, part: &str, body: Value| {
        ask(server, &server.key, verb, &format!("{path}{part}"), body).await
    };
    let put = async |url: &str| {
        act("PUT", "", json!({"url": url, "headers": {"Authorization": "Bearer hunter2"}})).await
    };
    let row = watch.one(&put("https://a.example/x?key=hunter2").await).await;
    assert_eq!(row["target"], json!({"kind": "webhook", "id": "all"}));
    assert_eq!(
        (&row["before"], &row["after"]["url"]),
        (&Value::Null, &json!("https://a.example/x"))
    );
    watch.none(&put("https://a.example/x?key=hunter2").await).await;
    let row = watch.one(&put("https://b.example/").await).await;
    assert_eq!(row["before"]["url"], "https://a.example/x");
    watch.actions.pop();
    watch.none(&put("nonsense").await).await;
    watch.one(&act("POST", "/rotate", Value::Null).await).await;
    watch.one(&act("POST", "/replay", json!({"from": "2020-01-01T00:00:00Z"})).await).await;
    let made = act("POST", "/test", Value::Null).await;
    watch.none(&made).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let again = act("POST", &format!("/deliveries/{id}/replay"), Value::Null).await;
    assert_eq!(watch.one(&again).await["after"], json!({"delivery": id}));
    watch.none(&act("POST", "/resume", Value::Null).await).await;
    server
        .db
        .sql("update webhook set disabled_at = now(), disabled_reason = 'r' where name = 'all'")
        .await
        .unwrap();
    watch.one(&act("POST", "/resume", Value::Null).await).await;
    let row = watch.one(&act("DELETE", "", Value::Null).await).await;
    assert_eq!(
        (&row["before"]["url"], &row["after"]),
        (&json!("https://b.example/"), &Value::Null)
    );
    watch.none(&act("DELETE", "", Value::Null).await).await;
}

/// The levers of a task; what changes nothing or is refused is not told.
async fn levers(watch: &mut Watch<'_>) {
    let server = watch.server;
    let spec = r#"{"run":{"command":{"argv":["a"],"env":{"A":"hunter2"}}},"delay":"1h"}"#;
    let id = server.post("/v1/tasks", spec).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/tasks/{id}");
    let act = async |lever: &str, body: Value| {
        ask(server, &server.key, "POST", &format!("{path}/{lever}"), body).await
    };
    let change = async |body: Value| ask(server, &server.key, "PATCH", &path, body).await;
    let wanted = json!({"priority": 3, "run": {"command": {"env": {"A": "hunter3"}}}});
    let row = watch.one(&change(wanted.clone()).await).await;
    assert_eq!(row["target"], json!({"kind": "task", "id": id}));
    assert_eq!(row["before"], json!({"version": 1, "priority": 0, "env": "not shown"}));
    assert_eq!(row["after"], json!({"version": 2, "priority": 3, "env": "not shown"}));
    watch.none(&change(wanted).await).await;
    watch.none(&change(json!({"priority": 30})).await).await;
    watch.none(&act("retry", Value::Null).await).await;
    let row = watch.one(&act("run-now", Value::Null).await).await;
    assert_eq!(
        (&row["before"]["state"], &row["after"]),
        (&json!("scheduled"), &json!({"state": "ready"}))
    );
    watch.none(&act("run-now", Value::Null).await).await;
    let row = watch.one(&act("mark-succeeded", json!({"note": "by hand"})).await).await;
    assert_eq!(row["after"], json!({"state": "succeeded", "note": "by hand"}));
    watch.none(&act("mark-succeeded", json!({"note": "again"})).await).await;
    watch.none(&change(json!({"priority": 1})).await).await;
    for lever in ["retry", "rerun"] {
        let made = act(lever, Value::Null).await;
        let row = watch.one(&made).await;
        assert_eq!((&row["target"]["id"], &row["before"]), (&json!(id), &Value::Null));
        assert_eq!(row["after"], json!({"task": made.json()["id"]}));
    }
    let all = server.db.sql("select a::text from audit a").await.unwrap();
    assert!(!all.contains("hunter"), "no environment in the audit");
}

/// A schedule is stored, changed, paused, resumed, fired and deleted; what changes nothing is not told.
async fn a_schedule(watch: &mut Watch<'_>) {
    let server = watch.server;
    let path = "/v1/schedules/audited";
    let put = async |specs: Value| {
        let body = json!({"timing": {"specs": specs}, "task": {"run": {"noop": {}}}});
        ask(server, &server.key, "PUT", path, body).await
    };
    let yearly = json!([{"yearly": {"on": ["02-29"], "at": ["12:00"]}}]);
    let row = watch.one(&put(yearly.clone()).await).await;
    assert_eq!(
        (&row["target"]["kind"], &row["target"]["id"]),
        (&json!("schedule"), &json!("audited"))
    );
    assert_eq!(row["before"], Value::Null);
    watch.none(&put(yearly).await).await;
    watch.none(&put(json!([{"cron": "never"}])).await).await;
    let row = watch.one(&put(json!([{"cron": "0 0 1 1 *"}])).await).await;
    assert!(!row["before"].is_null() && row["before"] != row["after"], "{row}");
    watch.actions.pop();
    let act = async |verb: &str, body: Value| {
        ask(server, &server.key, "POST", &format!("{path}/{verb}"), body).await
    };
    let row = watch.one(&act("pause", json!({"reason": "holidays"})).await).await;
    assert!(row["after"].to_string().contains("holidays"), "{row}");
    watch.none(&act("pause", json!({"reason": "again"})).await).await;
    watch.one(&act("resume", Value::Null).await).await;
    watch.none(&act("resume", Value::Null).await).await;
    watch.one(&act("trigger", Value::Null).await).await;
    let mut range =
        json!({"from": "2020-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "dry_run": true});
    watch.none(&act("backfill", range.clone()).await).await;
    range["dry_run"] = json!(false);
    watch.one(&act("backfill", range).await).await;
    watch.one(&ask(server, &server.key, "DELETE", path, Value::Null).await).await;
    watch.none(&ask(server, &server.key, "DELETE", path, Value::Null).await).await;
}

/// A workflow is stored, changed, run, cancelled, run again and deleted; a signal is sent, and a person decides.
async fn a_workflow(watch: &mut Watch<'_>) {
    let server = watch.server;
    let path = "/v1/workflows/audited";
    let put = async |node: &str| {
        let body = json!({"nodes": {node: {"task": {"run": {"noop": {}}}}}});
        ask(server, &server.key, "PUT", path, body).await
    };
    let row = watch.one(&put("a").await).await;
    assert_eq!(row["target"], json!({"kind": "workflow", "id": "audited"}));
    assert_eq!((&row["before"], &row["after"]), (&Value::Null, &json!({"version": 1, "nodes": 1})));
    watch.none(&put("a").await).await;
    watch.none(&put("a b").await).await;
    let row = watch.one(&put("b").await).await;
    assert_eq!((&row["before"]["version"], &row["after"]["version"]), (&json!(1), &json!(2)));
    watch.actions.pop();
    let once = [("Idempotency-Key", "run")];
    let spec = json!({"workflow": "audited"}).to_string();
    let started = server.post_with("/v1/workflow-runs", &once, &spec).await;
    let row = watch.one(&started).await;
    assert_eq!(row["after"], json!({"workflow": "audited", "nodes": 1, "rerun_of": null}));
    watch.none(&server.post_with("/v1/workflow-runs", &once, &spec).await).await;
    watch.none(&server.post("/v1/workflow-runs", r#"{"workflow":"none"}"#).await).await;
    let run = format!("/v1/workflow-runs/{}", started.json()["id"].as_str().unwrap());
    watch.none(&server.post(&format!("{run}/rerun"), "").await).await;
    watch.one(&server.post(&format!("{run}/cancel"), "").await).await;
    watch.none(&server.post(&format!("{run}/cancel"), "").await).await;
    let ended = server.ended_run().await;
    watch.seen = watch.rows().await.len();
    watch.one(&server.post(&format!("/v1/workflow-runs/{ended}/rerun"), "").await).await;
    let row = watch.one(&server.post("/v1/signals/a%2Fb", r#"{"payload":"hunter2"}"#).await).await;
    assert_eq!(row["target"], json!({"kind": "signal", "id": "a/b"}));
    for decision in ["approve", "reject"] {
        let task = server.waiting().await;
        let path = format!("/v1/tasks/{task}/{decision}");
        let row = watch.one(&server.post(&path, r#"{"note":"because"}"#).await).await;
        assert_eq!(
            (&row["target"]["id"], &row["after"]["note"]),
            (&json!(task), &json!("because"))
        );
        watch.none(&server.post(&path, "").await).await;
    }
    watch.one(&ask(server, &server.key, "DELETE", path, Value::Null).await).await;
    watch.none(&ask(server, &server.key, "DELETE", path, Value::Null).await).await;
    let all = server.db.sql("select a::text from audit a").await.unwrap();
    assert!(!all.contains("hunter"), "no payload in the audit");
}

/// What a token that comes twice ends is told once.
async fn a_stolen_token(watch: &mut Watch<'_>) {
    let server = watch.server;
    let again = sign_in(server, "ann@example.com", PASSWORD).await;
    watch.one(&again).await;
    let stolen = json!({"refresh_token": again.json()["refresh_token"]}).to_string();
    watch.one(&server.post("/v1/sessions/refresh", &stolen).await).await;
    server.db.sql(TEN_SECONDS_LATER).await.unwrap();
    let row = watch.one(&server.post("/v1/sessions/refresh", &stolen).await).await;
    assert_eq!(
        (&row["action"], &row["actor"]["kind"]),
        (&json!("session.reused"), &json!("nobody"))
    );
    watch.none(&server.post("/v1/sessions/refresh", &stolen).await).await;
    watch.actions.truncate(watch.actions.len() - 3);
}

/// A customer signs up: one row, in the new tenant's audit. Gives its action.
async fn a_sign_up(server: &Server) -> String {
    let spec =
        json!({"tenant": "acme", "email": "bob@example.com", "password": PASSWORD}).to_string();
    let made = server.post("/v1/sign-up", &spec).await;
    let access = made.json()["access_token"].as_str().unwrap().to_owned();
    server.post("/v1/sign-up", &spec).await;
    let rows = rows(server, &access, "/v1/audit?limit=3").await;
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["request_id"].as_str(), made.header("x-request-id"));
    assert_eq!(rows[0]["after"]["email"], "bob@example.com");
    rows[0]["action"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn each_call_that_changes_something_makes_one_row_and_no_other_makes_any() {
    let server = Server::start_with(&[JWT, ("BERTH_AUTH__SIGN_UP_PLAN", "free")]).await;
    let mut watch = Watch::begin(&server, &server.key, "/v1/audit?limit=3").await;
    keys(&mut watch).await;
    a_limit(&mut watch).await;
    a_spend_cap(&mut watch).await;
    a_webhook(&mut watch).await;
    levers(&mut watch).await;
    a_schedule(&mut watch).await;
    a_workflow(&mut watch).await;
    let user_id = users(&mut watch).await;
    sign_ins(&mut watch, &user_id).await;
    a_stolen_token(&mut watch).await;
    let path = format!("/v1/users/{user_id}");
    let removed = ask(&server, &server.key, "DELETE", &path, Value::Null).await;
    let row = watch.one(&removed).await;
    assert_eq!(row["before"]["email"], "ann@example.com");
    watch.none(&ask(&server, &server.key, "DELETE", &path, Value::Null).await).await;

    // Reading and submits make none, and every declared action was seen.
    watch.none(&server.get("/v1/keys").await).await;
    server.noop().await;
    watch.none(&server.get("/v1/tasks").await).await;
    let mut seen = watch.actions.clone();
    seen.push(a_sign_up(&server).await);
    seen.sort_unstable();
    assert_eq!(seen, declared(false));
    let secrets = ["berth_live_", "berthinvite_", "berthrefresh_", "argon2", PASSWORD];
    let all = server.db.sql("select a::text from audit a").await.unwrap();
    assert!(secrets.iter().all(|secret| !all.contains(secret)), "{all}");
}

/// A plan is made, changed and refused; those of the platform.
async fn a_plan(watch: &mut Watch<'_>) {
    let (server, operator) = (watch.server, watch.credential);
    let put = async |limits: &Value| {
        ask(server, operator, "PUT", "/v1/admin/plans/team", limits.clone()).await
    };
    let mut limits: Value = serde_json::from_str(crate::matrix::PLAN).unwrap();
    let row = watch.one(&put(&limits).await).await;
    assert_eq!(row["target"], json!({"kind": "plan", "id": "team"}));
    assert_eq!((&row["tenant"], &row["before"]), (&Value::Null, &Value::Null));
    assert_eq!(row["after"]["backlog"], 1);
    watch.none(&put(&limits).await).await;
    limits["backlog"] = json!(2);
    let row = watch.one(&put(&limits).await).await;
    assert_eq!((&row["before"]["backlog"], &row["after"]["backlog"]), (&json!(1), &json!(2)));
    watch.actions.pop();
    limits["backlog"] = json!(0);
    watch.none(&put(&limits).await).await;
}

/// A price book is made, named by that plan, changed, refused and, while no plan has named it, deleted; those of the platform.
async fn a_price_book(watch: &mut Watch<'_>) {
    let (server, operator) = (watch.server, watch.credential);
    let mut book: Value = serde_json::from_str(crate::matrix::PRICE_BOOK).unwrap();
    let at = async |verb: &str, name: &str, body: Value| {
        ask(server, operator, verb, &format!("/v1/admin/price-books/{name}"), body).await
    };
    let row = watch.one(&at("PUT", "eur", book.clone()).await).await;
    assert_eq!(row["target"], json!({"kind": "price_book", "id": "eur"}));
    assert_eq!((&row["tenant"], &row["before"]), (&Value::Null, &Value::Null));
    assert_eq!(row["after"]["prices"][0]["rates"]["cpu_core"], 40_000);
    watch.none(&at("PUT", "eur", book.clone()).await).await;
    let mut plan: Value = serde_json::from_str(crate::matrix::PLAN).unwrap();
    plan["backlog"] = json!(2);
    plan["billing"] = json!({"price_book": "eur", "included": {"tasks": 7}});
    let named = ask(server, operator, "PUT", "/v1/admin/plans/team", plan).await;
    let row = watch.one(&named).await;
    assert_eq!(
        (&row["before"]["billing"], &row["after"]["billing"]["included"]["tasks"]),
        (&Value::Null, &json!(7))
    );
    watch.actions.pop();
    watch.none(&at("DELETE", "eur", Value::Null).await).await;
    book["prices"][0]["rates"]["cpu_core"] = json!(1);
    watch.none(&at("PUT", "eur", book.clone()).await).await;
    let row = watch.one(&at("PUT", "usd", book.clone()).await).await;
    assert_eq!(row["target"]["id"], "usd");
    watch.actions.pop();
    let row = watch.one(&at("DELETE", "usd", Value::Null).await).await;
    assert_eq!((&row["before"]["currency"], &row["after"]), (&json!("EUR"), &Value::Null));
}

/// A pool is made, granted to that plan, refused and deleted; those of the platform.
async fn a_pool(watch: &mut Watch<'_>) {
    let (server, operator) = (watch.server, watch.credential);
    let put = async |body: Value| ask(server, operator, "PUT", "/v1/admin/pools/inner", body).await;
    let row = watch.one(&put(json!({"private_targets": true})).await).await;
    assert_eq!(row["target"], json!({"kind": "pool", "id": "inner"}));
    assert_eq!((&row["tenant"], &row["before"]), (&Value::Null, &Value::Null));
    let nobody = json!({"everyone": false, "plans": [], "tenants": []});
    assert_eq!(
        (&row["after"]["private_targets"], &row["after"]["granted_to"]),
        (&json!(true), &nobody)
    );
    assert_eq!(row["after"]["max_executor"]["ports"], Value::Null);
    let granted = json!({"private_targets": true, "max_executor": {"ports": 10}, "granted_to": {"plans": ["team"]}});
    let row = watch.one(&put(granted.clone()).await).await;
    assert_eq!(row["before"]["granted_to"], nobody);
    assert_eq!(row["after"]["granted_to"]["plans"], json!(["team"]));
    assert_eq!(row["after"]["max_executor"]["ports"], 10);
    watch.actions.pop();
    watch.none(&put(granted).await).await;
    watch.none(&put(json!({"granted_to": {"plans": ["none"]}})).await).await;
    let act = async |verb: &str, body: Value| {
        ask(server, operator, "POST", &format!("/v1/admin/pools/inner/{verb}"), body).await
    };
    let row = watch.one(&act("pause", json!({"reason": "a new kernel"})).await).await;
    assert_eq!(row["after"], json!({"paused_because": "a new kernel"}));
    watch.none(&act("pause", json!({"reason": "a new kernel"})).await).await;
    watch.none(&act("pause", json!({"reason": ""})).await).await;
    let row = watch.one(&act("resume", Value::Null).await).await;
    assert_eq!(row["before"], json!({"paused_because": "a new kernel"}));
    watch.none(&act("resume", Value::Null).await).await;
    let delete =
        async || ask(server, operator, "DELETE", "/v1/admin/pools/inner", Value::Null).await;
    let row = watch.one(&delete().await).await;
    assert_eq!((&row["before"]["private_targets"], &row["after"]), (&json!(true), &Value::Null));
    watch.none(&delete().await).await;
}

/// Operators' keys are made, replaced and revoked, and schedules that were held fire again; those of the platform.
async fn operator_keys_and_a_restore(watch: &mut Watch<'_>) {
    let (server, operator) = (watch.server, watch.credential);
    let all = "/v1/admin/operator-keys";
    let spec = json!({"name": "bob", "scopes": ["read"]});
    let made = ask(server, operator, "POST", all, spec.clone()).await;
    let row = watch.one(&made).await;
    assert_eq!((&row["after"]["name"], &row["before"]), (&json!("bob"), &Value::Null));
    watch.none(&ask(server, operator, "POST", all, spec).await).await;
    let made = made.json();
    let own = format!("{all}/{}", made["id"].as_str().unwrap());
    let rotate = format!("{own}/rotate");
    let rotated = ask(server, operator, "POST", &rotate, json!({})).await;
    let row = watch.one(&rotated).await;
    assert_eq!(row["after"]["old"]["replaced_by"], rotated.json()["new"]["id"]);
    watch.none(&ask(server, operator, "POST", &rotate, json!({})).await).await;
    let row = watch.one(&ask(server, operator, "DELETE", &own, Value::Null).await).await;
    assert_eq!((&row["before"]["name"], &row["after"]), (&json!("bob"), &Value::Null));
    watch.none(&ask(server, operator, "DELETE", &own, Value::Null).await).await;
    let texts = server.db.sql("select a::text from audit a").await.unwrap();
    assert!(!texts.contains("berthop_"), "no key in the audit");

    let resume =
        async || ask(server, operator, "POST", "/v1/admin/restore/resume", Value::Null).await;
    watch.none(&resume().await).await;
    let hold = "update installation set held_since = now(), held_because = 'restored'";
    server.db.sql(hold).await.unwrap();
    let held = ask(server, operator, "GET", "/v1/admin/restore", Value::Null).await.json();
    assert_eq!(held["held_because"], "restored");
    let resumed = resume().await;
    assert_eq!(resumed.json()["held_because"], Value::Null);
    let row = watch.one(&resumed).await;
    assert_eq!(row["before"], json!({"held_because": "restored"}));
}

/// Keys and users of the tenant are made and ended by an operator.
async fn keys_and_users_of_a_tenant(watch: &mut Watch<'_>, own: &str) {
    let (server, operator) = (watch.server, watch.credential);
    let keys = format!("{own}/keys");
    let spec = json!({"name": "first", "scopes": ["read", "admin"]});
    let made = ask(server, operator, "POST", &keys, spec).await;
    let row = watch.one(&made).await;
    let made = made.json();
    assert_eq!(row["target"], json!({"kind": "key", "id": made["id"]}));
    assert_eq!(server.get_as(made["key"].as_str().unwrap(), "/v1/keys").await.status, 200);
    let key = format!("{keys}/{}", made["id"].as_str().unwrap());
    let rotate = format!("{key}/rotate");
    watch.one(&ask(server, operator, "POST", &rotate, json!({"overlap": "1h"})).await).await;
    let again = ask(server, operator, "POST", &rotate, Value::Null).await;
    assert_eq!(again.code(), "already_rotated");
    watch.none(&again).await;
    let listed = ask(server, operator, "GET", &keys, Value::Null).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    let row = watch.one(&ask(server, operator, "DELETE", &key, Value::Null).await).await;
    assert_eq!(row["actor"]["kind"], "operator");
    watch.none(&ask(server, operator, "DELETE", &key, Value::Null).await).await;

    let users = format!("{own}/users");
    let spec = json!({"email": "Ann@example.com", "role": "owner"});
    let made = ask(server, operator, "POST", &users, spec.clone()).await;
    let row = watch.one(&made).await;
    assert_eq!(row["after"]["role"], "owner");
    let made = made.json();
    let token = made["invite_token"].as_str().unwrap();
    let listed = ask(server, operator, "GET", &users, Value::Null).await.json();
    assert_eq!(listed["data"][0]["email"], "ann@example.com");
    let again = ask(server, operator, "POST", &users, spec).await;
    assert_eq!(again.pointers(), ["/email"]);
    watch.none(&again).await;
    let path = format!("{users}/bob@example.com");
    let put = ask(server, operator, "PUT", &path, json!({"role": "viewer"})).await;
    let row = watch.one(&put).await;
    assert_eq!((&row["after"]["email"], &row["before"]), (&json!("bob@example.com"), &Value::Null));
    watch.none(&ask(server, operator, "PUT", &path, json!({"role": "viewer"})).await).await;
    let row = watch.one(&ask(server, operator, "DELETE", &path, Value::Null).await).await;
    assert_eq!(row["before"]["email"], "bob@example.com");
    assert_eq!(row["after"], json!({"revoked_keys": []}));
    watch.none(&ask(server, operator, "DELETE", &path, Value::Null).await).await;
    let texts = server.db.sql("select a::text from audit a").await.unwrap();
    assert!(!texts.contains(token) && !texts.contains("berth_live_"), "no secret in the audit");
}

/// How the tenant is billed is stored, a draft becomes final, one invoice is paid and one is void; a credit is made.
async fn invoices_and_credits(watch: &mut Watch<'_>, own: &str, id: &str) {
    let (server, operator) = (watch.server, watch.credential);
    let billing =
        json!({"zone": "Europe/Berlin", "customer": "cus_1", "address": "Secret street 1"});
    let put =
        async || ask(server, operator, "PUT", &format!("{own}/billing"), billing.clone()).await;
    let row = watch.one(&put().await).await;
    assert_eq!(row["after"], json!({"zone": "Europe/Berlin", "customer": "cus_1"}));
    watch.none(&put().await).await;
    let tenant = id.parse().unwrap();
    let draft = server.draft(tenant).await;
    let act = async |number: &str, verb: &str| {
        let path = format!("{own}/invoices/{number}/{verb}");
        ask(server, operator, "POST", &path, Value::Null).await
    };
    let made = act(&draft, "finalize").await;
    let row = watch.one(&made).await;
    let number = made.json()["number"].as_str().unwrap().to_owned();
    assert_eq!(row["target"], json!({"kind": "invoice", "id": number}));
    watch.none(&act(&draft, "finalize").await).await;
    let row = watch.one(&act(&number, "pay").await).await;
    assert_eq!(
        (&row["before"], &row["after"]),
        (&json!({"state": "final"}), &json!({"state": "paid"}))
    );
    watch.none(&act(&number, "pay").await).await;
    watch.none(&act(&number, "void").await).await;
    let other = server.invoice(tenant).await;
    let row = watch.one(&act(&other, "void").await).await;
    assert_eq!(row["after"], json!({"state": "void"}));
    let credit = json!({"key": "k", "currency": "EUR", "amount": -5, "reason": "outage"});
    let path = format!("{own}/credits");
    let row = watch.one(&ask(server, operator, "POST", &path, credit.clone()).await).await;
    assert_eq!(
        (&row["target"], &row["after"]["amount"]),
        (&json!({"kind": "credit", "id": "k"}), &json!(-5))
    );
    watch.none(&ask(server, operator, "POST", &path, credit).await).await;
}

/// The tenant on that plan is changed, stands otherwise and goes.
async fn a_tenant(watch: &mut Watch<'_>, id: &str) {
    let (server, operator) = (watch.server, watch.credential);
    let own = format!("/v1/admin/tenants/{id}");
    let change = async |body: Value| ask(server, operator, "PATCH", &own, body).await;
    let row = watch.one(&change(json!({"weight": 2})).await).await;
    assert_eq!(row["before"], json!({"plan": "team", "weight": null}));
    assert_eq!(row["after"], json!({"plan": "team", "weight": 2.0}));
    watch.none(&change(json!({"weight": 2, "plan": "team"})).await).await;
    watch.none(&change(json!({"plan": "none"})).await).await;
    watch.one(&change(json!({"plan": "default"})).await).await;
    watch.actions.pop();
    let put = async |body: Value| ask(server, operator, "PUT", &own, body).await;
    let row = watch.one(&put(json!({"plan": "free"})).await).await;
    assert_eq!((&row["before"]["weight"], &row["after"]["weight"]), (&json!(2.0), &Value::Null));
    assert_eq!((&row["after"]["plan"], &row["after"]["state"]), (&json!("free"), &json!("active")));
    watch.none(&put(json!({"plan": "free"})).await).await;
    watch.none(&put(json!({"plan": "none"})).await).await;
    keys_and_users_of_a_tenant(watch, &own).await;
    invoices_and_credits(watch, &own, id).await;
    for (verb, path, before, after) in [
        ("POST", format!("{own}/suspend"), "active", "suspended"),
        ("POST", format!("{own}/resume"), "suspended", "active"),
        ("DELETE", own.clone(), "active", "deleted"),
    ] {
        let row = watch.one(&ask(server, operator, verb, &path, Value::Null).await).await;
        let told = (&row["before"], &row["after"]);
        assert_eq!(told, (&json!({"state": before}), &json!({"state": after})));
        watch.none(&ask(server, operator, verb, &path, Value::Null).await).await;
    }
    let suspend = format!("{own}/suspend");
    watch.none(&ask(server, operator, "POST", &suspend, Value::Null).await).await;
    watch.none(&change(json!({"weight": 3})).await).await;
}

#[tokio::test]
async fn what_operators_do_is_told_to_the_tenant_or_is_the_platforms() {
    let server = server().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let (platform, theirs) = ("/v1/admin/audit?limit=3", "/v1/admin/audit?limit=3&tenant=acme");
    let mut of_platform = Watch::begin(&server, &operator, platform).await;
    a_plan(&mut of_platform).await;
    a_price_book(&mut of_platform).await;
    a_pool(&mut of_platform).await;
    operator_keys_and_a_restore(&mut of_platform).await;
    let spec = json!({"name": "acme", "plan": "team"});
    let made = ask(&server, &operator, "POST", "/v1/admin/tenants", spec.clone()).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let mut of_tenant = Watch { seen: 0, ..Watch::begin(&server, &operator, theirs).await };
    let row = of_tenant.one(&made).await;
    let key_id = operator.split('_').nth(2).unwrap();
    assert_eq!(row["actor"], json!({"kind": "operator", "id": key_id, "key_id": key_id}));
    assert_eq!(row["target"], json!({"kind": "tenant", "id": id}));
    assert_eq!((&row["tenant"], &row["before"]), (&json!(id), &Value::Null));
    assert_eq!(row["after"], json!({"name": "acme", "plan": "team", "weight": null}));
    let again = ask(&server, &operator, "POST", "/v1/admin/tenants", spec).await;
    of_tenant.none(&again).await;
    let delete =
        async || ask(&server, &operator, "DELETE", "/v1/admin/plans/team", Value::Null).await;
    of_platform.none(&delete().await).await;
    a_tenant(&mut of_tenant, &id).await;
    let row = of_platform.one(&delete().await).await;
    assert_eq!((&row["before"]["backlog"], &row["after"]), (&json!(2), &Value::Null));
    of_platform.none(&delete().await).await;
    let mut seen = [of_platform.actions, of_tenant.actions].concat();
    seen.sort_unstable();
    assert_eq!(seen, declared(true));
}

#[tokio::test]
async fn of_a_purged_tenant_operators_read_the_audit_by_its_id() {
    let server = server().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let tenant = server.new_tenant("acme").await;
    let path = format!("/v1/admin/tenants/{tenant}");
    assert_eq!(ask(&server, &operator, "DELETE", &path, Value::Null).await.status, 200);
    let purged = "update tenant set name = null, purged_at = now() where name = 'acme'";
    server.db.sql(purged).await.unwrap();
    let by_name = server.get_as(&operator, "/v1/admin/audit?tenant=acme").await;
    assert_eq!(by_name.code(), "not_found");
    let kept = rows(&server, &operator, &format!("/v1/admin/audit?limit=3&tenant={tenant}")).await;
    let actions: Vec<_> = kept.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["tenant.create", "tenant.delete"]);
}

#[tokio::test]
async fn the_audit_is_for_owners_admins_and_the_scope_admin_and_is_filtered() {
    let server = server().await;
    for role in Role::ALL {
        let email = format!("{role}@example.com");
        user(&server, &email, role).await;
        let access = signed_in(&server, &email).await.0;
        let wanted = if matches!(role, Role::Owner | Role::Admin) { 200 } else { 403 };
        assert_eq!(server.get_as(&access, "/v1/audit").await.status, wanted, "{role}");
    }
    for scope in ALL_SCOPES {
        let key = server.new_key(server.tenant, &[scope]).await;
        let wanted = if scope == "admin" { 200 } else { 403 };
        assert_eq!(server.get_as(&key, "/v1/audit").await.status, wanted, "{scope}");
    }
    let count = async |query: &str| {
        let page = server.get(&format!("/v1/audit?limit=200&{query}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        page.json()["data"].as_array().unwrap().len()
    };
    assert_eq!(count("action=user.create").await, 5);
    let key_id = server.key.split('_').nth(2).unwrap();
    assert_eq!(count(&format!("actor={key_id}")).await, 5);
    assert_eq!(count(&format!("actor={key_id}&action=session.sign_in")).await, 0);
    assert_eq!(count("to=2000-01-01T00:00:00Z").await, 0);
    assert_eq!(count("from=2000-01-01T00:00:00Z").await, count("").await);
    assert_eq!(server.get("/v1/audit?from=yesterday").await.code(), "invalid_parameter");
    assert_eq!(server.get("/v1/audit?who=me").await.code(), "invalid_parameter");
}

#[tokio::test]
async fn operators_read_the_audit_of_any_tenant_and_of_the_platform() {
    let server = server().await;
    let reader = server.new_operator("ann", &["read"]).await;
    let rows = async |query: &str| {
        let page = server.get_as(&reader, &format!("/v1/admin/audit{query}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        page.json()["data"].as_array().unwrap().clone()
    };
    let of_tenant = rows("?tenant=first").await;
    let theirs = server.get("/v1/audit").await.json();
    assert_eq!(Value::Array(of_tenant.clone()), theirs["data"]);
    assert_eq!(of_tenant.last().unwrap()["action"], "tenant.create");
    let of_platform = rows("").await;
    assert_eq!(of_platform.len(), 1, "{of_platform:?}");
    assert_eq!(of_platform[0]["action"], "operator_key.create");
    assert_eq!(
        (&of_platform[0]["tenant"], &of_platform[0]["actor"]["kind"]),
        (&Value::Null, &json!("system"))
    );
    // A try with a name that nobody has is the platform's.
    assert_eq!(sign_in(&server, "nobody@example.com", PASSWORD).await.status, 401);
    let refused = &rows("?action=session.refused").await[0];
    assert_eq!(refused["target"], json!({"kind": "user", "id": null}));
    assert_eq!(server.get_as(&reader, "/v1/admin/audit?tenant=none").await.code(), "not_found");
    let cursor = server.get("/v1/audit?limit=1").await.json()["next_cursor"].clone();
    let carried = format!("/v1/admin/audit?tenant=first&cursor={}", cursor.as_str().unwrap());
    assert_eq!(server.get_as(&reader, &carried).await.code(), "invalid_cursor");
    assert_eq!(server.get("/v1/admin/audit").await.code(), "wrong_kind_of_key");
}
