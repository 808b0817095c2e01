//! Lists of things that their owners made large: pages end early, and the next one goes on.

use crate::client::Answer;
use crate::server::{SCHEDULE, Server};
use serde_json::{Value, json};

const LARGE: usize = 250_000;
const MIB: usize = 1024 * 1024;

/// A task that nearly is as large as one may be.
pub fn large(name: usize) -> Value {
    let run = json!({"command": {"argv": ["true"], "stdin": "x".repeat(LARGE)}});
    json!({"name": format!("n{name}"), "run": run})
}

/// All pages of a list: their answers.
async fn pages(server: &Server, path: &str) -> Vec<Answer> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("{path}limit=200{cursor}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        let next = page.json()["next_cursor"].as_str().map(str::to_owned);
        pages.push(page);
        match next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return pages,
        }
    }
}

fn rows(pages: &[Answer]) -> Vec<Value> {
    pages.iter().flat_map(|page| page.json()["data"].as_array().unwrap().clone()).collect()
}

#[tokio::test]
async fn a_list_of_tasks_has_no_runs_and_with_them_its_pages_end_early() {
    let server = Server::start().await;
    let tasks: Vec<_> = (0..10).map(large).collect();
    let stored = server.post("/v1/tasks/batch", json!({"tasks": tasks}).to_string()).await;
    assert_eq!(stored.json()["accepted"], 10);
    let brief = pages(&server, "/v1/tasks?").await;
    assert_eq!(brief.len(), 1);
    assert!(brief[0].body.len() < 20_000, "{}", brief[0].body.len());
    let whole = pages(&server, "/v1/tasks?include=run&").await;
    assert_eq!(whole.len(), 3);
    assert!(whole.iter().all(|page| page.body.len() <= MIB + 100), "a page is a MiB at most");
    let (brief, whole) = (rows(&brief), rows(&whole));
    let names: Vec<_> = whole.iter().map(|task| task["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["n9", "n8", "n7", "n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
    for (brief, mut whole) in brief.into_iter().zip(whole) {
        let id = whole["id"].as_str().unwrap();
        assert_eq!(whole, server.get(&format!("/v1/tasks/{id}")).await.json());
        assert!(whole.as_object_mut().unwrap().remove("run").is_some());
        assert_eq!(brief, whole);
    }
    let wrong = server.get("/v1/tasks?include=spec").await;
    assert_eq!((wrong.status, wrong.pointers()), (400, vec!["query:include".to_owned()]));
}

#[tokio::test]
async fn a_list_of_large_schedules_ends_its_pages_early() {
    let server = Server::start().await;
    for number in 0..10 {
        let mut schedule: Value = serde_json::from_str(SCHEDULE).unwrap();
        schedule["task"] = json!({"run": large(number)["run"]});
        let path = format!("/v1/schedules/s{number}");
        let put = server.put_as(&server.key, &path, &[], schedule.to_string()).await;
        assert_eq!(put.status, 201, "{put:?}");
    }
    let pages = pages(&server, "/v1/schedules?").await;
    assert!(pages.iter().all(|page| page.body.len() <= MIB + 100), "a page is a MiB at most");
    assert!((3..=4).contains(&pages.len()), "{}", pages.len());
    let rows = rows(&pages);
    let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"]);
}
