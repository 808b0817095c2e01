//! Tasks that depend on others: who may be a parent, what is refused with which pointer, and that one mistake refuses a whole batch.

use crate::limits::limited;
use crate::lines;
use crate::server::{ALL_SCOPES, Server};
use serde_json::{Value, json};

fn noop(more: Value) -> Value {
    let mut task = json!({"run": {"noop": {}}});
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    task
}

/// Tasks that were stored.
async fn tasks(server: &Server) -> usize {
    server.get("/v1/tasks").await.json()["data"].as_array().unwrap().len()
}

impl Server {
    async fn batch(&self, tasks: &[Value]) -> crate::client::Answer {
        self.post("/v1/tasks/batch", json!({"tasks": tasks}).to_string()).await
    }

    async fn task(&self, id: &Value) -> Value {
        self.get(&format!("/v1/tasks/{}", id.as_str().unwrap())).await.json()
    }
}

#[tokio::test]
async fn a_submit_waits_for_tasks_that_were_stored_before() {
    let server = Server::start().await;
    let (first, second) = (server.noop().await, server.noop().await);
    let body = noop(
        json!({"depends_on": [first, {"task": second, "on": "finished"}], "join": "any", "delay": "1h"}),
    );
    let answer = server.post("/v1/tasks", body.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let task = answer.json();
    assert_eq!(task["state"], "scheduled");
    let parents = json!([{"task": first, "on": "succeeded"}, {"task": second, "on": "finished"}]);
    assert_eq!((&task["depends_on"], &task["join"]), (&parents, &json!("any")));
    assert_eq!(server.task(&task["id"]).await, answer.kept());
    let explained =
        server.get(&format!("/v1/tasks/{}/explain", task["id"].as_str().unwrap())).await.json();
    let reason = json!({"reason": "parents", "needs": 1, "undecided": 2, "waits_for": [
        {"id": first, "state": "ready", "on": "succeeded"}, {"id": second, "state": "ready", "on": "finished"}]});
    assert_eq!(
        (&explained["reasons"][0], &explained["eta"]["basis"]),
        (&reason, &json!("parents"))
    );
    let plain = server.task(&json!(first)).await;
    assert_eq!((&plain["depends_on"], &plain["join"]), (&json!([]), &json!(null)));
    // A rerun stands alone.
    let again = server.post(&format!("/v1/tasks/{}/rerun", task["id"].as_str().unwrap()), "").await;
    assert_eq!(
        (again.status, &again.json()["depends_on"], &again.json()["state"]),
        (201, &json!([]), &json!("ready"))
    );
}

#[tokio::test]
async fn a_batch_names_its_tasks_by_ref_and_by_position_in_any_order() {
    let server = Server::start().await;
    let before = server.noop().await;
    let tasks = [
        noop(
            json!({"ref": "report", "depends_on": ["load", {"task": 2, "on": "failed"}], "join": {"at_least": 1}}),
        ),
        noop(json!({"ref": "load", "depends_on": [before]})),
        noop(json!({})),
    ];
    let answer = server.batch(&tasks).await.json();
    assert_eq!((&answer["accepted"], &answer["rejected"]), (&json!(3), &json!(0)), "{answer}");
    let id = |place: usize| answer["results"][place]["task"]["id"].clone();
    let states: Vec<_> =
        (0..3).map(|place| answer["results"][place]["task"]["state"].clone()).collect();
    assert_eq!(states, ["scheduled", "scheduled", "ready"]);
    let report = server.task(&id(0)).await;
    assert_eq!(
        report["depends_on"],
        json!([{"task": id(1), "on": "succeeded"}, {"task": id(2), "on": "failed"}])
    );
    assert_eq!(report["join"], json!({"at_least": 1}));
    assert!(
        id(1).as_str() < id(0).as_str() && id(2).as_str() < id(0).as_str(),
        "parents have the smaller ids"
    );
}

#[tokio::test]
async fn one_mistake_refuses_a_batch_and_each_has_its_pointer() {
    let server = Server::start().await;
    let own = server.noop().await;
    let foreign = foreign(&server).await;
    let unknown = "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
    let stored = server.stored().await;
    let cases = [
        (vec![json!({"depends_on": [0]})], vec!["/tasks/0/depends_on"]),
        (vec![json!({"depends_on": [1]}), json!({"depends_on": [0]})], vec!["/tasks/0/depends_on"]),
        (vec![json!({"depends_on": [2]}), json!({})], vec!["/tasks/0/depends_on/0"]),
        (vec![json!({"depends_on": ["a"]}), json!({"ref": "b"})], vec!["/tasks/0/depends_on/0"]),
        (vec![json!({"depends_on": [1, 1]}), json!({})], vec!["/tasks/0/depends_on/1"]),
        (vec![json!({"depends_on": ["a", 1]}), json!({"ref": "a"})], vec!["/tasks/0/depends_on/1"]),
        (vec![json!({"ref": "a"}), json!({"ref": "a", "depends_on": [own]})], vec!["/tasks/1/ref"]),
        (
            vec![json!({"ref": "task_a"}), json!({"ref": "", "depends_on": [0]})],
            vec!["/tasks/0/ref", "/tasks/1/ref"],
        ),
        (
            vec![json!({"depends_on": [own], "join": {"at_least": 0}})],
            vec!["/tasks/0/join/at_least"],
        ),
        (
            vec![json!({"depends_on": [own], "join": {"at_least": 2}})],
            vec!["/tasks/0/join/at_least"],
        ),
        (vec![json!({"depends_on": [own]}), json!({"join": "any"})], vec!["/tasks/1/join"]),
        (vec![json!({"depends_on": [{"task": own, "on": "done"}]})], vec!["/tasks/0/depends_on/0"]),
        (vec![json!({"depends_on": [{"task": own, "at": 1}]})], vec!["/tasks/0/depends_on/0"]),
        (
            vec![json!({"depends_on": [null, true, {}]})],
            vec!["/tasks/0/depends_on/0", "/tasks/0/depends_on/1", "/tasks/0/depends_on/2"],
        ),
        (vec![json!({"depends_on": own})], vec!["/tasks/0/depends_on"]),
        (vec![json!({"depends_on": [own], "join": "some"})], vec!["/tasks/0/join"]),
        (
            vec![json!({"depends_on": [own, foreign, unknown]}), json!({})],
            vec!["/tasks/0/depends_on/1", "/tasks/0/depends_on/2"],
        ),
        (
            vec![json!({"depends_on": [own]}), json!({"name": ""}), json!({"tier": "huge"})],
            vec!["/tasks/2/tier"],
        ),
        (vec![json!({"depends_on": [own]}), json!({"name": ""})], vec!["/tasks/1/name"]),
        (
            vec![
                json!({"unique_key": "k"}),
                json!({"unique_key": "k"}),
                json!({"depends_on": [0, 1]}),
            ],
            vec!["/tasks/1/unique_key"],
        ),
    ];
    for (tasks, pointers) in cases {
        let tasks: Vec<Value> = tasks.into_iter().map(noop).collect();
        let answer = server.batch(&tasks).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "validation_failed"),
            "{tasks:?}: {answer:?}"
        );
        assert_eq!(answer.pointers(), pointers, "{tasks:?}");
        assert_eq!(server.stored().await, stored, "{tasks:?}");
    }
    let circle = [
        noop(json!({"depends_on": [2]})),
        noop(json!({"depends_on": [0]})),
        noop(json!({"depends_on": [1]})),
    ];
    let circle = server.batch(&circle).await;
    assert_eq!(
        circle.json()["errors"][0]["detail"],
        "waits for itself: /tasks/0 waits for /tasks/2 waits for /tasks/1 waits for /tasks/0"
    );
}

