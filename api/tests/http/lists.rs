//! Pages, filters, attempts and usage.

use crate::server::{ALL_SCOPES, Server, config};
use futures::future::join_all;
use runtime::clock::{monotonic, sleep, sleep_until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::connect::SchedulerDb;
use testkit::poll;

async fn ids_of(server: &Server, query: &str) -> Vec<String> {
    let json = server.get(&format!("/v1/tasks?{query}")).await.json();
    let rows = json["data"].as_array().unwrap_or_else(|| panic!("{query}: {json}"));
    rows.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

/// Walks `tasks` in pages of `limit`, while others come and some of them end: `inserts` and `cancels` a second.
async fn walk(tasks: usize, limit: usize, (inserts, cancels): (u32, u32)) {
    let server = Server::start().await;
    server.db.sql(r#"update plan set limits = limits || '{"backlog": 100000000}'"#).await.unwrap();
    let mut old: Vec<String> = Vec::new();
    while old.len() < tasks {
        let some = (tasks - old.len()).min(5000);
        let batch = json!({"tasks": vec![json!({"run": {"noop": {}}}); some]}).to_string();
        let answer = server.post("/v1/tasks/batch", &batch).await;
        let results = answer.json()["results"].as_array().cloned().unwrap_or_default();
        let ids = results.iter().filter_map(|made| made["task"]["id"].as_str());
        old.extend(ids.map(str::to_owned));
        // More than its rate, or more than its plan held a moment ago: what is left is sent again.
        if answer.status == 429 || results.iter().any(|made| made["task"].is_null()) {
            sleep(Duration::from_millis(50)).await;
        } else {
            assert_eq!(answer.status, 200, "{answer:?}");
        }
    }
    let (stop, began) = (AtomicBool::new(false), monotonic());
    // At a pace, whatever an answer takes.
    let next = async |number: usize, per_second: u32| {
        sleep_until(began + Duration::from_secs(1) / per_second * u32::try_from(number).unwrap())
            .await;
        !stop.load(Ordering::Relaxed)
    };
    let come = join_all((0..4).map(async |first| {
        let mut number = first;
        while next(number, inserts).await {
            server.noop().await;
            number += 4;
        }
        (number - first) / 4
    }));
    let end = async {
        let mut number = 0;
        while next(number, cancels).await {
            // Spread over all of them, in no order that a page has.
            let id = &old[number * 7919 % old.len()];
            server.post(&format!("/v1/tasks/{id}/cancel"), b"").await;
            number += 1;
        }
        number
    };
    let pages = async {
        let (mut seen, mut cursor, mut pages) = (HashMap::<String, u32>::new(), String::new(), 0);
        loop {
            let page = server.get(&format!("/v1/tasks?limit={limit}{cursor}")).await.json();
            for task in page["data"].as_array().unwrap_or_else(|| panic!("{page}")) {
                *seen.entry(task["id"].as_str().unwrap().to_owned()).or_default() += 1;
            }
            pages += 1;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        stop.store(true, Ordering::Relaxed);
        (seen, pages)
    };
    let ((seen, pages), come, ended) = tokio::join!(pages, come, end);
    let (come, lasted) = (come.iter().sum::<usize>(), began.elapsed());
    eprintln!("{pages} pages of {tasks} tasks in {lasted:?}, while {come} came and {ended} ended");
    assert!(pages >= tasks / limit && come > 0 && ended > 0, "{pages} pages");
    for id in &old {
        assert_eq!(seen.get(id), Some(&1), "{id}");
    }
    assert!(seen.values().all(|times| *times == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_under_inserts_and_cancels_sees_each_old_row_once() {
    walk(3000, 30, (200, 50)).await;
}

mod chaos {
    #[tokio::test(flavor = "multi_thread")]
    async fn a_walk_of_fifty_thousand_under_inserts_and_cancels_sees_each_old_row_once() {
        super::walk(50_000, 50, (200, 50)).await;
    }
}

#[tokio::test]
async fn lists_are_newest_first_and_filtered() {
    let server = Server::start().await;
    let mut ids = Vec::new();
    for (name, tier, label, delay) in
        [("a", "basic", "x", "0s"), ("b", "regular", "x", "1h"), ("a", "premium", "y", "1h")]
    {
        let body = json!({"run": {"noop": {}}, "name": name, "tier": tier, "labels": {"l": label}, "delay": delay});
        let answer = server.post("/v1/tasks", body.to_string()).await;
        ids.push(answer.json()["id"].as_str().unwrap().to_owned());
    }
    server.post(&format!("/v1/tasks/{}/cancel", ids[1]), b"").await;
    let some =
        |places: &[usize]| -> Vec<String> { places.iter().map(|at| ids[*at].clone()).collect() };
    for (query, places) in [
        ("", &[2, 1, 0][..]),
        ("limit=2", &[2, 1]),
        ("state=ready", &[0]),
        ("state=cancelled", &[1]),
        ("state=ready,cancelled", &[1, 0]),
        ("state=ready&state=scheduled", &[2, 0]),
        ("state=succeeded", &[]),
        ("tier=premium", &[2]),
        ("name=a", &[2, 0]),
        ("name=%27;drop%20table%20task;--", &[]),
        ("label=l=x", &[1, 0]),
        ("label=l=x&name=a", &[0]),
        ("label=none=x", &[]),
        ("created_from=2020-01-01T00:00:00Z", &[2, 1, 0]),
        ("created_before=2020-01-01T00:00:00Z", &[]),
    ] {
        assert_eq!(ids_of(&server, query).await, some(places), "{query}");
    }
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    assert_eq!(
        server.get_as(&key, "/v1/tasks").await.json(),
        json!({"data": [], "next_cursor": null})
    );
}

/// Ended attempts of a task, as settling writes them.
async fn settle(server: &Server, id: &str, attempts: u32) {
    let hex = id.trim_start_matches("task_");
    server
        .db
        .sql(&format!(
            "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib,
                iops, ports, session_id, placed_at, ended_at, usage_ms, exit_code)
             select '{}', '{hex}'::uuid, n, case when n = 1 then 'lost' else 'failed' end, n > 1, 'default', 'basic', 250, 512,
                1024, 50, 1, gen_random_uuid(), now() - interval '1 s', now(), case when n = 1 then 0 else 1000 end, 3
             from generate_series(1, {attempts}) n",
            server.tenant.uuid()
        ))
        .await
        .unwrap();
}

#[tokio::test]
async fn attempts_are_listed_in_order_in_pages() {
    let server = Server::start().await;
    let id = server.noop().await;
    assert_eq!(server.get(&format!("/v1/tasks/{id}/attempts")).await.json()["data"], json!([]));
    settle(&server, &id, 5).await;
    let (mut numbers, mut cursor): (Vec<Value>, _) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/tasks/{id}/attempts?limit=2{cursor}")).await.json();
        for attempt in page["data"].as_array().unwrap() {
            numbers.push(attempt["attempt"].clone());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let first =
        server.get(&format!("/v1/tasks/{id}/attempts?limit=1")).await.json()["data"][0].clone();
    assert_eq!((first["state"].as_str(), first["charged"].as_bool()), (Some("lost"), Some(false)));
    let other = server.noop().await;
    let moved = server.get(&format!("/v1/tasks/{other}/attempts?limit=2{cursor}")).await;
    assert_eq!(moved.code(), "invalid_cursor", "a cursor belongs to its task");
}

#[tokio::test]
async fn usage_is_the_sum_of_attempts() {
    let server = Server::start().await;
    let id = server.noop().await;
    settle(&server, &id, 3).await;
    let scheduler = SchedulerDb::connect(&config(&server.db, &[]).database).unwrap();
    // What is counted ends before the oldest transaction that is open anywhere.
    let counted = async || {
        store::rollup::count(&scheduler).await.unwrap();
        server.get("/v1/usage").await.json()["total"]["attempts"] == 3
    };
    poll::until("usage to be counted", Duration::from_secs(30), counted).await.unwrap();
    let usage = server.get("/v1/usage").await.json();
    let amounts = json!({"attempts": 3, "charged_attempts": 2, "run_ms": 2000, "cpu_millis_ms": 500_000,
                         "memory_mib_ms": 1_024_000});
    assert_eq!(usage["total"], amounts);
    assert_eq!(usage["data"].as_array().unwrap().len(), 1);
    assert_eq!(usage["data"][0]["tier"], "basic");
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &["read"]).await;
    assert_eq!(server.get_as(&key, "/v1/usage").await.json()["data"], json!([]));
    let ahead = server.get("/v1/usage?from=2120-01-01&to=2120-12-31").await.json();
    assert_eq!(
        (ahead["from"].as_str(), ahead["total"]["attempts"].as_i64()),
        (Some("2120-01-01"), Some(0))
    );
    // Sums stay when attempts have gone.
    let past = server.get("/v1/usage?from=2020-01-01&to=2020-12-31").await;
    assert_eq!((past.status, &past.json()["data"]), (200, &json!([])));
    let by_hour = server.get("/v1/usage?step=hour&group_by=label:team").await.json();
    let row = &by_hour["data"][0];
    assert_eq!(
        (&row["tier"], &row["group"], by_hour["data"][1].is_null()),
        (&json!(null), &json!(null), true),
        "{by_hour}"
    );
}
