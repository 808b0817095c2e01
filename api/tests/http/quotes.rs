//! Quotes: what is priced is what a submit takes, and what it says is what a capped submit reserves.

use crate::client::Answer;
use crate::server::{Server, WORKFLOW};
use runtime::clock::monotonic;
use serde_json::{Value, json};
use std::time::Duration;

/// A core for an hour costs 3.60 units, and each task 1000 micro-units; what may wait for an hour is cheaper by a fifth.
const BOOK: &str = r#"{"currency": "EUR", "prices": [
    {"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": 3600000, "memory_gib": 7777, "port": 13}, "each": {"task": 1000},
     "discounts": {"tolerance": [{"at_least_s": 3600, "percent": 20}, {"at_least_s": 86400, "percent": 55}], "flexible_percent": 33}},
    {"effective_from": "2120-01-01T00:00:00Z", "rates": {"cpu_core": 3700000}, "each": {"task": 900}}]}"#;

async fn billed(server: &Server) {
    let sql = format!(
        r#"insert into price_book (name, document) values ('eur', '{BOOK}');
        update plan set billing = '{{"price_book": "eur"}}' where name = 'default'"#
    );
    server.db.sql(&sql).await.unwrap();
}

async fn ask(server: &Server, body: Value) -> Answer {
    server.post("/v1/quotes", body.to_string()).await
}