#[tokio::test]
async fn nobody_learns_that_another_tenant_has_such_a_task() {
    let server = Server::start().await;
    let (foreign, unknown) = (foreign(&server).await, "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071");
    let both = server.batch(&[noop(json!({"depends_on": [foreign, unknown]}))]).await;
    assert_eq!(both.pointers(), ["/tasks/0/depends_on/0", "/tasks/0/depends_on/1"]);
    let errors = &both.json()["errors"];
    assert_eq!(errors[0]["detail"], errors[1]["detail"]);
}

/// The id of a task of another tenant.
async fn foreign(server: &Server) -> Value {
    let other = server.new_tenant("other").await;
    let other = server.new_key(other, &ALL_SCOPES).await;
    let noop = noop(json!({})).to_string();
    server.post_as(&other, "/v1/tasks", &[], noop).await.json()["id"].clone()
}

#[tokio::test]
async fn single_submits_and_lines_have_their_own_rules() {
    let server = Server::start().await;
    let own = server.noop().await;
    for (more, pointer) in [
        (json!({"depends_on": [0]}), "/depends_on/0"),
        (json!({"depends_on": ["load"]}), "/depends_on/0"),
        (json!({"depends_on": [own, own]}), "/depends_on/1"),
        (json!({"depends_on": [own, "task_0190a6f3c1d27a3e8b1f0c2d4e5f6071"]}), "/depends_on/1"),
        (json!({"ref": "load"}), "/ref"),
        (json!({"join": "all"}), "/join"),
        (json!({"depends_on": vec![own.as_str(); 1001]}), "/depends_on"),
    ] {
        let answer = server.post("/v1/tasks", noop(more.clone()).to_string()).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (422, vec![pointer.to_owned()]),
            "{more}: {answer:?}"
        );
    }
    assert_eq!(tasks(&server).await, 1);
    let lines = format!("{}\n{}\n", noop(json!({"depends_on": [own]})), noop(json!({})));
    let answer = lines::post(&server, &[], lines).await;
    let first: Value = serde_json::from_str(
        String::from_utf8(answer.body.clone()).unwrap().lines().next().unwrap(),
    )
    .unwrap();
    assert_eq!(first["error"]["errors"][0]["pointer"], "/depends_on");
    assert_eq!(tasks(&server).await, 2, "the other line is stored");
}

