//! Levers of one task over HTTP: every lever in every state, what is refused and why, versions, keys.

use crate::client::{Answer, request};
use crate::server::Server;
use domain::task::{Effect, Lever, Refusal, State};
use serde_json::{Value, json};

const FULL: &str = r#"{"name":"report","run":{"command":{"argv":["a"],"env":{"A":"1","B":"2"}}},"delay":"1h",
    "delay_tolerance":"7m","execution_cap":"90s","priority":-3,"max_attempts":5,"labels":{"team":"media"}}"#;

async fn submitted(server: &Server, body: &str) -> Value {
    let answer = server.post("/v1/tasks", body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

fn path(task: &Value) -> String {
    format!("/v1/tasks/{}", task["id"].as_str().unwrap())
}

async fn patch(server: &Server, task: &Value, headers: &[(&str, &str)], body: &Value) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let mut all = vec![("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    all.extend_from_slice(headers);
    request(server.addr, "PATCH", &path(task), &all, body.to_string().as_bytes()).await
}

/// A task that stands in `state`, as the roles that lead there would leave it.
async fn in_state(server: &Server, state: State) -> Value {
    let task = submitted(server, r#"{"run":{"noop":{}},"max_attempts":3}"#).await;
    let hex = task["id"].as_str().unwrap().trim_start_matches("task_").to_owned();
    let id = format!("where replace(id::text, '-', '') = '{hex}'");
    let sql = match state {
        State::Running | State::Cancelling => format!(
            "update task set state = '{state}', attempt = 1, session_id = gen_random_uuid(), assignment = 1, placed_at = now(),
                wake_at = now() + interval '1 minute' {id}"
        ),
        _ if state.is_terminal() => format!(
            "with gone as (delete from task {id} returning *)
            insert into task_history select tenant_id, id, pool, '{state}', tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                run_at, start_deadline, cap_ms, attempt, failures, max_attempts, expire_if_late, at_most_once, unique_key,
                first_started_at, now(), null, null from gone"
        ),
        State::Retrying => format!(
            "update task set state = 'retrying', attempt = 1, failures = 1, run_at = now() + interval '1 hour',
                start_deadline = now() + interval '2 hours', wake_at = now() + interval '1 hour' {id}"
        ),
        _ => format!(
            "update task set state = '{state}', run_at = now() + interval '1 hour', start_deadline = now() + interval '2 hours',
                wake_at = now() + interval '1 hour' {id}"
        ),
    };
    server.db.sql(&sql).await.unwrap();
    let task = server.get(&path(&task)).await.json();
    assert_eq!(task["state"], state.as_str());
    task
}

async fn pulled(server: &Server, task: &Value, lever: Lever) -> Answer {
    let body = match lever {
        Lever::Change => return patch(server, task, &[], &json!({"priority": 7})).await,
        Lever::MarkSucceeded => json!({"note": "loaded by hand"}).to_string(),
        Lever::Retry | Lever::Rerun | Lever::RunNow => String::new(),
    };
    server.post(&format!("{}/{}", path(task), lever.as_str()), body).await
}

#[tokio::test]
async fn every_lever_answers_in_every_state_as_the_table_says() {
    let server = Server::start().await;
    for &lever in Lever::ALL {
        for &state in State::ALL {
            let task = in_state(&server, state).await;
            let rows = server.stored().await;
            let answer = pulled(&server, &task, lever).await;
            let what = format!("{} in {state}: {answer:?}", lever.as_str());
            let after = server.get(&path(&task)).await.json();
            let effect = Effect::of(lever, state);
            let (status, wanted) = match effect {
                Ok(Effect::DueNow) => (200, "ready"),
                Ok(Effect::Succeeds) => (200, "succeeded"),
                Ok(Effect::Changes) if state == State::Queued => (200, "ready"),
                Ok(Effect::Changes | Effect::Nothing) => (200, state.as_str()),
                Ok(Effect::NewTask) => (201, state.as_str()),
                Err(_) => (409, state.as_str()),
            };
            assert_eq!((answer.status, after["state"].as_str()), (status, Some(wanted)), "{what}");
            match effect {
                Err(refusal) => {
                    assert_eq!(answer.code(), refusal.as_str(), "{what}");
                    assert_eq!(after, task, "{what}");
                }
                Ok(Effect::NewTask) => {
                    let made = answer.json();
                    assert_eq!((&made["rerun_of"], &made["state"]), (&task["id"], &json!("ready")));
                    assert_eq!(answer.header("location"), Some(path(&made).as_str()), "{what}");
                    assert_eq!(server.stored().await, rows + 2, "{what}");
                    assert_eq!(after, task, "{what}");
                }
                Ok(Effect::Nothing) => assert_eq!((&answer.json(), &after), (&task, &task)),
                Ok(Effect::DueNow | Effect::Succeeds | Effect::Changes) => {
                    assert_eq!(answer.json(), after, "{what}");
                    assert_ne!(after, task, "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    let server = Server::start().await;
    for (lever, state, refusal, advice) in [
        (Lever::Retry, State::Scheduled, Refusal::Waiting, "run-now"),
        (Lever::Retry, State::Running, Refusal::Running, "rerun"),
        (Lever::RunNow, State::Running, Refusal::Running, "already running"),
        (Lever::RunNow, State::Failed, Refusal::Ended, "retry"),
        (Lever::MarkSucceeded, State::Running, Refusal::Running, "cancel"),
        (Lever::MarkSucceeded, State::Cancelled, Refusal::Ended, "rerun"),
        (Lever::Change, State::Running, Refusal::Running, "Cancel"),
        (Lever::Change, State::Expired, Refusal::Ended, "rerun"),
    ] {
        let task = in_state(&server, state).await;
        let answer = pulled(&server, &task, lever).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, refusal.as_str()));
        let problem = answer.json();
        assert!(problem["detail"].as_str().unwrap().contains(advice), "{problem}");
        assert_eq!(problem["retryable"], false);
    }
}

#[tokio::test]
async fn a_key_answers_again_whatever_became_of_the_task() {
    let server = Server::start().await;
    let key = [("Idempotency-Key", "k")];
    let retrying = in_state(&server, State::Retrying).await;
    let retry = format!("{}/retry", path(&retrying));
    let first = server.post_with(&retry, &key, "").await;
    assert_eq!((first.status, first.json()["state"].as_str()), (200, Some("ready")));
    server.post(&format!("{}/cancel", path(&retrying)), "").await;
    let again = server.post_with(&retry, &key, "").await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));

    // Refused once, the same key works later; and then it makes one task.
    let running = in_state(&server, State::Running).await;
    let retry = format!("{}/retry", path(&running));
    assert_eq!(server.post_with(&retry, &key, "").await.code(), "task_running");
    let hex = running["id"].as_str().unwrap().trim_start_matches("task_").to_owned();
    let sql = format!(
        "update task set state = 'ready', session_id = null, assignment = null, placed_at = null, wake_at = null
            where replace(id::text, '-', '') = '{hex}'"
    );
    server.db.sql(&sql).await.unwrap();
    server.post(&format!("{}/cancel", path(&running)), "").await;
    let made = server.post_with(&retry, &key, "").await;
    assert_eq!((made.status, &made.json()["rerun_of"]), (201, &running["id"]), "{made:?}");
    let rows = server.stored().await;
    let again = server.post_with(&retry, &key, "").await;
    assert_eq!((again.status, &again.json()["id"]), (201, &made.json()["id"]));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(server.stored().await, rows);
    let other = server.post_with(&retry, &key, "{}").await;
    assert_eq!(other.code(), "idempotency_key_reuse");

    let later = submitted(&server, FULL).await;
    let mark = format!("{}/mark-succeeded", path(&later));
    let first = server.post_with(&mark, &key, r#"{"note":"a"}"#).await;
    let again = server.post_with(&mark, &key, r#"{"note":"a"}"#).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(first.json()["reason"], "marked as succeeded: a");
    let other = server.post_with(&mark, &key, r#"{"note":"b"}"#).await;
    assert_eq!(other.code(), "idempotency_key_reuse");
}

#[tokio::test]
async fn a_note_is_needed_and_short() {
    let server = Server::start().await;
    let task = submitted(&server, FULL).await;
    let mark = format!("{}/mark-succeeded", path(&task));
    for (body, pointers) in [
        ("{}".to_owned(), vec!["/note"]),
        (r#"{"note":""}"#.to_owned(), vec!["/note"]),
        (json!({"note": "x".repeat(501)}).to_string(), vec!["/note"]),
        (r#"{"note":1}"#.to_owned(), vec!["/note"]),
        (r#"{"note":"a","state":"succeeded"}"#.to_owned(), vec!["/state"]),
    ] {
        let answer = server.post(&mark, &body).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (422, pointers.iter().map(|p| (*p).to_owned()).collect()),
            "{body}: {answer:?}"
        );
    }
    let marked = server.post(&mark, json!({"note": "ä".repeat(500)}).to_string()).await;
    assert_eq!((marked.status, &marked.json()["state"]), (200, &json!("succeeded")));
    assert!(!marked.json()["finished_at"].is_null());
}

#[tokio::test]
async fn a_change_merges_what_it_names_and_counts_versions() {
    let server = Server::start().await;
    let task = submitted(&server, FULL).await;
    assert_eq!(task["version"], 1);
    let got = server.get(&path(&task)).await;
    assert_eq!(got.header("etag"), Some("\"1\""));
    let change = json!({"run_at": "2033-01-01T00:00:00Z", "delay_tolerance": "2m", "execution_cap": "3m", "priority": 4,
        "max_attempts": 2, "labels": {"team": null, "run": "2"}, "run": {"command": {"env": {"A": "3", "B": null}}}});
    let changed = patch(&server, &task, &[("If-Match", "\"1\"")], &change).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")), "{changed:?}");
    let mut wanted = task.clone();
    for (field, value) in [
        ("run_at", json!("2033-01-01T00:00:00Z")),
        ("due_at", json!("2033-01-01T00:00:00Z")),
        ("start_deadline", json!("2033-01-01T00:02:00Z")),
        ("delay_tolerance", json!("2m")),
        ("execution_cap", json!("3m")),
        ("priority", json!(4)),
        ("max_attempts", json!(2)),
        ("labels", json!({"run": "2"})),
        ("run", json!({"command": {"argv": ["a"], "env": {"A": "3"}}})),
        ("version", json!(2)),
    ] {
        wanted[field] = value;
    }
    wanted.as_object_mut().unwrap().remove("warnings");
    assert_eq!(changed.json(), wanted);
    assert_eq!(server.get(&path(&task)).await.json(), wanted);
    assert_eq!(server.get("/v1/tasks?label=run%3D2").await.json()["data"][0]["version"], 2);
    // What changes nothing is no version, and a stale one changes nothing.
    for (headers, body, status) in [
        (vec![], &change, 200),
        (vec![("If-Match", "\"2\"")], &json!({}), 200),
        (vec![("If-Match", "\"1\"")], &json!({"priority": 1}), 412),
        (vec![("If-Match", "\"7\"")], &json!({}), 412),
        (vec![("If-Match", "x")], &json!({"priority": 1}), 400),
    ] {
        let answer = patch(&server, &task, &headers, body).await;
        assert_eq!(answer.status, status, "{headers:?} {answer:?}");
        assert_eq!(server.get(&path(&task)).await.json(), wanted);
    }
    let stale = patch(&server, &task, &[("If-Match", "\"1\"")], &json!({"priority": 1})).await;
    assert_eq!(stale.code(), "version_mismatch");
    // Null is the default; what was due is postponed, and due again.
    let usual = patch(&server, &task, &[], &json!({"priority": null, "labels": null})).await.json();
    assert_eq!((&usual["priority"], &usual["labels"]), (&json!(0), &json!({})));
    let due = patch(&server, &task, &[], &json!({"delay": "0s"})).await.json();
    assert_eq!((&due["state"], &due["version"]), (&json!("ready"), &json!(4)));
    let later = patch(&server, &task, &[], &json!({"delay": "2h"})).await.json();
    assert_eq!((&later["state"], &later["version"]), (&json!("scheduled"), &json!(5)));
}

#[tokio::test]
async fn a_mistake_in_a_change_is_pointed_at_and_changes_nothing() {
    let server = Server::start().await;
    let task = submitted(&server, FULL).await;
    let kept = server.get(&path(&task)).await.json();
    for (change, pointers) in [
        (json!({"name": "x", "tier": "premium"}), vec!["/name", "/tier"]),
        (json!({"state": "succeeded"}), vec!["/state"]),
        (json!({"priority": 11, "max_attempts": 0}), vec!["/max_attempts", "/priority"]),
        (json!({"run_at": null}), vec!["/run_at"]),
        (json!({"delay": "1h", "run_at": "2033-01-01T00:00:00Z"}), vec!["/run_at"]),
        (json!({"run": {"command": {"argv": ["b"]}}}), vec!["/run/command/argv"]),
        (json!({"run": {"noop": {}}}), vec!["/run/noop"]),
        (json!({"run": null}), vec!["/run"]),
        (json!({"run": {"command": {"env": {"A=": "1"}}}}), vec!["/run/command/env/A="]),
        (json!({"labels": {"a b": "1"}}), vec!["/labels/a b"]),
        (json!([]), vec![""]),
    ] {
        let answer = patch(&server, &task, &[], &change).await;
        let mut found = answer.pointers();
        found.sort_unstable();
        assert_eq!(
            (answer.status, found),
            (422, pointers.iter().map(|p| (*p).to_owned()).collect()),
            "{change}: {answer:?}"
        );
    }
    let noop = submitted(&server, r#"{"run":{"noop":{}},"delay":"1h"}"#).await;
    let env = json!({"run": {"command": {"env": {"A": "1"}}}});
    assert_eq!(patch(&server, &noop, &[], &env).await.pointers(), ["/run/command"]);
    let failed = in_state(&server, State::Retrying).await;
    let few = patch(&server, &failed, &[], &json!({"max_attempts": 1})).await;
    assert_eq!(few.pointers(), ["/max_attempts"]);
    assert_eq!(server.get(&path(&task)).await.json(), kept);
}

#[tokio::test]
async fn changes_at_once_are_all_made_unless_they_name_a_version() {
    let server = Server::start().await;
    let task = submitted(&server, FULL).await;
    let labels = ["a", "b", "c"].map(|key| json!({"labels": {key: "1"}}));
    let (one, two, three) = tokio::join!(
        patch(&server, &task, &[], &labels[0]),
        patch(&server, &task, &[], &labels[1]),
        patch(&server, &task, &[], &labels[2])
    );
    for answer in [one, two, three] {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let after = server.get(&path(&task)).await.json();
    assert_eq!(after["labels"], json!({"team": "media", "a": "1", "b": "1", "c": "1"}));
    assert_eq!(after["version"], 4);
    let fourth = [("If-Match", "\"4\"")];
    let same = patch(&server, &task, &fourth, &labels[0]).await;
    assert_eq!((same.status, same.header("etag")), (200, Some("\"4\"")), "it is so already");
    let (up, down) = (json!({"priority": 1}), json!({"priority": 2}));
    let (one, two) =
        tokio::join!(patch(&server, &task, &fourth, &up), patch(&server, &task, &fourth, &down));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412]);
}

#[tokio::test]
async fn a_repeated_submit_shows_the_task_as_it_was_submitted() {
    let server = Server::start().await;
    let key = [("Idempotency-Key", "k")];
    let first = server.post_with("/v1/tasks", &key, FULL).await;
    let change = json!({"delay": "3h", "delay_tolerance": "1m", "priority": 1, "execution_cap": "1m", "max_attempts": 9,
        "labels": {"team": "other"}, "run": {"command": {"env": {"A": "9"}}}});
    assert_eq!(patch(&server, &first.json(), &[], &change).await.json()["version"], 2);
    let again = server.post_with("/v1/tasks", &key, FULL).await;
    assert_eq!((again.status, again.json()), (201, first.json()));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
}