async fn quote(server: &Server, body: Value) -> Value {
    let answer = ask(server, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

async fn put(server: &Server, path: &str, body: Value) -> Answer {
    server.put_as(&server.key, path, &[], body.to_string()).await
}

/// A cap of all that nothing passes.
async fn cap(server: &Server, name: &str, amount: i64, more: Value) {
    let mut cap = json!({"amount": amount, "currency": "EUR", "period": "month"});
    cap.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = put(server, &format!("/v1/spend-caps/{name}"), cap).await;
    assert!([200, 201].contains(&answer.status), "{answer:?}");
}

const LARGE: i64 = 1_000_000_000_000_000;

/// What all tasks reserve, by SQL.
async fn reserved(server: &Server) -> i64 {
    let sql = "select coalesce(sum((reservation ->> 'amount')::bigint), 0) from task";
    server.db.sql(sql).await.unwrap().trim().parse().unwrap()
}

fn noop(more: Value) -> Value {
    let mut task = json!({"run": {"noop": {}}});
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    task
}

/// Tasks of all kinds of prices.
fn tasks() -> Vec<Value> {
    vec![
        noop(json!({})),
        noop(json!({"tier": "premium", "execution_cap": "37m", "max_attempts": 5})),
        noop(json!({"delay_tolerance": "1h", "execution_cap": "1h1s"})),
        noop(json!({"delay_tolerance": "26h", "flexible": true, "execution_cap": "7s"})),
        noop(json!({"flexible": true, "max_attempts": 3, "labels": {"team": "ml"}})),
        noop(
            json!({"resources": {"cpu_millis": 333, "memory_mib": 777, "ports": 3}, "execution_cap": "333ms", "max_attempts": 2}),
        ),
        noop(json!({"delay": "1h", "delay_tolerance": "3599s"})),
    ]
}

#[tokio::test]
async fn the_most_of_a_quote_is_what_a_capped_submit_reserves() {
    let server = Server::start().await;
    billed(&server).await;
    cap(&server, "all", LARGE, json!({})).await;
    let mut sum = 0;
    for task in tasks() {
        let quoted = quote(&server, json!({"task": task})).await;
        let before = reserved(&server).await;
        assert_eq!(server.post("/v1/tasks", task.to_string()).await.status, 201);
        let most = quoted["most"].as_i64().unwrap();
        assert_eq!(reserved(&server).await - before, most, "{task}: {quoted}");
        let line = &quoted["lines"][0];
        let of = |field: &str| line[field].as_i64().unwrap();
        let parts = [
            "cpu",
            "memory",
            "disk",
            "iops",
            "ports",
            "rounding",
            "tolerance_discount",
            "flexible_discount",
        ];
        assert_eq!(parts.iter().map(|part| of(part)).sum::<i64>(), of("attempt"), "{line}");
        assert_eq!(of("attempts") * of("attempt") + of("task"), most, "{line}");
        assert_eq!(quoted["caps"][0]["needs"], most, "{quoted}");
        sum += most;
    }
    // Together, of which each is a line, and those that are alike are one.
    let mut all = tasks();
    all.extend(tasks().into_iter().take(2));
    let batch = json!({"tasks": all});
    let quoted = quote(&server, json!({"batch": batch})).await;
    let before = reserved(&server).await;
    let stored = server.post("/v1/tasks/batch", batch.to_string()).await.json();
    assert_eq!(stored["accepted"], 9, "{stored}");
    assert_eq!(reserved(&server).await - before, quoted["most"].as_i64().unwrap(), "{quoted}");
    assert!(quoted["most"].as_i64().unwrap() > sum);
    let lines = quoted["lines"].as_array().unwrap();
    assert_eq!(
        (lines.len(), &lines[0]["tasks"], &quoted["tasks"]),
        (7, &json!(2), &json!(9)),
        "{quoted}"
    );
    assert_eq!(
        (&quoted["price_book"], &quoted["price_book_version"], &quoted["currency"]),
        (&json!("eur"), &json!(1), &json!("EUR"))
    );
}

/// A task of which everything that decides its price comes from `next`, a number below its argument.
fn random_task(mut next: impl FnMut(u64) -> u64) -> Value {
    let mut task = noop(json!({
        "execution_cap": format!("{}ms", next(4_000_000) + 1),
        "max_attempts": next(9) + 1,
        "delay_tolerance": format!("{}s", next(100_000)),
        "flexible": next(2) == 0,
    }));
    if next(2) == 0 {
        task["tier"] = json!(["basic", "regular", "premium"][usize::try_from(next(3)).unwrap()]);
    } else {
        task["resources"] =
            json!({"cpu_millis": next(9000) + 1, "memory_mib": next(9000) + 1, "ports": next(9)});
    }
    task
}

#[tokio::test]
async fn each_of_many_tasks_reserves_what_its_line_says() {
    let server = Server::start().await;
    billed(&server).await;
    cap(&server, "all", LARGE, json!({})).await;
    let mut state = 20_301_107_u64;
    let next = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut next = next;
    let tasks: Vec<Value> = (0..300).map(|_| random_task(&mut next)).collect();
    let batch = json!({"tasks": tasks});
    let quoted = quote(&server, json!({"batch": batch})).await;
    let stored = server.post("/v1/tasks/batch", batch.to_string()).await.json();
    assert_eq!(stored["accepted"], 300, "{stored}");
    let lines = quoted["lines"].as_array().unwrap();
    let mut said: Vec<i64> = lines
        .iter()
        .flat_map(|line| {
            let of = |field: &str| line[field].as_i64().unwrap();
            let tasks = usize::try_from(of("tasks")).unwrap();
            vec![of("attempts") * of("attempt") + of("task"); tasks]
        })
        .collect();
    said.sort_unstable();
    let sql =
        "select reservation ->> 'amount' from task order by (reservation ->> 'amount')::bigint";
    let kept = server.db.sql(sql).await.unwrap();
    let kept: Vec<i64> = kept.split_whitespace().map(|amount| amount.parse().unwrap()).collect();
    assert_eq!(said, kept);
    assert_eq!(quoted["most"], kept.iter().sum::<i64>());
}

#[tokio::test]
async fn a_fire_and_the_nodes_of_a_run_reserve_what_was_quoted() {
    let server = Server::start().await;
    billed(&server).await;
    cap(&server, "all", LARGE, json!({})).await;
    let task = noop(json!({"execution_cap": "90s", "max_attempts": 2, "labels": {"team": "ml"}}));
    let schedule = json!({"timing": {"specs": [{"cron": "0 9 * * *"}], "zone": "Europe/Berlin"}, "task": task});
    assert_eq!(put(&server, "/v1/schedules/nightly", schedule.clone()).await.status, 201);
    let sent = quote(&server, json!({"schedule": schedule, "month": "2027-02"})).await;
    let stored = quote(&server, json!({"schedule_name": "nightly", "month": "2027-02"})).await;
    for quoted in [&sent, &stored] {
        assert_eq!(
            (&quoted["month"]["fires"], &quoted["tasks"]),
            (&json!(28), &json!(28)),
            "{quoted}"
        );
        assert_eq!(quoted["month"]["starts_at"], "2027-02-01T00:00:00Z");
    }
    assert_eq!(sent["most"], stored["most"]);
    assert_eq!(server.post("/v1/schedules/nightly/trigger", "").await.status, 201);
    assert_eq!(reserved(&server).await * 28, sent["most"].as_i64().unwrap());

    let run = json!({"definition": {"nodes": {
        "a": {"task": noop(json!({"execution_cap": "5m"}))},
        "w": {"after": ["a"], "wait": {"approval": true}},
        "b": {"after": ["a"], "if": {"$from": "a", "eq": 1}, "task": noop(json!({"tier": "regular", "max_attempts": 4}))},
        "c": {"after": ["a"], "for_each": {"$input": "/list"}, "task": noop(json!({"labels": {"team": "ml"}}))},
        "d": {"after": ["a"], "for_each": {"$from": "a"}, "task": noop(json!({"tier": "premium"}))},
    }}, "input": {"list": [1, 2, 3]}});
    let quoted = quote(&server, json!({"workflow": run})).await;
    let lines = quoted["lines"].as_array().unwrap();
    let tasks = |line: &Value| {
        (
            line["name"].as_str().unwrap().to_owned(),
            line["tasks"].as_u64().unwrap(),
            line["at_most"] == true,
        )
    };
    let lines: Vec<_> = lines.iter().map(tasks).collect();
    let named = |name: &str, tasks, at_most| (name.to_owned(), tasks, at_most);
    assert_eq!(lines[..3], [named("a", 1, false), named("b", 1, false), named("c", 3, false)]);
    // Of 20 000 tasks that a run may have, 5 are nodes and 3 items.
    assert_eq!(lines[3], named("d", 20_000 - 8, true), "{quoted}");
    assert_eq!(quoted["estimate"], Value::Null);
    assert_eq!(server.post("/v1/workflow-runs", run.to_string()).await.status, 201);
}

/// Tasks, good and bad.
fn many_tasks(id: &str, parent: &str) -> Vec<Value> {
    let tasks = tasks().into_iter().chain([
        noop(json!({"max_attempts": 0})),
        noop(json!({"execution_cap": "soon", "tier": "basic", "resources": {"cpu_millis": 1}})),
        noop(json!({"tier": "huge"})),
        noop(json!({"wrong": 1})),
        noop(json!({"pool": "none"})),
        noop(json!({"depends_on": [id, parent]})),
        noop(json!({"depends_on": [parent]})),
        noop(json!({"ref": "a"})),
        noop(json!({"delay": "1s", "run_at": "2030-01-01T00:00:00Z"})),
        noop(json!({"expire_if_late": true, "delay_tolerance": "0s"})),
        json!({}),
        json!([]),
        json!("x"),
        noop(json!({"name": "x".repeat(300_000)})),
    ]);
    tasks.collect()
}

/// Batches, good and bad.
fn many_batches(id: &str) -> [Value; 7] {
    [
        json!({"tasks": []}),
        json!({"task": []}),
        json!({"tasks": [noop(json!({})), noop(json!({"max_attempts": 0})), {"x": 1}, noop(json!({"depends_on": [id]}))]}),
        json!({"tasks": [noop(json!({"ref": "a"})), noop(json!({"depends_on": ["a"]}))]}),
        json!({"tasks": [noop(json!({"ref": "a", "depends_on": ["a"]}))]}),
        json!({"tasks": [noop(json!({"ref": "a"})), noop(json!({"ref": "a", "depends_on": [id]}))]}),
        json!({"tasks": [noop(json!({})), noop(json!({"pool": "none"}))]}),
    ]
}

/// Runs, good and bad.
fn many_runs() -> [Value; 8] {
    let node = |more: Value| {
        let mut node = json!({"task": noop(json!({}))});
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        node
    };
    [
        json!({"definition": {"nodes": {"a": node(json!({}))}}}),
        json!({"definition": {"nodes": {"a": node(json!({"after": ["b"]}))}}}),
        json!({"definition": {"nodes": {}}}),
        json!({"definition": {"nodes": {"a": node(json!({"for_each": {"$input": "/x"}}))}}, "input": {}}),
        json!({"workflow": "none"}),
        json!({"workflow": "load", "definition": {}}),
        json!({}),
        json!({"input": "x".repeat(300_000), "definition": {"nodes": {"a": node(json!({}))}}}),
    ]
}

/// Schedules, good and bad.
fn many_schedules() -> [Value; 8] {
    let daily = json!({"specs": [{"cron": "0 9 * * *"}]});
    [
        json!({"timing": daily, "task": noop(json!({}))}),
        json!({"timing": daily, "task": noop(json!({"delay": "1s"}))}),
        json!({"timing": {"specs": [{"cron": "61 * * * *"}], "zone": "Mars/Olympus"}, "task": noop(json!({"pool": "none"}))}),
        json!({"timing": {"specs": [{"at": "2020-01-01T00:00:00Z"}]}, "task": noop(json!({}))}),
        json!({"timing": daily, "workflow": {"name": "none"}}),
        json!({"timing": daily, "workflow": {"name": "load"}}),
        json!({"timing": daily}),
        json!({}),
    ]
}

/// The same bodies to what submits them and to quotes, each with its field.
#[tokio::test]
async fn a_quote_accepts_what_a_submit_accepts_and_refuses_what_it_refuses() {
    let server = Server::start().await;
    let id = "task_00000000000000000000000000000000";
    let parent = server.noop().await;
    let mut bodies: Vec<(&str, &str, Value)> = Vec::new();
    bodies.extend(many_tasks(id, &parent).into_iter().map(|task| ("task", "/v1/tasks", task)));
    bodies.extend(many_batches(id).map(|batch| ("batch", "/v1/tasks/batch", batch)));
    bodies.extend(many_runs().map(|run| ("workflow", "/v1/workflow-runs", run)));
    bodies.extend(many_schedules().map(|schedule| ("schedule", "PUT", schedule)));
    assert_eq!(server.put_as(&server.key, "/v1/workflows/load", &[], WORKFLOW).await.status, 201);
    let (mut taken, mut refused) = (0, 0);
    for (field, path, body) in bodies {
        let quoted = ask(&server, json!({field: body})).await;
        let submitted = match path {
            "PUT" => put(&server, "/v1/schedules/s", body.clone()).await,
            path => server.post(path, body.to_string()).await,
        };
        let what = format!(
            "{field} {}: {submitted:?} {quoted:?}",
            &body.to_string()[..body.to_string().len().min(200)]
        );
        let is_good = submitted.status < 300;
        assert_eq!(is_good, quoted.status == 200, "{what}");
        *(if is_good { &mut taken } else { &mut refused }) += 1;
        if is_good {
            let results = submitted.json()["results"].as_array().cloned().unwrap_or_default();
            let errors: Vec<_> =
                results.iter().filter(|item| item.get("error").is_some()).collect();
            let rejected = quoted.json()["rejected"].as_array().cloned().unwrap_or_default();
            assert_eq!(errors.len(), rejected.len(), "{what}");
            for (error, rejected) in errors.iter().zip(&rejected) {
                assert_eq!(error["index"], rejected["index"], "{what}");
                assert_eq!(error["error"], rejected["error"], "{what}");
            }
            continue;
        }
        assert_eq!((submitted.status, submitted.code()), (quoted.status, quoted.code()), "{what}");
        if submitted.status != 413 {
            let below: Vec<_> =
                submitted.pointers().iter().map(|at| format!("/{field}{at}")).collect();
            assert_eq!(quoted.pointers(), below, "{what}");
        }
    }
    assert!(taken >= 13 && refused >= 30, "{taken} {refused}");
}

#[tokio::test]
async fn a_quote_is_of_one_thing_and_stores_nothing() {
    let server = Server::start().await;
    let task = noop(json!({}));
    for (body, pointer) in [
        (json!({}), ""),
        (json!({"task": task, "batch": {"tasks": [task]}}), ""),
        (json!({"task": task, "schedule_name": "a"}), ""),
        (json!({"task": task, "month": "2030-01"}), "/month"),
        (json!({"schedule_name": "a/b"}), "/schedule_name"),
        (json!({"schedule_name": "nightly", "month": "2020-01"}), "/month"),
        (json!({"schedule_name": "nightly", "month": "2030-13"}), "/month"),
        (json!({"schedule_name": "nightly", "month": "2230-01"}), "/month"),
        (json!({"tsk": task}), "/tsk"),
    ] {
        let answer = ask(&server, body.clone()).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (422, vec![pointer.to_owned()]),
            "{body}: {answer:?}"
        );
    }
    let missing = ask(&server, json!({"schedule_name": "nightly"})).await;
    assert_eq!((missing.status, missing.code().as_str()), (404, "not_found"), "{missing:?}");
    // Without prices all is said that is no price.
    let free = quote(&server, json!({"task": task})).await;
    assert_eq!((&free["priced"], &free["tasks"]), (&json!(false), &json!(1)), "{free}");
    for field in ["most", "estimate", "currency", "price_book", "price_book_version", "month"] {
        assert_eq!(free[field], Value::Null, "{field}: {free}");
    }
    for field in ["lines", "cheaper", "caps"] {
        assert_eq!(free[field], json!([]), "{field}: {free}");
    }
    assert_eq!(server.stored().await, 0);
}

#[tokio::test]
async fn patience_is_cheaper_and_caps_that_have_no_room_are_named() {
    let server = Server::start().await;
    billed(&server).await;
    // Only the present prices: those of later cost more, and have no discounts.
    server
        .db
        .sql("update price_book set document = document #- '{prices,1}', version = 7")
        .await
        .unwrap();
    cap(&server, "all", 20_000, json!({})).await;
    cap(&server, "ml", 5_000, json!({"label": {"key": "team", "value": "ml"}})).await;
    cap(&server, "web", 1, json!({"label": {"key": "team", "value": "web"}})).await;
    cap(
        &server,
        "fires",
        1_000_000,
        json!({"schedule": "nightly", "period": "day", "zone": "Europe/Berlin"}),
    )
    .await;
    // A core for ten seconds costs 10 000.
    let task = noop(
        json!({"resources": {"cpu_millis": 1000, "memory_mib": 1}, "execution_cap": "10s", "delay_tolerance": "1h",
        "labels": {"team": "ml"}}),
    );
    let quoted = quote(&server, json!({"task": task})).await;
    assert_eq!(
        (&quoted["most"], &quoted["price_book_version"]),
        (&json!(9_000), &json!(7)),
        "{quoted}"
    );
    let cheaper = &quoted["cheaper"];
    assert_eq!(
        cheaper,
        &json!([
            {"delay_tolerance": "24h", "flexible": false, "most": 5_500, "saving": 3_500, "saving_basis_points": 3888},
            {"delay_tolerance": null, "flexible": true, "most": 6_360, "saving": 2_640, "saving_basis_points": 2933},
        ])
    );
    let caps = |quoted: &Value| {
        let one = |cap: &Value| {
            (
                cap["name"].as_str().unwrap().to_owned(),
                cap["needs"].as_i64().unwrap(),
                cap["leaves"].as_i64().unwrap(),
                cap["would_pass"] == true,
            )
        };
        quoted["caps"].as_array().unwrap().iter().map(one).collect::<Vec<_>>()
    };
    let of = |name: &str, needs, leaves, would| (name.to_owned(), needs, leaves, would);
    assert_eq!(caps(&quoted), [of("all", 9_000, 11_000, false), of("ml", 9_000, -4_000, true)]);
    // A submit says the same.
    let refused = server.post("/v1/tasks", task.to_string()).await;
    assert_eq!((refused.status, refused.code().as_str()), (402, "spend_cap_reached"));
    let mut plain = task.clone();
    plain["labels"] = json!({});
    let three = json!({"batch": {"tasks": [plain, plain, plain]}});
    assert_eq!(caps(&quote(&server, three).await), [of("all", 27_000, -7_000, true)]);
    // On the day of the change of clocks there is an hour more.
    let hourly = json!({"timing": {"specs": [{"cron": "0 * * * *"}], "zone": "Europe/Berlin"}, "task": plain});
    let quoted =
        quote(&server, json!({"schedule": hourly, "schedule_name": "nightly", "month": "2027-10"}))
            .await;
    assert_eq!(quoted["month"]["fires"], 31 * 24 + 1 - 1, "{quoted}");
    let all = 9_000 * 744;
    assert_eq!(
        caps(&quoted),
        [of("all", all, 20_000 - all, true), of("fires", 225_000, 775_000, false)]
    );
}

#[tokio::test]
async fn an_estimate_is_of_like_tasks_and_says_of_how_many() {
    let server = Server::start().await;
    billed(&server).await;
    let tenant = server.tenant.uuid();
    let schedule = json!({"timing": {"specs": [{"cron": "0 9 * * *"}]}, "task": noop(json!({"execution_cap": "1h"}))});
    assert_eq!(put(&server, "/v1/schedules/nightly", schedule.clone()).await.status, 201);
    assert_eq!(put(&server, "/v1/schedules/other", schedule).await.status, 201);
    let id = server.db.sql("select id from schedule where name = 'nightly'").await.unwrap();
    // Of each quarter lately, and long ago.
    for (kind, value, ago, attempts, tasks, ms) in [
        ("tier", "basic", "1 hour", 3, 2, 20_000),
        ("tier", "basic", "2 days", 3, 2, 20_000),
        ("tier", "basic", "20 days", 100, 100, 100_000_000),
        ("schedule", id.trim(), "3 hours", 5, 5, 2_000_000),
    ] {
        let sql = format!(
            "insert into usage_rollup values ('{tenant}', '{kind}', date_bin('15 minutes', now() - interval '{ago}', 'epoch'), '', '{value}',
                false, 'eur', {attempts}, {attempts}, {tasks}, {ms}, 1, 2, 3, 4, 5, 6, 7)"
        );
        server.db.sql(&sql).await.unwrap();
    }
    // A quarter of a core, half a GiB and a port, and the task.
    let once = |ms: i64| (ms * 250 + (ms * 7777 / 2 + ms * 13) / 3600 + 500) / 1000 + 1000;
    let quoted = quote(&server, json!({"task": noop(json!({"execution_cap": "1h"}))})).await;
    let estimate = &quoted["estimate"];
    assert_eq!((&estimate["like"], &estimate["attempts"]), (&json!("tier"), &json!(6)), "{quoted}");
    assert_eq!(estimate["amount"], once(10_000), "{quoted}");
    assert_eq!(
        quote(&server, json!({"task": noop(json!({"tier": "premium"}))})).await["estimate"],
        Value::Null
    );
    // Never above the most.
    let short = quote(&server, json!({"task": noop(json!({"execution_cap": "1s"}))})).await;
    assert_eq!(
        (&short["estimate"]["amount"], &short["most"]),
        (&json!(once(1000)), &json!(1_257)),
        "later prices are higher"
    );
    let of = async |name: &str| {
        quote(&server, json!({"schedule_name": name, "month": "2027-02"})).await["estimate"].clone()
    };
    let nightly = of("nightly").await;
    assert_eq!(
        (&nightly["like"], &nightly["attempts"]),
        (&json!("schedule"), &json!(5)),
        "{nightly}"
    );
    assert_eq!(nightly["amount"], once(400_000) * 28);
    let other = of("other").await;
    assert_eq!((&other["like"], &other["amount"]), (&json!("tier"), &json!(once(10_000) * 28)));
}

