//! The tasks that a schedule made, and what is said of those that fail.

use crate::client::Answer;
use crate::server::{ALL_SCOPES, SCHEDULE, Server};
use serde_json::{Value, json};

async fn put(server: &Server, key: &str, body: &Value) -> Answer {
    server.put_as(key, "/v1/schedules/s", &[], body.to_string()).await
}

/// Fires it; the task's id.
async fn trigger(server: &Server, key: &str) -> String {
    let fired = server.post_as(key, "/v1/schedules/s/trigger", &[], "").await;
    assert_eq!(fired.status, 201, "{fired:?}");
    fired.json()["task"].as_str().unwrap().to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    let tasks = page["data"].as_array().unwrap();
    tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tasks_are_listed_by_the_name_or_the_id_of_their_schedule_and_name_it() {
    let server = Server::start().await;
    let (body, key) = (serde_json::from_str::<Value>(SCHEDULE).unwrap(), server.key.clone());
    let made = put(&server, &key, &body).await.json();
    let id = made["id"].as_str().unwrap();
    let loose = server.noop().await;
    let mut tasks = Vec::new();
    for _ in 0..3 {
        tasks.insert(0, trigger(&server, &key).await);
    }
    let list = async |query: &str| server.get(&format!("/v1/tasks?{query}")).await;
    let by_name = list("schedule=s").await;
    assert_eq!((by_name.status, ids(&by_name.json())), (200, tasks.clone()));
    assert_eq!(by_name.json()["data"][0]["schedule"], json!(id));
    assert_eq!(ids(&list(&format!("schedule={id}")).await.json()), tasks);
    assert_eq!(ids(&list("schedule=s&state=ready").await.json()), tasks);
    assert_eq!(list("schedule=s&state=failed").await.json()["data"], json!([]));
    assert_eq!(server.get(&format!("/v1/tasks/{loose}")).await.json()["schedule"], Value::Null);
    let page = list("schedule=s&limit=2").await.json();
    assert_eq!(ids(&page), tasks[..2]);
    let cursor = page["next_cursor"].as_str().unwrap();
    // The name and the id are the same filter.
    let rest = list(&format!("schedule={id}&limit=2&cursor={cursor}")).await.json();
    assert_eq!((ids(&rest), &rest["next_cursor"]), (tasks[2..].to_vec(), &Value::Null));
    assert_eq!(list(&format!("limit=2&cursor={cursor}")).await.code(), "invalid_cursor");
    assert_eq!(list("schedule=none").await.code(), "not_found");
    assert_eq!(list("schedule=s&schedule=s").await.pointers(), ["query:schedule"]);
    // Another tenant's schedule of the same name, and this one's id.
    let other = server.new_tenant("second").await;
    let other = server.new_key(other, &ALL_SCOPES).await;
    assert_eq!(server.get_as(&other, "/v1/tasks?schedule=s").await.code(), "not_found");
    put(&server, &other, &body).await;
    let theirs = trigger(&server, &other).await;
    let seen = server.get_as(&other, "/v1/tasks?schedule=s").await.json();
    assert_eq!(ids(&seen), [theirs]);
    let foreign = server.get_as(&other, &format!("/v1/tasks?schedule={id}")).await;
    let unknown =
        server.get_as(&other, "/v1/tasks?schedule=schedule_0190a6f3c1d27a3e8b1f0c2d4e5f6071").await;
    assert_eq!((foreign.status, foreign.json()), (unknown.status, unknown.json()));
    assert_eq!(foreign.json(), json!({"data": [], "next_cursor": null}));
    // A schedule that is gone has its tasks still, and no name.
    let bearer = format!("Bearer {key}");
    let gone = crate::client::request(
        server.addr,
        "DELETE",
        "/v1/schedules/s",
        &[("Authorization", bearer.as_str())],
        b"",
    )
    .await;
    assert_eq!(gone.status, 200);
    assert_eq!(list("schedule=s").await.code(), "not_found");
    assert_eq!(ids(&list(&format!("schedule={id}")).await.json()), tasks);
}

#[tokio::test]
async fn a_task_shows_which_due_time_it_is_for_and_whose_even_when_the_schedule_is_gone() {
    let server = Server::start().await;
    let (body, key) = (serde_json::from_str::<Value>(SCHEDULE).unwrap(), server.key.clone());
    put(&server, &key, &body).await;
    let task = trigger(&server, &key).await;
    let fire = server.get("/v1/schedules/s/fires").await.json()["data"][0].clone();
    assert_eq!(fire["task"], json!(task));
    let shown = server.get(&format!("/v1/tasks/{task}")).await.json();
    assert_eq!((&shown["due_at"], &shown["schedule_name"]), (&fire["due_at"], &json!("s")));
    let listed = server.get("/v1/tasks?schedule=s").await.json()["data"][0].clone();
    let mut brief = shown.clone();
    brief.as_object_mut().unwrap().remove("run");
    assert_eq!(listed, brief);
    let whole = server.get("/v1/tasks?schedule=s&include=run").await.json()["data"][0].clone();
    assert_eq!(whole, shown);
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    crate::client::request(server.addr, "DELETE", "/v1/schedules/s", &headers, b"").await;
    let gone = server.get(&format!("/v1/tasks/{task}")).await.json();
    assert_eq!((&gone["due_at"], &gone["schedule_name"]), (&fire["due_at"], &json!("s")));
    // Without a schedule: when it was first due. A retry moves its `run_at` and not this.
    let delayed = json!({"run": {"noop": {}}, "delay": "1h"}).to_string();
    let made = server.post("/v1/tasks", delayed).await.json();
    assert_eq!((&made["due_at"], &made["schedule_name"]), (&made["run_at"], &Value::Null));
    server.db.sql("update task set run_at = run_at + interval '1 day'").await.unwrap();
    let read = server.get(&format!("/v1/tasks/{}", made["id"].as_str().unwrap())).await.json();
    assert_ne!(read["run_at"], made["run_at"]);
    assert_eq!(read["due_at"], made["due_at"]);
    // One from before due times were kept.
    server.db.sql("update task_spec set due_at = null, schedule_name = null").await.unwrap();
    let old = server.get(&format!("/v1/tasks/{task}")).await.json();
    assert_eq!((&old["due_at"], &old["schedule_name"]), (&shown["run_at"], &Value::Null));
}

#[tokio::test]
async fn how_many_failures_pause_a_schedule_is_stored_and_in_its_range() {
    let server = Server::start().await;
    let key = server.key.clone();
    let mut body: Value = serde_json::from_str(SCHEDULE).unwrap();
    let made = put(&server, &key, &body).await.json();
    assert_eq!(
        (&made["pause_after_failures"], &made["failures_in_row"]),
        (&Value::Null, &json!(0))
    );
    body["pause_after_failures"] = json!(3);
    let changed = put(&server, &key, &body).await.json();
    assert_eq!((&changed["pause_after_failures"], &changed["version"]), (&json!(3), &json!(2)));
    assert_eq!(put(&server, &key, &body).await.json()["version"], 2, "the same again");
    let name = "select failures_in_row from schedule where name = 's'";
    server.db.sql("update schedule set failures_in_row = 2").await.unwrap();
    assert_eq!(server.get("/v1/schedules/s").await.json()["failures_in_row"], 2);
    body["overlap"] = json!("allow");
    put(&server, &key, &body).await;
    assert_eq!(server.db.sql(name).await.unwrap().trim(), "2", "another change keeps them");
    body["pause_after_failures"] = json!(4);
    put(&server, &key, &body).await;
    assert_eq!(server.db.sql(name).await.unwrap().trim(), "0", "they count anew");
    for bad in [json!(0), json!(1001), json!(-1), json!("3")] {
        body["pause_after_failures"] = bad.clone();
        let refused = put(&server, &key, &body).await;
        assert_eq!(
            (refused.status, refused.pointers()),
            (422, vec!["/pause_after_failures".to_owned()]),
            "{bad}"
        );
    }
}