/// The same request again is answered as the first one, and stores nothing.
#[tokio::test]
async fn a_repeated_batch_is_stored_once() {
    let server = Server::start().await;
    let body = json!({"tasks": [noop(json!({"ref": "a"})), noop(json!({"depends_on": ["a"]}))]})
        .to_string();
    let headers = [("Idempotency-Key", "graph-1")];
    let first = server.post_as(&server.key, "/v1/tasks/batch", &headers, &body).await;
    let again = server.post_as(&server.key, "/v1/tasks/batch", &headers, &body).await;
    assert_eq!((first.status, first.json()), (200, again.json()));
    assert_eq!(tasks(&server).await, 2);
}

#[tokio::test]
async fn what_the_rate_does_not_admit_whole_is_refused_whole_and_costs_nothing() {
    let server = limited(&[], (1, 4, 0)).await;
    let graph = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|place| {
                if place == 0 { noop(json!({})) } else { noop(json!({"depends_on": [place - 1]})) }
            })
            .collect()
    };
    let refused = server.batch(&graph(5)).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limited"));
    let wrong = server.batch(&[noop(json!({"depends_on": [0]}))]).await;
    assert_eq!(wrong.status, 422);
    assert_eq!(tasks(&server).await, 0);
    // Neither the refusal nor the mistake has cost a token.
    let stored = server.batch(&graph(4)).await;
    assert_eq!((stored.status, &stored.json()["accepted"]), (200, &json!(4)), "{stored:?}");
}

#[tokio::test]
async fn a_batch_has_a_hundred_thousand_edges_at_most() {
    let server = Server::start().await;
    let all: Vec<usize> = (0..1000).collect();
    let graph = |children: usize| -> Vec<Value> {
        let parents = std::iter::repeat_n(noop(json!({})), 1000);
        parents.chain(std::iter::repeat_n(noop(json!({"depends_on": all})), children)).collect()
    };
    let refused = server.batch(&graph(101)).await;
    assert_eq!((refused.status, refused.pointers()), (422, vec!["/tasks".to_owned()]));
    assert_eq!(server.stored().await, 0);
    let stored = server.batch(&graph(100)).await;
    assert_eq!((stored.status, &stored.json()["accepted"]), (200, &json!(1100)));
}
