//! Single submits: what is stored, what is answered, and when.

use crate::client::request;
use crate::server::{NOOP, Server};
use futures::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_task_gets_defaults_for_all_but_what_it_runs() {
    let server = Server::start().await;
    let answer = server.post("/v1/tasks", NOOP).await;
    assert_eq!(answer.status, 201);
    let task = answer.json();
    let id = task["id"].as_str().unwrap();
    assert_eq!(answer.header("location"), Some(format!("/v1/tasks/{id}").as_str()));
    for (field, value) in [
        ("name", json!(null)),
        ("state", json!("ready")),
        ("pool", json!("default")),
        ("tier", json!("basic")),
        (
            "resources",
            json!({"cpu_millis": 250, "memory_mib": 512, "disk_mib": 1024, "iops": 50, "ports": 1}),
        ),
        ("run", json!({"noop": {"sleep": "0s"}})),
        ("delay_tolerance", json!("5m")),
        ("execution_cap", json!("1m")),
        ("expire_if_late", json!(false)),
        ("max_attempts", json!(1)),
        ("attempts", json!(0)),
        ("delivery", json!("at_least_once")),
        ("unique_key", json!(null)),
        ("priority", json!(0)),
        ("flexible", json!(false)),
        ("concurrency_key", json!(null)),
        ("labels", json!({})),
        ("exit_code", json!(null)),
    ] {
        assert_eq!(task[field], value, "{field}");
    }
    assert_eq!(task["retry"]["backoff"], "exponential");
    let read = server.get(&format!("/v1/tasks/{id}")).await.json();
    assert_eq!(read, answer.kept(), "read back as answered");
}

