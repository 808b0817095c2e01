//! Workflows over HTTP: what makes sense is stored and run, and everything else is refused where it stands, with nothing stored.

use crate::client::Answer;
use crate::server::{Server, WORKFLOW};
use serde_json::{Value, json};

async fn put(server: &Server, name: &str, body: &Value) -> Answer {
    server.put_as(&server.key, &format!("/v1/workflows/{name}"), &[], body.to_string()).await
}

/// A workflow with everything that there is.
fn rich() -> Value {
    json!({"description": "d", "deadline": "1h", "labels": {"team": "media"},
        "defaults": {"tier": "basic", "retry": {"backoff": "constant"}, "pool": "default"}, "nodes": {
        "a": {"task": {"name": "n", "run": {"command": {"argv": ["true", {"$input": "/key"}], "env": {"A": {"$input": "/key"}}, "stdin": "x"}},
            "max_attempts": 2, "concurrency_key": "k", "delay": "1s"}},
        "b": {"after": ["a", {"node": "w", "on": "expired"}], "join": {"at_least": 1},
            "if": {"$from": "a", "pointer": "/n", "in": [1, 2]},
            "task": {"run": {"http": {"method": "POST", "url": {"$from": "a", "pointer": "/url"}, "headers": {"X-A": {"$from": "a"}},
                "body": {"$from": "a"}}}, "priority": 1}},
        "c": {"after": ["a"], "for_each": {"$from": "a", "pointer": "/list"},
            "task": {"run": {"command": {"argv": ["true", {"$item": "/x"}]}}, "labels": {"l": "v"}}},
        "d": {"after": ["c"], "for_each": [1, {"x": 2}], "task": {"run": {"noop": {"sleep": "1s"}}}},
        "w": {"wait": {"signal": {"$input": "/key"}, "expires": "1h"}},
        "p": {"after": ["w"], "wait": {"approval": true}},
        "t": {"wait": {"delay": "1s"}},
    }})
}

/// Every place in `value`.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(key, value)| places(value, &format!("{at}/{}", escaped(key)), all));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(nth, value)| places(value, &format!("{at}/{nth}"), all));
        }
        _ => {}
    }
}