#[tokio::test]
async fn an_expected_start_is_a_range_or_says_why_there_is_none() {
    let server = Server::start().await;
    let start = async |body: Value| quote(&server, body).await["expected_start"].clone();
    let none = start(json!({"task": noop(json!({}))})).await;
    assert_eq!((&none["from"], &none["to"]), (&Value::Null, &Value::Null));
    assert!(none["reason"].as_str().unwrap().contains("No executor"), "{none}");
    let later = start(json!({"task": noop(json!({"run_at": "2030-01-01T00:00:00Z"}))})).await;
    assert_eq!(
        (&later["from"], &later["to"]),
        (&json!("2030-01-01T00:00:00Z"), &Value::Null),
        "{later}"
    );
    let parent = server.noop().await;
    let waits = start(json!({"task": noop(json!({"depends_on": [parent]}))})).await;
    assert_eq!(waits["from"], Value::Null, "{waits}");
    let schedule =
        json!({"timing": {"specs": [{"at": "2030-01-01T00:00:00Z"}]}, "task": noop(json!({}))});
    let due = quote(&server, json!({"schedule": schedule})).await;
    assert_eq!(due["expected_start"]["from"], "2030-01-01T00:00:00Z");
    assert_eq!(
        (&due["month"]["month"], &due["month"]["fires"]),
        (&json!("2030-01"), &json!(1)),
        "{due}"
    );
}