#[tokio::test]
async fn everything_a_task_asked_for_is_kept() {
    let server = Server::start().await;
    let body = json!({
        "name": "größer", "resources": {"cpu_millis": 500, "memory_mib": 64},
        "run": {"command": {"argv": ["bash", "-c", "echo \"hi\"\n"], "env": {"A": "1", "B": ""}, "stdin": "x\ty"}},
        "delay": "1h", "delay_tolerance": "PT90S", "execution_cap": "1500ms", "expire_if_late": true,
        "max_attempts": 100, "delivery": "at_most_once", "pool": "default", "unique_key": "only-one",
        "priority": -10, "flexible": true, "concurrency_key": "exports/größe", "labels": {"team": "media", "a.b-c_D": "", "z": "ü"}, "depends_on": [],
        "retry": {"backoff": "linear", "initial": "2s", "factor": 1.5, "max": "10m", "jitter": false,
                  "abort_on_exit_codes": [0, 255], "on": ["failure", "cap"]}
    });
    let answer = server.post("/v1/tasks", body.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let task = answer.json();
    let read = server.get(&format!("/v1/tasks/{}", task["id"].as_str().unwrap())).await.json();
    assert_eq!(read, answer.kept());
    assert_eq!(task["state"], "scheduled");
    assert_eq!(task["tier"], json!(null));
    assert_eq!(task["resources"]["ports"], 0);
    assert_eq!(task["execution_cap"], "1s500ms");
    assert_eq!(task["delay_tolerance"], "1m30s");
    for field in [
        "name",
        "run",
        "expire_if_late",
        "max_attempts",
        "delivery",
        "unique_key",
        "priority",
        "flexible",
        "concurrency_key",
        "labels",
        "retry",
    ] {
        assert_eq!(task[field], body[field], "{field}");
    }
}

#[tokio::test]
async fn an_http_task_is_kept_with_its_defaults_filled_in() {
    let server = Server::start().await;
    for (given, kept) in [
        (
            json!({"url": "https://example.com/a"}),
            json!({"method": "GET", "url": "https://example.com/a", "success": "2xx"}),
        ),
        (
            json!({"url": "http://10.0.0.1/", "body": "", "success": " 200, 404 "}),
            json!({"method": "POST", "url": "http://10.0.0.1/", "body": "", "success": "200,404"}),
        ),
        (
            json!({"method": "PUT", "url": "http://bücher.example", "headers": {"X-A": "1"},
                "body_base64": "AP8=", "success": "200-299,304", "timeout": "90s"}),
            json!({"method": "PUT", "url": "http://bücher.example", "headers": {"X-A": "1"},
                "body_base64": "AP8=", "success": "2xx,304", "timeout": "1m30s"}),
        ),
    ] {
        let body = json!({"run": {"http": given}, "retry": {"abort_on_exit_codes": [404, 599]}});
        let answer = server.post("/v1/tasks", body.to_string()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        assert_eq!(answer.json()["run"]["http"], kept);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(server.get(&format!("/v1/tasks/{id}")).await.json(), answer.kept());
    }
}

#[tokio::test]
async fn a_fixed_time_is_kept_to_the_microsecond_and_a_past_one_is_now() {
    let server = Server::start().await;
    let at = |text: &str| json!({"run": {"noop": {}}, "run_at": text}).to_string();
    let future = runtime::clock::wall() + std::time::Duration::from_secs(86_400);
    let text = format!("{}", future.format("%Y-%m-%dT%H:%M:%S.123456789+00:00"));
    let task = server.post("/v1/tasks", at(&text)).await.json();
    assert_eq!(task["state"], "scheduled", "{task}");
    assert!(task["run_at"].as_str().unwrap().ends_with(".123456Z"), "{task}");
    let past = server.post("/v1/tasks", at("2001-02-03T04:05:06+02:00")).await.json();
    assert_eq!(past["state"], "ready");
    assert_eq!(past["run_at"], "2001-02-03T02:05:06Z");
}

#[tokio::test]
async fn every_201_of_many_at_once_is_committed_before_it_is_sent() {
    let server = Server::start().await;
    let checks = (0..100).map(|_| async {
        let answer = server.post("/v1/tasks", NOOP).await;
        assert_eq!(answer.status, 201);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        // Another session sees it at once: the answer came after the commit.
        let count = server
            .db
            .sql(&format!(
                "select count(*) from task where 'task_' || replace(id::text, '-', '') = '{id}'"
            ))
            .await
            .unwrap();
        assert_eq!(count.trim(), "1");
    });
    join_all(checks).await;
}

#[tokio::test]
async fn a_unique_key_is_answered_with_the_task_that_holds_it() {
    let server = Server::start().await;
    let body = r#"{"run":{"noop":{}},"unique_key":"k","name":"first"}"#;
    let posts = join_all((0..20).map(|_| server.post("/v1/tasks", body))).await;
    let created: Vec<_> = posts.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(created.len(), 1);
    let id = created[0].json()["id"].clone();
    for answer in &posts {
        assert!([200, 201].contains(&answer.status), "{answer:?}");
        assert_eq!(answer.json()["id"], id);
    }
    let target = format!("/v1/tasks/{}/cancel", id.as_str().unwrap());
    assert_eq!(server.post(&target, b"").await.json()["cancel"], "cancelled");
    let next = server.post("/v1/tasks", body).await;
    assert_eq!(next.status, 201, "an ended task holds no key");
    assert_ne!(next.json()["id"], id);
}

#[tokio::test]
async fn the_clients_trace_is_kept_and_a_bad_one_replaced() {
    let server = Server::start().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (sent, kept) in [(trace, true), ("00-zz", false), ("", false)] {
        let answer = server.post_with("/v1/tasks", &[("traceparent", sent)], NOOP).await;
        let id = answer.json()["id"].as_str().unwrap().trim_start_matches("task_").to_owned();
        let sql =
            format!("select traceparent from task_spec where replace(id::text, '-', '') = '{id}'");
        let stored = server.db.sql(&sql).await.unwrap();
        assert_eq!(stored.trim().len(), 55);
        assert_eq!(stored.contains("0af7651916cd43dd8448eb211c80319c"), kept, "{stored}");
    }
}

#[tokio::test]
async fn one_submit_that_the_database_refuses_fails_nobody_else() {
    let server = Server::start_with(&[("BERTH_API__SUBMIT_WRITERS", "1")]).await;
    // Stands for any row the checks did not foresee.
    server
        .db
        .sql("alter table task_spec add constraint no_poison check (name <> 'poison')")
        .await
        .unwrap();
    let poison = r#"{"run":{"noop":{}},"name":"poison"}"#;
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let posts = (0..60).map(|n| {
        let body = if n % 20 == 7 { poison } else { NOOP };
        request(server.addr, "POST", "/v1/tasks", &headers, body.as_bytes())
    });
    for (n, answer) in join_all(posts).await.into_iter().enumerate() {
        assert_eq!(answer.status, if n % 20 == 7 { 500 } else { 201 }, "{n}: {answer:?}");
        if answer.status == 500 {
            assert_eq!(answer.code(), "internal");
            assert!(
                !String::from_utf8_lossy(&answer.body).contains("no_poison"),
                "no cause in an answer"
            );
        }
    }
}

/// An executor of the default pool with so much of each; the api knows of it within a second.
async fn executor(server: &Server, cpu_millis: u32, memory_mib: u32) {
    let sql = format!(
        "insert into executor_session (id, executor_id, pool, state, owner, owner_epoch, expires_at, cpu_millis, memory_mib, disk_mib,
                iops, port_first, port_count, version)
            values (gen_random_uuid(), 'e', 'default', 'active', gen_random_uuid(), 1, now() + interval '1 hour', {cpu_millis},
                {memory_mib}, 100000, 10000, 20000, 10, '1')"
    );
    server.db.sql(&sql).await.unwrap();
}

#[tokio::test]
async fn a_task_that_fits_no_executor_is_accepted_with_a_warning() {
    let server = Server::start().await;
    let none = server.post("/v1/tasks", NOOP).await;
    assert_eq!(none.status, 201);
    let warnings = none.json()["warnings"].clone();
    assert_eq!(
        (&warnings[0]["code"], &warnings[0]["pointer"]),
        (&json!("no_executor"), &json!("/pool"))
    );
    let id = none.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/v1/tasks/{id}")).await.json().get("warnings"), None);

    executor(&server, 4000, 512).await;
    executor(&server, 1000, 8192).await;
    let fits = async || server.post("/v1/tasks", NOOP).await.json().get("warnings").is_none();
    testkit::poll::until("the executors to be known", Duration::from_secs(10), fits).await.unwrap();
    let with = |extra: Value| {
        let mut task = json!({"run": {"noop": {}}});
        task.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        task
    };
    let cases = [
        (
            with(json!({"resources": {"cpu_millis": 8000, "memory_mib": 1}})),
            "/resources/cpu_millis",
            "cpu_millis 8000",
        ),
        (
            with(json!({"resources": {"cpu_millis": 1, "memory_mib": 1, "ports": 11}})),
            "/resources/ports",
            "ports 11",
        ),
        (
            with(json!({"resources": {"cpu_millis": 4000, "memory_mib": 8192}})),
            "/resources",
            "at once",
        ),
        (with(json!({"tier": "premium"})), "/tier", "at once"),
    ];
    for (task, pointer, text) in &cases {
        let answer = server.post("/v1/tasks", task.to_string()).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let warnings = answer.json()["warnings"].clone();
        assert_eq!(
            (&warnings[0]["code"], &warnings[0]["pointer"]),
            (&json!("too_large"), &json!(pointer))
        );
        assert!(warnings[0]["detail"].as_str().unwrap().contains(text), "{warnings}");
    }
    let large = &cases[0].0;
    let batch =
        json!({"tasks": [with(json!({})), large, with(json!({"name": ""})), large]}).to_string();
    let results = server.post("/v1/tasks/batch", batch).await.json()["results"].clone();
    assert!(
        results[0].get("warnings").is_none() && results[2].get("warnings").is_none(),
        "{results}"
    );
    for at in [1, 3] {
        let pointer = format!("/tasks/{at}/resources/cpu_millis");
        assert_eq!(results[at]["warnings"][0]["pointer"], json!(pointer), "{results}");
    }
    let schedule =
        json!({"timing": {"specs": [{"every": {"every": "1h"}}]}, "task": large}).to_string();
    let put = server.put_as(&server.key, "/v1/schedules/s", &[], schedule).await;
    assert_eq!(put.status, 201, "{put:?}");
    assert_eq!(put.json()["warnings"][0]["pointer"], "/task/resources/cpu_millis");
    assert_eq!(server.get("/v1/schedules/s").await.json().get("warnings"), None);
}
