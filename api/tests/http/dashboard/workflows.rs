//! Workflows: definitions that are compared and stored, the critical path of a run, and levers on its nodes.

use super::browser::{Browser, location, text};
use crate::server::{Server, WORKFLOW, config};
use serde_json::{Value, json};
use store::connect::SchedulerDb;
use store::workflow::gate::open_gates;

#[tokio::test]
async fn a_definition_is_compared_before_it_is_stored_and_never_over_another() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let made = browser
        .post("/workflows/new", "/workflows/new", &[("name", "load"), ("text", WORKFLOW)])
        .await;
    assert_eq!(location(&made), "/workflows/definitions/load?done=stored", "{}", text(&made));
    let (page, edit) = ("/workflows/definitions/load", "/workflows/definitions/load/edit");
    let text_of = WORKFLOW.replace("\"b\"", "\"c\"");
    let compare = [("version", "1"), ("text", text_of.as_str()), ("compare", "yes")];
    let compared = browser.post(edit, edit, &compare).await;
    let html = text(&compared);
    assert!(compared.status == 200 && html.contains("From version 1 to yours"), "{html}");
    assert!(
        html.contains("removed: ") && html.contains("added: ") && html.contains("&#34;c&#34;"),
        "{html}"
    );
    assert_eq!(
        server.get("/v1/workflows/load").await.json()["version"],
        1,
        "a comparison stores nothing"
    );
    let stored = browser.post(edit, edit, &compare[..2]).await;
    assert_eq!(location(&stored), format!("{page}?done=stored"), "{}", text(&stored));
    let late = browser.post(edit, edit, &[("version", "1"), ("text", WORKFLOW)]).await;
    assert_eq!(late.status, 412, "{}", text(&late));
    assert!(text(&late).contains("somebody else stored another version"), "{}", text(&late));
    assert!(text(&late).contains(r#"name="version" value="2""#), "the next is over that one");
    for (wrong, part) in [
        ("{", "not JSON"),
        (r#"{"nodes":{"a":{"after":["x"],"task":{"run":{"noop":{}}}}}}"#, "/nodes/a/after/0"),
    ] {
        let refused = browser.post(edit, edit, &[("version", "2"), ("text", wrong)]).await;
        assert_eq!(refused.status, 422);
        assert!(text(&refused).contains(part), "{}", text(&refused));
    }
    let taken = browser
        .post("/workflows/new", "/workflows/new", &[("name", "load"), ("text", WORKFLOW)])
        .await;
    assert!(taken.status == 412 && text(&taken).contains("There is a workflow of this name"));

    // A run of each version is counted at it.
    let run = format!("{page}/do/run");
    let started = browser.post(&run, &run, &[("json", "{\"a\": 1}"), ("once", "k")]).await;
    assert!(location(&started).starts_with("/workflows/runs/run_"), "{}", text(&started));
    let again = browser.post(&run, &run, &[("json", "{\"a\": 1}"), ("once", "k")]).await;
    assert_eq!(location(&again), location(&started), "a form that is sent twice starts one");
    assert_eq!(browser.post(&run, &run, &[("json", "{")]).await.status, 422);
    server.db.sql("update workflow_run set version = 1").await.unwrap();
    let shown = browser.page(page).await;
    assert!(
        shown.contains("stored now") && shown.matches("<th scope=\"row\">").count() == 2,
        "{shown}"
    );
    let deleted = browser.post(page, &format!("{page}/do/delete"), &[]).await;
    assert_eq!(location(&deleted), "/workflows?done=deleted");
}

/// A run whose gates were opened once.
async fn started(server: &Server, definition: Value) -> String {
    let body = json!({"definition": definition}).to_string();
    let made = server.post("/v1/workflow-runs", body).await;
    assert_eq!(made.status, 201, "{made:?}");
    let scheduler = SchedulerDb::connect(&config(&server.db, &[]).database).unwrap();
    open_gates(&scheduler, 100).await.unwrap();
    made.json()["id"].as_str().unwrap().to_owned()
}

async fn state(server: &Server, run: &str, node: &str) -> Value {
    let graph = server.get(&format!("/v1/workflow-runs/{run}/graph")).await.json();
    let nodes = graph["nodes"].as_array().unwrap().clone();
    nodes.into_iter().find(|found| found["name"] == node).unwrap()["state"].clone()
}

#[tokio::test]
async fn nodes_that_wait_are_decided_and_signalled_by_those_who_may() {
    let server = Server::start().await;
    let definition = json!({"nodes": {
        "yes": {"wait": {"approval": true}}, "no": {"wait": {"approval": true}},
        "paid": {"wait": {"signal": "order/17 <b>"}}, "work": {"task": {"run": {"noop": {}}}}
    }});
    let run = started(&server, definition).await;
    let path = format!("/workflows/runs/{run}");
    let mut owner = Browser::with_key(&server, &server.key).await;
    let page = owner.page(&path).await;
    for part in [
        "nodes/yes/do/approve",
        "nodes/no/do/reject",
        "nodes/paid/do/signal",
        "waits for the signal order/17 &#60;b&#62;",
        "<title>yes: waiting for approval",
        "<title>paid: waiting for a signal",
        "<span class=\"mark warn\">waiting for approval</span>",
        "Critical path",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("nodes/work/do/"), "a run that goes on is not run again: {page}");

    let submitter = server.new_key(server.tenant, &["read", "submit"]).await;
    let mut submitter = Browser::with_key(&server, &submitter).await;
    let page = submitter.page(&path).await;
    assert!(!page.contains("/do/approve") && page.contains("nodes/paid/do/signal"), "{page}");
    let approve = format!("{path}/nodes/yes/do/approve");
    assert_eq!(submitter.get(&approve).await.status, 403);
    assert_eq!(submitter.post("/", &approve, &[]).await.status, 403);
    assert_eq!(state(&server, &run, "yes").await, "scheduled");

    let done = owner.post(&approve, &approve, &[("note", "known")]).await;
    assert_eq!(location(&done), format!("{path}?done=approved"), "{}", text(&done));
    let reject = format!("{path}/nodes/no/do/reject");
    assert_eq!(location(&owner.post(&reject, &reject, &[]).await), format!("{path}?done=rejected"));
    let signal = format!("{path}/nodes/paid/do/signal");
    assert!(owner.page(&signal).await.contains("Key of the signal: order/17 &#60;b&#62;."));
    assert_eq!(owner.post(&signal, &signal, &[("json", "{")]).await.status, 422);
    let sent = owner.post(&signal, &signal, &[("json", "{\"amount\": 12}"), ("keep", "1h")]).await;
    assert_eq!(location(&sent), format!("{path}?done=signalled"), "{}", text(&sent));
    assert_eq!(
        (
            state(&server, &run, "yes").await,
            state(&server, &run, "no").await,
            state(&server, &run, "paid").await
        ),
        (json!("succeeded"), json!("aborted"), json!("succeeded"))
    );
    let late = owner.post(&path, &approve, &[]).await;
    assert_eq!(late.status, 422, "it is told that the node does not wait: {}", text(&late));
    assert_eq!(owner.get(&format!("{path}/nodes/none/do/approve")).await.status, 404);
    let cancelled = owner.post(&path, &format!("{path}/do/cancel"), &[]).await;
    assert_eq!(location(&cancelled), format!("{path}?done=run-cancelled"), "{}", text(&cancelled));
}

#[tokio::test]
async fn a_run_says_how_its_tasks_ended_and_a_waiting_one_is_not_offered_to_be_run_now() {
    let server = Server::start().await;
    let run = server.ended_run().await;
    let path = format!("/workflows/runs/{run}");
    let mut browser = Browser::with_key(&server, &server.key).await;
    assert!(browser.page(&path).await.contains("tasks ended, 2 failed"));
    server.db.sql("update task_history set state = 'cancelled' where attempt = 1 and id = (select min(id::text)::uuid from task_history)")
        .await
        .unwrap();
    let page = browser.page(&path).await;
    assert!(page.contains("tasks ended, 1 failed, 1 cancelled"), "{page}");
    server.db.sql("update task_history set state = 'cancelled'; update workflow_run set state = 'cancelled'").await.unwrap();
    let page = browser.page(&path).await;
    assert!(page.contains("tasks ended, 2 cancelled") && !page.contains("failed"), "{page}");

    let waiting = server.waiting().await;
    let page = browser.page(&format!("/tasks/{waiting}")).await;
    assert!(page.contains("waiting for approval") && page.contains("/do/approve"), "{page}");
    assert!(!page.contains("/do/run-now"), "the API refuses it: {page}");
    let refused = server.post(&format!("/v1/tasks/{waiting}/run-now"), "").await;
    assert_eq!(refused.code(), "task_waiting");
}

#[tokio::test]
async fn a_run_that_ended_is_run_again_from_a_node_and_its_path_is_said() {
    let server = Server::start().await;
    let run = server.ended_run().await;
    let hex = run.trim_start_matches("run_");
    let sql = format!(
        "update task_history h set first_started_at = r.created_at + interval '2 s', finished_at = r.created_at + interval '5 s'
        from workflow_run r where r.id = '{hex}'"
    );
    server.db.sql(&sql).await.unwrap();
    let mut browser = Browser::with_key(&server, &server.key).await;
    let path = format!("/workflows/runs/{run}");
    let page = browser.page(&path).await;
    assert!(
        page.contains("waited 2.0 s, ran 3.0 s") && page.contains("on the critical path"),
        "{page}"
    );
    assert!(page.contains("class=\"node bad path\""), "{page}");
    let rerun = format!("{path}/nodes/a/do/rerun");
    assert!(browser.page(&rerun).await.contains("and everything below it"));
    let again = browser.post(&rerun, &rerun, &[("below", "yes"), ("once", "r")]).await;
    let to = location(&again).to_owned();
    assert!(to.starts_with("/workflows/runs/run_") && !to.contains(&run), "{}", text(&again));
    let page = browser.page(&to).await;
    assert!(page.contains("A new run was started.") && page.contains(&run), "{page}");
}

#[tokio::test]
async fn versions_that_were_replaced_are_kept_listed_and_compared() {
    let server = Server::start().await;
    let put = async |text: &str| server.put_as(&server.key, "/v1/workflows/load", &[], text).await;
    let second = WORKFLOW.replace("\"b\"", "\"<c>\"").replace("<c>", "c");
    for text in [WORKFLOW, &second, &second, WORKFLOW] {
        assert!(put(text).await.status < 300);
    }
    let all = server.get("/v1/workflows/load/versions?limit=2").await.json();
    let numbers = |page: &Value| -> Vec<i64> {
        let all = page["data"].as_array().unwrap().iter();
        all.map(|one| one["version"].as_i64().unwrap()).collect()
    };
    assert_eq!(numbers(&all), [3, 2], "the same again is no version");
    assert!(all["data"][0].get("definition").is_none() && all["data"][0]["stored_by"].is_string());
    let next = all["next_cursor"].as_str().unwrap();
    let rest =
        server.get(&format!("/v1/workflows/load/versions?limit=2&cursor={next}")).await.json();
    assert_eq!((numbers(&rest), &rest["next_cursor"]), (vec![1], &Value::Null));
    let one =
        async |number: &str| server.get(&format!("/v1/workflows/load/versions/{number}")).await;
    let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(one("2").await.json()["definition"], of(&second));
    assert_eq!(one("3").await.json()["definition"], of(WORKFLOW));
    assert_eq!((one("4").await.status, one("0").await.code().as_str()), (404, "invalid_parameter"));
    assert_eq!(server.get("/v1/workflows/none/versions").await.status, 404);

    let mut browser = Browser::with_key(&server, &server.key).await;
    let path = "/workflows/definitions/load/versions";
    assert!(
        browser.page("/workflows/definitions/load").await.contains(&format!("href=\"{path}\""))
    );
    let page = browser.page(path).await;
    assert_eq!(page.matches("<th scope=\"row\">").count(), 3, "{page}");
    assert!(page.contains("?from=1&#38;to=2") && page.contains("stored now"), "{page}");
    let page = browser.page(&format!("{path}?from=1&to=2")).await;
    assert!(page.contains("From version 1 to version 2") && page.contains("added: "), "{page}");
    assert!(browser.page(&format!("{path}?from=1&to=3")).await.contains("Nothing differs."));
    assert!(browser.page(&format!("{path}?version=2")).await.contains("Definition, version 2"));
    for wrong in ["from=1&to=9", "from=x&to=1", "version=0"] {
        let answer = browser.get(&format!("{path}?{wrong}")).await;
        assert_eq!(answer.status, 404, "{wrong}: {}", text(&answer));
    }
    let here = "/workflows/definitions/load";
    let gone = browser.post(here, &format!("{here}/do/delete"), &[]).await;
    assert_eq!(location(&gone), "/workflows?done=deleted");
    assert_eq!(server.get("/v1/workflows/load/versions").await.status, 404);
    // As a process of a release before leaves it.
    let left = format!(
        "insert into workflow_version (tenant_id, name, version, definition, nodes, stored_at, stored_by)
            values ('{}', 'load', 1, '{{}}', 1, now(), '')",
        server.tenant.uuid()
    );
    server.db.sql(&left).await.unwrap();
    assert_eq!(put(WORKFLOW).await.status, 201);
    let again = server.get("/v1/workflows/load/versions").await.json();
    assert_eq!(numbers(&again), [1], "one of the same name begins again");
    assert_eq!(put(&WORKFLOW.replace("\"b\"", "\"c\"")).await.status, 200);
}

#[tokio::test]
async fn of_many_versions_the_latest_are_kept() {
    let server = Server::start().await;
    for number in 0..104 {
        let text = WORKFLOW.replace("\"b\"", &format!("\"b{number}\""));
        let stored = server.put_as(&server.key, "/v1/workflows/load", &[], &text).await;
        assert!(stored.status < 300, "{stored:?}");
    }
    let all = server.get("/v1/workflows/load/versions?limit=200").await.json();
    assert_eq!(all["data"].as_array().unwrap().len(), 101);
    assert_eq!(server.get("/v1/workflows/load/versions/3").await.status, 404);
    assert_eq!(server.get("/v1/workflows/load/versions/4").await.status, 200);
}

#[tokio::test]
async fn runs_are_filtered_by_when_they_were_started() {
    let server = Server::start().await;
    let (old, new) = (server.run().await, server.run().await);
    let hex = old.trim_start_matches("run_");
    let sql = format!(
        "update workflow_run set created_at = now() - interval '3 hours' where id = '{hex}'"
    );
    server.db.sql(&sql).await.unwrap();
    let hour = chrono::TimeDelta::hours(1);
    let then = (runtime::clock::wall() - hour).to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let listed = async |query: String| -> Vec<String> {
        let page = server.get(&format!("/v1/workflow-runs?{query}")).await.json();
        let all = page["data"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
        all.map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(listed(format!("created_from={then}")).await, [new.as_str()]);
    assert_eq!(listed(format!("created_before={then}")).await, [old.as_str()]);
    assert_eq!(listed(format!("created_from={then}&created_before={then}")).await.len(), 0);
    assert_eq!(server.get("/v1/workflow-runs?created_from=soon").await.code(), "invalid_parameter");
    let page = server.get("/v1/workflow-runs?limit=1").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let other = server.get(&format!("/v1/workflow-runs?created_from={then}&cursor={cursor}")).await;
    assert_eq!(other.code(), "invalid_cursor", "a cursor belongs to its filters");

    let mut browser = Browser::with_key(&server, &server.key).await;
    let local = then.trim_end_matches('Z');
    let page = browser.page(&format!("/workflows/runs?created_from={local}")).await;
    assert!(page.contains(&new) && !page.contains(&old), "{page}");
    assert!(page.contains(&format!("value=\"{local}\"")), "the form keeps it: {page}");
    let page = browser.page("/workflows/runs?state=failed").await;
    assert!(page.contains("<option value=\"failed\" selected>"), "{page}");
}