/// A month of minutes, one of seconds, and the largest batch.
#[tokio::test(flavor = "multi_thread")]
async fn large_things_are_priced_in_time() {
    let server = Server::start().await;
    billed(&server).await;
    cap(&server, "day", LARGE, json!({"period": "day", "zone": "America/New_York"})).await;
    let timed = async |body: Value| {
        let text = body.to_string();
        let mut best = Duration::MAX;
        let mut quoted = Value::Null;
        for _ in 0..3 {
            let began = monotonic();
            let answer = server.post("/v1/quotes", &*text).await;
            best = best.min(began.elapsed());
            assert_eq!(answer.status, 200, "{answer:?}");
            quoted = answer.json();
        }
        (best, quoted)
    };
    let schedule = |timing: Value| json!({"schedule": {"timing": timing, "task": noop(json!({}))}, "month": "2027-03"});
    let minutes = json!({"specs": [{"cron": "* * * * *"}], "zone": "Europe/Berlin"});
    let (minutely, quoted) = timed(schedule(minutes)).await;
    assert_eq!(quoted["month"]["fires"], 31 * 1440, "{quoted}");
    let (secondly, quoted) = timed(schedule(json!({"specs": [{"every": {"every": "1s"}}]}))).await;
    assert_eq!(quoted["month"]["fires"], 31 * 86_400, "{quoted}");
    let tasks: Vec<Value> =
        (0..10_000).map(|n| noop(json!({"execution_cap": format!("{}ms", n + 1)}))).collect();
    let (batch, quoted) = timed(json!({"batch": {"tasks": tasks}})).await;
    assert_eq!(
        (&quoted["tasks"], &quoted["lines_left_out"]),
        (&json!(10_000), &json!(9_000)),
        "{quoted}"
    );
    println!("a month of minutes {minutely:?}, of seconds {secondly:?}; 10 000 tasks {batch:?}");
    // Unoptimised code is some ten times as slow.
    let slow = if cfg!(debug_assertions) { 10 } else { 1 };
    assert!(minutely < Duration::from_millis(100) * slow, "{minutely:?}");
    assert!(batch < Duration::from_secs(1) * slow, "{batch:?}");
}
