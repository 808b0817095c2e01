//! Schedules: edited with their version, a calendar with changes of the clocks, levers.

use super::browser::{Browser, location, text};
use crate::server::Server;
use serde_json::{Value, json};

async fn put(server: &Server, name: &str, schedule: &Value) {
    let made = server
        .put_as(&server.key, &format!("/v1/schedules/{name}"), &[], schedule.to_string())
        .await;
    assert!(made.status < 300, "{made:?}");
}

/// A schedule with more than the form has fields for.
fn nightly() -> Value {
    json!({
        "timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "Europe/Berlin", "jitter": "5s"},
        "task": {"run": {"command": {"argv": ["bash", "-c", "echo one"], "env": {"A": "1"}}}, "labels": {"team": "a"}},
        "misfire": "skip"
    })
}

const FIELDS: [(&str, &str); 4] = [
    ("cron", "45 3 * * *"),
    ("zone", "Europe/Berlin"),
    ("command", "echo two"),
    ("max_attempts", "2"),
];

#[tokio::test]
async fn an_edit_keeps_what_the_form_does_not_have_and_never_overwrites_another() {
    let server = Server::start().await;
    put(&server, "nightly", &nightly()).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let edit = "/schedules/nightly/edit";
    let form = browser.page(edit).await;
    for part in [r#"value="30 2 * * *""#, r#"name="version" value="1""#, "echo one"] {
        assert!(form.contains(part), "{part}: {form}");
    }
    let fields = [&[("version", "1")][..], &FIELDS].concat();
    // A preview stores nothing.
    let preview = [&fields[..], &[("preview", "yes")]].concat();
    let shown = browser.post(edit, edit, &preview).await;
    let html = text(&shown);
    assert_eq!(shown.status, 200, "{html}");
    assert!(html.contains("T03:45:00+") && html.contains("Next due times"), "{html}");
    assert!(
        html.contains(">nightly</a> / edit")
            && html.contains("it costs nothing in 2")
            && html.contains(" fires."),
        "{html}"
    );
    assert_eq!(server.get("/v1/schedules/nightly").await.json()["version"], 1);

    let stored = browser.post(edit, edit, &fields).await;
    assert_eq!(
        (stored.status, location(&stored)),
        (303, "/schedules/nightly?done=stored"),
        "{}",
        text(&stored)
    );
    let now = server.get("/v1/schedules/nightly").await.json();
    assert_eq!((&now["version"], &now["timing"]["jitter"]), (&json!(2), &json!("5s")));
    assert_eq!(now["timing"]["specs"], json!([{"cron": "45 3 * * *"}]));
    assert_eq!(
        now["task"]["run"]["command"],
        json!({"argv": ["bash", "-c", "echo two"], "env": {"A": "1"}})
    );
    assert_eq!((&now["task"]["labels"], &now["misfire"]), (&json!({"team": "a"}), &json!("skip")));

    // The same form again is of a version that is gone.
    let late = [&[("version", "1"), ("every", "6h")][..], &FIELDS].concat();
    let refused = browser.post(edit, edit, &late).await;
    let html = text(&refused);
    assert_eq!(refused.status, 412, "{html}");
    assert!(
        html.contains("somebody else stored another version") && html.contains("removed: "),
        "{html}"
    );
    assert_eq!(server.get("/v1/schedules/nightly").await.json(), now, "nothing was changed");
    // From that page it is over what is stored now.
    assert!(html.contains(r#"name="version" value="2""#), "{html}");
    let again = [&[("version", "2"), ("every", "6h")][..], &FIELDS].concat();
    assert_eq!(browser.post(edit, edit, &again).await.status, 303);
}

#[tokio::test]
async fn a_document_is_edited_whole_and_what_is_wrong_is_told() {
    let server = Server::start().await;
    let mut whole = nightly();
    whole["timing"]["specs"] = json!([{"daily": {"at": ["09:00"]}}, {"cron": "@weekly"}]);
    put(&server, "many", &whole).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let edit = "/schedules/many/edit";
    let page = browser.page(edit).await;
    assert!(
        !page.contains("id=\"cron\"") && page.contains("There are no fields for this"),
        "{page}"
    );
    assert!(browser.page("/schedules/many/edit?as=document").await.contains("&#34;daily&#34;"));
    let send = |document: String| {
        vec![
            ("version".to_owned(), "1".to_owned()),
            ("as".to_owned(), "document".to_owned()),
            ("document".to_owned(), document),
        ]
    };
    whole["timing"]["specs"] = json!([{"cron": "nonsense"}]);
    for (document, part) in [
        ("{".to_owned(), "not JSON"),
        (whole.to_string(), "/timing/specs/0/cron"),
        (String::new(), "not JSON"),
    ] {
        let fields = send(document);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = browser.post(edit, edit, &fields).await;
        assert_eq!(answer.status, 422, "{}", text(&answer));
        assert!(text(&answer).contains(part), "{}", text(&answer));
    }
    whole["timing"]["specs"] = json!([{"cron": "@daily"}]);
    let fields = send(whole.to_string());
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post(edit, edit, &fields).await.status, 303);
    // A new one that exists is told so.
    let new = [("name", "many"), ("cron", "@daily"), ("command", "true")];
    let taken = browser.post("/schedules/new", "/schedules/new", &new).await;
    assert_eq!(taken.status, 412);
    assert!(text(&taken).contains("There is a schedule of this name"), "{}", text(&taken));
}

#[tokio::test]
async fn the_calendar_marks_the_days_on_which_the_clocks_change() {
    let server = Server::start().await;
    let daily = json!({"timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "Europe/Berlin"}, "task": {"run": {"noop": {}}}});
    put(&server, "daily", &daily).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let page = browser.page("/schedules/daily?month=2031-03").await;
    for part in [
        "Due in March 2031",
        "31 due times to come in this month.",
        "clocks +1 h",
        "On 2031-03-30 the clocks go from UTC+01:00 to UTC+02:00.",
        "times of Europe/Berlin",
        "month=2031-04#calendar",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        browser
            .page("/schedules/daily?month=2031-05")
            .await
            .contains("31 due times to come in this month.")
    );
    // A month that is none is the one of the next due time.
    assert!(browser.page("/schedules/daily?month=x").await.contains("Due in "));
}

#[tokio::test]
async fn past_due_times_are_a_map_with_a_legend_and_levers_work() {
    let server = Server::start().await;
    let name = server.schedule().await;
    let tenant = server.tenant.uuid();
    let sql = format!(
        "insert into schedule_fire (schedule_id, tenant_id, due_at, outcome, kind, fired_at, version, task_id)
        select s.id, '{tenant}', now() - n * interval '1 hour', case when n = 2 then 'skipped_overlap' when n = 3 then 'shed_quota'
            else 'late' end, 'scheduled', now(), 1, case when n in (2, 3) then null else gen_random_uuid() end
        from schedule s cross join generate_series(1, 15) n where s.name = '{name}'"
    );
    server.db.sql(&sql).await.unwrap();
    let mut browser = Browser::with_key(&server, &server.key).await;
    let path = format!("/schedules/{name}");
    let page = browser.page(&path).await;
    for part in [
        "made its task or run: 13",
        "skipped as its policy says, or paused: 1",
        "made nothing, though it was to: 1",
        "The 3 before these",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("aria-label=\"15 due times, from "), "{page}");

    let paused = browser.post(&path, &format!("{path}/do/pause"), &[("reason", "moving")]).await;
    assert_eq!(location(&paused), format!("{path}?done=paused"));
    assert!(browser.page(&path).await.contains("moving"));
    // First what it would do, then it.
    let backfill = format!("{path}/do/backfill");
    let range = [("from", "2026-01-01T00:00"), ("to", "2026-02-01T00:00"), ("per_second", "2")];
    let plan = browser.post(&backfill, &backfill, &range).await;
    assert!(text(&plan).contains("Nothing would fire"), "{}", text(&plan));
    let wrong = [("from", "2026-01-01T00:00"), ("to", "2026-02-01T00:00"), ("per_second", "fast")];
    assert_eq!(browser.post(&backfill, &backfill, &wrong).await.status, 422);
    let resumed = browser.post(&path, &format!("{path}/do/resume"), &[]).await;
    assert_eq!(location(&resumed), format!("{path}?done=resumed"));
    let deleted = browser.post(&path, &format!("{path}/do/delete"), &[]).await;
    assert_eq!(location(&deleted), "/schedules?done=deleted");
    assert_eq!(browser.get(&path).await.status, 404);
}
