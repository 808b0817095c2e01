//! Why a task waits, as it is asked over HTTP.

use crate::client::request;
use crate::server::{ALL_SCOPES, Server, config};
use domain::explain::Reason;
use domain::id::TaskId;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::audit::By;
use store::connect::SchedulerDb;

/// What resource managers and batcher would have written a moment ago; fresh for a minute.
const ROOM: &str = "insert into pool_load (owner, pool, free_slots, completed_slots, largest_cpu_millis, largest_memory_mib,
        largest_disk_mib, largest_iops, largest_ports, reported_at)
    values (gen_random_uuid(), 'default', 100, 0, 4000, 8192, 20480, 1000, 4, clock_timestamp() + interval '1 minute')";

async fn submitted(server: &Server, extra: Value) -> String {
    let mut spec = json!({"run": {"noop": {}}});
    spec.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let answer = server.post("/v1/tasks", spec.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Sets columns of a task.
async fn set(server: &Server, task: &str, columns: &str) {
    let id = task.parse::<TaskId>().unwrap().uuid();
    server.db.sql(&format!("update task set {columns} where id = '{id}'")).await.unwrap();
}

/// A node for which a spend cap has no room.
async fn unpaid(server: &Server) -> String {
    let book = r#"insert into price_book (name, document) values ('eur',
            '{"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z", "each": {"task": 1000}}]}');
        update plan set billing = '{"price_book": "eur"}' where name = 'default'"#;
    server.db.sql(book).await.unwrap();
    let label = json!({"key": "paid", "value": "no"});
    let cap = json!({"amount": 1, "currency": "EUR", "period": "day", "label": label});
    let cap = server.put_as(&server.key, "/v1/spend-caps/no", &[], cap.to_string()).await;
    assert_eq!(cap.status, 201, "{cap:?}");
    let task = json!({"run": {"noop": {}}, "labels": {"paid": "no"}});
    let run = json!({"definition": {"nodes": {"a": {"task": task}}}});
    let run = server.post("/v1/workflow-runs", run.to_string()).await;
    assert_eq!(run.status, 201, "{run:?}");
    let graph = format!("/v1/workflow-runs/{}/graph", run.json()["id"].as_str().unwrap());
    let scheduler = SchedulerDb::connect(&config(&server.db, &[]).database).unwrap();
    store::workflow::gate::open_gates(&scheduler, 100).await.unwrap();
    server.get(&graph).await.json()["nodes"][0]["task"].as_str().unwrap().to_owned()
}

fn keys(json: &Value) -> BTreeSet<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Holds answers against the document.
struct Documented {
    explanation: Value,
    reasons: Vec<Value>,
    told: BTreeSet<String>,
}

impl Documented {
    async fn read(server: &Server) -> Self {
        let spec = request(server.addr, "GET", "/openapi.json", &[], b"").await.json();
        let named = |to: &Value| {
            let name = to["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            spec["components"]["schemas"][name].clone()
        };
        let schemas = &spec["components"]["schemas"];
        let reasons = schemas["Reason"]["oneOf"].as_array().unwrap().iter().map(named).collect();
        let mut explanation = schemas["Explanation"].clone();
        let eta = &mut explanation["properties"]["eta"];
        *eta = named(eta);
        Self { explanation, reasons, told: BTreeSet::new() }
    }

    /// The names of the reasons that are told of `task`, in order.
    async fn told(&mut self, server: &Server, task: &str) -> Vec<String> {
        let answer = server.get(&format!("/v1/tasks/{task}/explain")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let json = answer.json();
        assert_eq!(json["id"], task);
        assert_eq!(keys(&json), keys(&self.explanation["properties"]));
        assert_eq!(keys(&json["eta"]), keys(&self.explanation["properties"]["eta"]["properties"]));
        let mut names = Vec::new();
        for reason in json["reasons"].as_array().unwrap() {
            let documented = |schema: &&Value| {
                schema["properties"]["reason"]["enum"] == json!([reason["reason"]])
            };
            let schema = self.reasons.iter().find(documented);
            let schema = schema.unwrap_or_else(|| panic!("not documented: {reason}"));
            assert_eq!(keys(reason), keys(&schema["properties"]), "{reason}");
            names.push(reason["reason"].as_str().unwrap().to_owned());
        }
        self.told.extend(names.iter().cloned());
        names
    }
}

#[tokio::test]
async fn each_reason_is_told_as_it_is_documented() {
    let server = Server::start().await;
    let mut documented = Documented::read(&server).await;
    let task = server.noop().await;
    assert_eq!(documented.told(&server, &task).await, ["no_executor"]);
    server.db.sql(ROOM).await.unwrap();
    assert_eq!(documented.told(&server, &task).await, ["turn"]);
    server.db.sql("update pool_load set drivers = '{command}'").await.unwrap();
    assert_eq!(documented.told(&server, &task).await, ["no_driver"]);
    server.db.sql("update pool_load set drivers = null").await.unwrap();
    let large = json!({"resources": {"cpu_millis": 8000, "memory_mib": 1}});
    let large = submitted(&server, large).await;
    assert_eq!(documented.told(&server, &large).await, ["too_large"]);
    let later = submitted(&server, json!({"delay": "1h"})).await;
    assert_eq!(documented.told(&server, &later).await, ["due"]);
    let child = submitted(&server, json!({"depends_on": [task]})).await;
    assert_eq!(documented.told(&server, &child).await, ["parents"]);
    let approval = server.waiting().await;
    assert_eq!(documented.told(&server, &approval).await, ["approval"]);
    let signal = server.waiting().await;
    set(&server, &signal, "signal_key = 'go', wake_at = now() + interval '1 hour'").await;
    assert_eq!(documented.told(&server, &signal).await, ["signal"]);
    let items = server.waiting().await;
    set(&server, &items, "gate = 'items', needs = 2, undecided = 2, release_delay_ms = 0").await;
    assert_eq!(documented.told(&server, &items).await, ["items"]);

    let unpaid = unpaid(&server).await;
    assert_eq!(documented.told(&server, &unpaid).await, ["spend_cap"]);

    let leased = "session_id = gen_random_uuid(), assignment = 1, placed_at = now(), wake_at = now() + interval '1 minute', attempt = 1";
    for (columns, reason) in [
        ("state = 'queued', wake_at = now()".to_owned(), "placing"),
        (format!("state = 'running', {leased}, concurrency_key = 'db'"), "running"),
        (
            "state = 'running', session_id = '00000000-0000-0000-0000-000000000000', assignment = 1, placed_at = now(), attempt = 1,
                wake_at = now() + interval '1 minute', called = row(gen_random_uuid(), 1, 202, 0, 0)::task_call"
                .to_owned(),
            "completion",
        ),
        (format!("state = 'cancelling', {leased}"), "stopping"),
        (
            "state = 'retrying', attempt = 1, failures = 1, run_at = now() + interval '1 hour'"
                .to_owned(),
            "retry",
        ),
        ("flexible = true".to_owned(), "spare_room"),
        ("strand = 1, concurrency_key = 'db'".to_owned(), "concurrency_key"),
    ] {
        let other = server.noop().await;
        set(&server, &other, &columns).await;
        assert_eq!(documented.told(&server, &other).await, [reason]);
    }
    let held = server.noop().await;
    let retrying =
        "state = 'retrying', attempt = 1, failures = 1, run_at = now() + interval '1 hour'";
    set(&server, &held, retrying).await;
    let waits = "insert into held_retry (tenant_id, task_id, attempt, target, not_before, due_at)
        select tenant_id, id, attempt, 'https://a:443', now(), run_at from task";
    let id = held.parse::<TaskId>().unwrap().uuid();
    server.db.sql(&format!("{waits} where id = '{id}'")).await.unwrap();
    assert_eq!(documented.told(&server, &held).await, ["retry_budget", "retry"]);
    let open = "insert into retry_target (tenant_id, target, next_probe_at, told_at)
        select tenant_id, target, now() + interval '1 second', clock_timestamp() + interval '1 minute' from held_retry";
    server.db.sql(open).await.unwrap();
    assert_eq!(documented.told(&server, &held).await, ["breaker_open", "retry"]);

    let cancelled = server.noop().await;
    server.post(&format!("/v1/tasks/{cancelled}/cancel"), b"").await;
    assert_eq!(documented.told(&server, &cancelled).await, ["ended"]);

    server.db.sql("update pool_load set free_slots = 0").await.unwrap();
    assert_eq!(documented.told(&server, &task).await, ["no_room", "turn"]);
    let at_limit = format!(
        "insert into tenant_turn (pool, tenant_id, ahead, before, rate, held_by, at)
            values ('default', '{}', 0, 0, 1, 'limit', clock_timestamp() + interval '1 minute')",
        server.tenant.uuid()
    );
    server.db.sql(&at_limit).await.unwrap();
    assert_eq!(documented.told(&server, &task).await, ["running_limit", "no_room", "turn"]);
    server.db.sql("update pool set paused_at = now()").await.unwrap();
    store::tenant::suspend(&server.admin, server.tenant, By::SYSTEM).await.unwrap();
    let told = documented.told(&server, &task).await;
    assert_eq!(told, ["tenant_suspended", "pool_paused", "no_room", "turn"]);

    let all: BTreeSet<String> = Reason::NAMES.iter().map(ToString::to_string).collect();
    assert_eq!(documented.told, all);
}

#[tokio::test]
async fn a_task_that_get_does_not_show_is_not_explained_either() {
    let server = Server::start().await;
    let other = server.new_tenant("second").await;
    let other = server.new_key(other, &ALL_SCOPES).await;
    let task = server.noop().await;
    let path = format!("/v1/tasks/{task}/explain");
    for (key, path) in [
        (&other, path.clone()),
        (&server.key, format!("/v1/tasks/{}/explain", TaskId::fresh())),
        (&server.key, "/v1/tasks/nonsense/explain".to_owned()),
    ] {
        let answer = server.get_as(key, &path).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{path}");
    }
    let submit_only = server.new_key(server.tenant, &["submit"]).await;
    assert_eq!(server.get_as(&submit_only, &path).await.status, 403);

    // A plan keeps less than the installation does: what ended before is gone for its tenants.
    server.post(&format!("/v1/tasks/{task}/cancel"), b"").await;
    let days = r#"update plan set limits = limits || '{"retention_days": 1}';
        update task_history set finished_at = now() - interval '25 hours'"#;
    server.db.sql(days).await.unwrap();
    let gone = || async { (server.get(&path).await.status == 404).then_some(()) };
    testkit::poll::until_some("the plan's days to hold", std::time::Duration::from_secs(5), gone)
        .await
        .unwrap();
    assert_eq!(server.get(&format!("/v1/tasks/{task}")).await.status, 404);
}