/// Each place of a good definition, with each of some values that mostly cannot stand there.
fn malformed() -> Vec<(String, Value)> {
    let good = rich();
    let mut all = Vec::new();
    places(&good, "", &mut all);
    let strange = [
        json!(-7),
        json!([]),
        json!({}),
        json!("\0"),
        json!("no such thing"),
        json!({"$from": "nobody"}),
        json!({"x": 1}),
    ];
    let mut made = Vec::new();
    for at in &all {
        for value in &strange {
            let mut whole = good.clone();
            *whole.pointer_mut(at).unwrap() = value.clone();
            made.push((at.clone(), whole));
        }
        // One more field where fields are.
        let mut whole = good.clone();
        if let Some(fields) = whole.pointer_mut(at).unwrap().as_object_mut() {
            fields.insert("no_such_field".to_owned(), json!(1));
            made.push((at.clone(), whole));
        }
    }
    made
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_where_it_stands_and_stores_nothing() {
    let server = Server::start().await;
    let (mut refused, mut taken) = (0, 0);
    for (at, definition) in malformed() {
        let answer = put(&server, "x", &definition).await;
        if answer.status < 300 {
            taken += 1;
            continue;
        }
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "validation_failed"),
            "{at}: {answer:?}"
        );
        let pointers = answer.pointers();
        // A mistake may show where it is, in a part of it, in what it is a part of, or in a node that refers to it.
        let near = |pointer: &String| {
            let node = |text: &str| text.split('/').nth(2).map(str::to_owned);
            pointer.starts_with(&at)
                || at.starts_with(pointer.as_str())
                || node(pointer) == node(&at)
        };
        assert!(pointers.iter().any(near) || at == "/nodes" || at.is_empty(), "{at}: {answer:?}");
        assert!(
            pointers.iter().all(|pointer| pointer.starts_with('/') || pointer.is_empty()),
            "{pointers:?}"
        );
        refused += 1;
    }
    assert!(refused >= 200, "{refused} refused, {taken} taken");
    println!("{refused} refused, {taken} taken");
    let mut tried = 0;
    for (at, definition) in malformed().into_iter().step_by(7) {
        let body = json!({"definition": definition, "input": {"key": "k"}}).to_string();
        let before = server.stored().await;
        let answer = server.post("/v1/workflow-runs", body).await;
        let stored = server.stored().await - before;
        if answer.status == 422 {
            assert_eq!(stored, 0, "{at}");
            let pointers = answer.pointers();
            assert!(
                pointers
                    .iter()
                    .all(|pointer| pointer.starts_with("/definition")
                        || pointer.starts_with("/input")),
                "{pointers:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 30, "{tried}");
    let runs = server.db.sql("select count(*) from workflow_run where not exists (select from task where run_id = workflow_run.id)");
    assert_eq!(runs.await.unwrap().trim(), "0");
}

#[tokio::test]
async fn mistakes_of_the_graph_are_named() {
    let server = Server::start().await;
    let noop = json!({"run": {"noop": {}}});
    let after = |names: &[&str]| json!({"task": noop, "after": names});
    let reads = |name: &str| json!({"run": {"command": {"argv": ["x", {"$from": name}]}}});
    let many: serde_json::Map<String, Value> =
        (0..10_001).map(|nth| (format!("n{nth}"), json!({"task": noop}))).collect();
    for (nodes, pointer, said) in [
        (
            json!({"a": after(&["c"]), "b": after(&["a"]), "c": after(&["b"])}),
            "/nodes/a/after",
            "waits for itself: a waits for c waits for b waits for a",
        ),
        (json!({"a": after(&["a"])}), "/nodes/a/after/0", "is the node itself"),
        (json!({"a": after(&[]), "b": after(&["a", "a"])}), "/nodes/b/after/1", "is given twice"),
        (
            json!({"a": after(&[]), "b": {"task": reads("a")}}),
            "/nodes/b",
            "reads of `a`, which need not have ended: name it in `after`",
        ),
        (
            json!({"a": {"task": {"run": {"command": {"argv": [{"$item": ""}]}}}}}),
            "/nodes/a/task/run/command/argv/0",
            "`$item` is allowed only in the task of a node with `for_each`",
        ),
        (
            json!({"a": {"wait": {"delay": "1s"}, "for_each": [1]}}),
            "/nodes/a/for_each",
            "is allowed only with a `task`",
        ),
        (
            json!({"a": {"wait": {"delay": "1s", "expires": "1s"}}}),
            "/nodes/a/wait/expires",
            "goes with `signal` and `approval` only",
        ),
        (json!({}), "/nodes", "must have 1 to 10000 nodes"),
        (Value::Object(many), "/nodes", "must have 1 to 10000 nodes"),
    ] {
        let answer = put(&server, "x", &json!({ "nodes": nodes })).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (422, vec![pointer.to_owned()]),
            "{answer:?}"
        );
        assert_eq!(answer.json()["errors"][0]["detail"], said);
    }
    let twice = r#"{"nodes":{"a":{"task":{"run":{"noop":{}}}},"a":{"task":{"run":{"noop":{}}}}}}"#;
    let answer = server.put_as(&server.key, "/v1/workflows/x", &[], twice).await;
    assert_eq!(answer.pointers(), ["/nodes/a"]);
    // An ancestor that is no parent has ended, too.
    let chain = json!({"nodes": {"a": after(&[]), "b": after(&["a"]), "c": {"after": ["b"], "task": reads("a")}}});
    assert_eq!(put(&server, "x", &chain).await.status, 201);
    let limited = json!({"max_parallel": 2, "nodes": {"a": {"task": {"run": {"noop": {}}, "concurrency_key": "k"}}}});
    assert_eq!(put(&server, "y", &limited).await.pointers(), ["/nodes/a/task/concurrency_key"]);
}

#[tokio::test]
async fn a_workflow_is_stored_by_name_in_versions_and_its_runs_keep_theirs() {
    let server = Server::start().await;
    let made =
        server.put_as(&server.key, "/v1/workflows/w", &[("If-None-Match", "*")], WORKFLOW).await;
    assert_eq!((made.status, made.header("etag")), (201, Some("\"1\"")));
    let spaced = WORKFLOW.replace(':', ": ");
    let same = server.put_as(&server.key, "/v1/workflows/w", &[], spaced).await;
    assert_eq!((same.status, same.header("etag")), (200, Some("\"1\"")));
    assert_eq!(
        same.json()["definition"].to_string(),
        serde_json::from_str::<Value>(WORKFLOW).unwrap().to_string()
    );
    let start = json!({"workflow": "w"}).to_string();
    let once = [("Idempotency-Key", "k")];
    let run = server.post_with("/v1/workflow-runs", &once, &start).await;
    assert_eq!(run.status, 201, "{run:?}");
    let id = run.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(run.header("location"), Some(format!("/v1/workflow-runs/{id}").as_str()));
    let again = server.post_with("/v1/workflow-runs", &once, &start).await;
    assert_eq!(
        (again.json()["id"].as_str(), again.header("idempotency-replayed")),
        (Some(id.as_str()), Some("true"))
    );
    assert_eq!(
        server.post_with("/v1/workflow-runs", &once, r#"{"workflow":"w","input":1}"#).await.code(),
        "idempotency_key_reuse"
    );
    let one = json!({"nodes": {"z": {"task": {"run": {"noop": {}}}}}});
    for (header, status) in [("\"7\"", 412), ("\"1\"", 200)] {
        let put = server
            .put_as(&server.key, "/v1/workflows/w", &[("If-Match", header)], one.to_string())
            .await;
        assert_eq!(put.status, status, "{put:?}");
    }
    let graph = server.get(&format!("/v1/workflow-runs/{id}/graph")).await.json();
    let names: Vec<_> =
        graph["nodes"].as_array().unwrap().iter().map(|node| &node["name"]).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((&graph["run"]["version"], &graph["run"]["tasks"]), (&json!(1), &json!(2)));
    let task = server
        .get(&format!("/v1/tasks/{}", graph["nodes"][1]["task"].as_str().unwrap()))
        .await
        .json();
    assert_eq!(
        (&task["workflow_run"], &task["node"], &task["state"]),
        (&json!(id), &json!("b"), &json!("scheduled"))
    );
    let listed = server.get(&format!("/v1/tasks?workflow_run={id}")).await.json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    let runs = async |query: &str| {
        let page = server.get(&format!("/v1/workflow-runs?{query}")).await.json();
        page["data"].as_array().unwrap().len()
    };
    assert_eq!(
        runs("workflow=w").await + runs("state=running").await + runs("state=failed,expired").await,
        2
    );
    assert_eq!(server.get("/v1/workflow-runs?state=done").await.pointers(), ["query:state"]);
    let gone = crate::client::request(
        server.addr,
        "DELETE",
        "/v1/workflows/w",
        &[("Authorization", &format!("Bearer {}", server.key))],
        b"",
    )
    .await;
    assert_eq!(gone.status, 200, "{gone:?}");
    assert_eq!(server.post("/v1/workflow-runs", &start).await.code(), "not_found");
    assert_eq!(server.get(&format!("/v1/workflow-runs/{id}")).await.status, 200, "its runs go on");
}

#[tokio::test]
async fn an_input_that_is_missing_or_too_large_is_refused_where_it_is_read() {
    let server = Server::start().await;
    let definition = json!({"nodes": {"a": {"task": {"run": {"command": {"argv": ["x", {"$input": "/a/b"}]}}}},
        "b": {"after": ["a"], "wait": {"signal": {"$input": "/key"}}}}});
    let start = async |input: Value| {
        let body = json!({"definition": definition, "input": input}).to_string();
        server.post("/v1/workflow-runs", body).await
    };
    assert_eq!(start(json!({"a": {"b": 1}, "key": "k"})).await.status, 201);
    let before = server.stored().await;
    assert_eq!(start(json!({"a": 1})).await.pointers(), ["/input/a/b", "/input/key"]);
    assert_eq!(start(json!("x".repeat(256 * 1024))).await.pointers(), ["/input"]);
    let both = json!({"definition": definition, "workflow": "w"}).to_string();
    assert_eq!(server.post("/v1/workflow-runs", both).await.pointers(), [""]);
    assert_eq!(server.stored().await, before);
}

#[tokio::test]
async fn quotas_of_workflows_are_exact() {
    let server = Server::start().await;
    let plan = r#"update plan set limits = limits || '{"workflows": 1, "workflow_runs": 1, "workflow_tasks": 2, "signals": 1}'"#;
    server.db.sql(plan).await.unwrap();
    // Other plans are known within a second.
    testkit::poll::until_some(
        "the plan to be known",
        std::time::Duration::from_secs(20),
        || async {
            let limits = server.get("/v1/limits").await.json();
            limits.to_string().contains(r#""limit":1,"name":"workflows""#).then_some(())
        },
    )
    .await
    .unwrap();
    let one: Value = serde_json::from_str(WORKFLOW).unwrap();
    assert_eq!(put(&server, "a", &one).await.status, 201);
    assert_eq!(put(&server, "b", &one).await.code(), "quota_exceeded");
    assert_eq!(
        put(&server, "a", &one).await.status,
        200,
        "the one that there is may be stored again"
    );
    let three = json!({"nodes": {"a": {"task": {"run": {"noop": {}}}}, "b": {"task": {"run": {"noop": {}}}}, "c": {"task": {"run": {"noop": {}}}}}});
    assert_eq!(put(&server, "a", &three).await.pointers(), ["/nodes"]);
    let start = json!({"workflow": "a"}).to_string();
    assert_eq!(server.post("/v1/workflow-runs", &start).await.status, 201);
    let before = server.stored().await;
    let refused = server.post("/v1/workflow-runs", &start).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "quota_exceeded"), "{refused:?}");
    assert_eq!(server.stored().await, before);
    assert_eq!(server.post("/v1/signals/a", "").await.status, 200);
    assert_eq!(server.post("/v1/signals/a", "").await.status, 200);
    assert_eq!(server.post("/v1/signals/b", "").await.code(), "quota_exceeded");
}

#[tokio::test]
async fn only_who_may_approve_decides_and_once() {
    let server = Server::start().await;
    let submit = server.new_key(server.tenant, &["submit", "read"]).await;
    let approver = server.new_key(server.tenant, &["approve"]).await;
    let task = server.waiting().await;
    let path = |decision: &str| format!("/v1/tasks/{task}/{decision}");
    assert_eq!(server.post_as(&submit, &path("approve"), &[], "").await.code(), "scope_missing");
    let long = json!({"note": "x".repeat(501)}).to_string();
    assert_eq!(server.post_as(&approver, &path("approve"), &[], long).await.pointers(), ["/note"]);
    let approved = server.post_as(&approver, &path("approve"), &[], r#"{"note":"fine"}"#).await;
    assert_eq!((approved.status, &approved.json()["state"]), (200, &json!("succeeded")));
    for decision in ["approve", "reject"] {
        assert_eq!(server.post_as(&approver, &path(decision), &[], "").await.code(), "conflict");
    }
    let by = approver.split('_').nth(2).unwrap();
    let result = server.get(&path("result")).await.json();
    assert_eq!(result, json!({"approved_by": by, "note": "fine"}));
    let other = server.waiting().await;
    let rejected = server.post(&format!("/v1/tasks/{other}/reject"), "").await.json();
    assert_eq!(
        (&rejected["state"], &rejected["reason"]),
        (
            &json!("aborted"),
            &json!(format!("rejected by {}", server.key.split('_').nth(2).unwrap()))
        )
    );
    let plain = server.noop().await;
    assert_eq!(server.post(&format!("/v1/tasks/{plain}/approve"), "").await.code(), "conflict");
    // What waits for no time has no other time.
    let waiting = server.waiting().await;
    assert_eq!(
        server.post(&format!("/v1/tasks/{waiting}/run-now"), "").await.code(),
        "task_waiting"
    );
}

#[tokio::test]
async fn a_node_that_waits_for_others_has_an_estimate_along_the_path() {
    let server = Server::start().await;
    let task = json!({"run": {"noop": {}}, "execution_cap": "90s"});
    let definition = json!({"nodes": {"a": {"task": task}, "b": {"after": ["a"], "task": task}, "c": {"after": ["b"], "task": task},
        "w": {"wait": {"approval": true}}, "d": {"after": ["w", "c"], "task": task}}});
    let began = runtime::clock::wall();
    let made =
        server.post("/v1/workflow-runs", json!({"definition": definition}).to_string()).await;
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let graph = server.get(&format!("/v1/workflow-runs/{id}/graph")).await.json();
    let ended = runtime::clock::wall();
    let nodes = graph["nodes"].as_array().unwrap();
    for (node, caps) in nodes.iter().zip([None, Some(90), Some(180), None, None]) {
        let by: Option<domain::time::Timestamp> =
            node["starts_by"].as_str().map(|by| by.parse().unwrap());
        let within = |seconds| {
            let wait = chrono::TimeDelta::seconds(seconds);
            (began + wait - chrono::TimeDelta::seconds(1)..=ended + wait).contains(&by.unwrap())
        };
        assert_eq!(by.is_some(), caps.is_some(), "{node}");
        assert!(caps.is_none_or(within), "{node}");
        let task = node["task"].as_str().unwrap();
        let told = server.get(&format!("/v1/tasks/{task}/explain")).await.json();
        let has_estimate = told["eta"]["basis"] == "path" && told["eta"]["estimate"].is_string();
        assert_eq!(has_estimate, caps.is_some(), "{told}");
    }
    let d = nodes.iter().find(|node| node["name"] == "d").unwrap();
    let unknown = d["task"].as_str().unwrap();
    let told = server.get(&format!("/v1/tasks/{unknown}/explain")).await.json();
    assert_eq!(
        (&told["eta"]["basis"], &told["reasons"][0]["reason"]),
        (&json!("parents"), &json!("parents"))
    );
}

#[tokio::test]
async fn a_run_tells_what_its_own_attempts_used() {
    let server = Server::start().await;
    let (run, other) = (server.run().await, server.run().await);
    let path = format!("/v1/workflow-runs/{run}");
    let usage = async || server.get(&format!("{path}?include=usage")).await.json()["usage"].clone();
    assert_eq!(usage().await["attempts"], 0);
    let hex = |id: &str| id.trim_start_matches("run_").to_owned();
    for (attempt, charged, ms, of) in
        [(1, false, 0, &run), (2, true, 1500, &run), (1, true, 70, &other)]
    {
        let sql = format!(
            "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                session_id, placed_at, ended_at, usage_ms)
            select tenant_id, id, {attempt}, 'failed', {charged}, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                gen_random_uuid(), now(), now(), {ms} from task where run_id = '{}'",
            hex(of)
        );
        server.db.sql(&sql).await.unwrap();
    }
    // A basic task has 250 thousandths of a core and 512 MiB; the run has two.
    let wanted = json!({"attempts": 4, "charged_attempts": 2, "run_ms": 3000, "cpu_millis_ms": 750_000, "memory_mib_ms": 1_536_000});
    assert_eq!(usage().await, wanted);
    assert_eq!(server.get(&path).await.json().get("usage"), None);
    let wrong = server.get(&format!("{path}?include=all")).await;
    assert_eq!(wrong.pointers(), ["query:include"]);
}
