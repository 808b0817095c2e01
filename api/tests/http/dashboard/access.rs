//! Levers: not for viewers, not without the token of a form, and names that are never markup.

use super::browser::{Browser, EVIL, OWN, text};
use super::webhooks::delivery;
use crate::server::Server;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Things of a tenant, and the pages that change them.
async fn levers(server: &Server) -> Vec<String> {
    let (schedule, workflow) = (server.schedule().await, server.workflow().await);
    let (run, key, user) = (server.run().await, server.key_id().await, server.user_id().await);
    let cap = server.filled("/v1/spend-caps/{name}").await;
    let cap = cap.rsplit('/').next().unwrap();
    let delivery = delivery(server, "ops").await;
    vec![
        "/schedules/new".to_owned(),
        format!("/schedules/{schedule}/edit"),
        format!("/schedules/{schedule}/do/pause"),
        format!("/schedules/{schedule}/do/delete"),
        format!("/schedules/{schedule}/do/backfill"),
        "/workflows/new".to_owned(),
        format!("/workflows/definitions/{workflow}/edit"),
        format!("/workflows/definitions/{workflow}/do/run"),
        format!("/workflows/definitions/{workflow}/do/delete"),
        format!("/workflows/runs/{run}/do/cancel"),
        format!("/workflows/runs/{run}/nodes/a/do/rerun"),
        format!("/workflows/runs/{run}/nodes/a/do/signal"),
        format!("/workflows/runs/{run}/nodes/a/do/approve"),
        "/account/keys/new".to_owned(),
        format!("/account/keys/{key}/rotate"),
        format!("/account/keys/{key}/revoke"),
        "/account/users/new".to_owned(),
        format!("/account/users/{user}"),
        format!("/account/users/{user}/remove"),
        "/costs/caps/new".to_owned(),
        format!("/costs/caps/{cap}"),
        format!("/costs/caps/{cap}/delete"),
        "/webhooks/new".to_owned(),
        "/webhooks/ops/edit".to_owned(),
        "/webhooks/ops/do/test".to_owned(),
        "/webhooks/ops/do/rotate".to_owned(),
        "/webhooks/ops/do/resume".to_owned(),
        "/webhooks/ops/do/replay".to_owned(),
        "/webhooks/ops/do/delete".to_owned(),
        format!("/webhooks/ops/deliveries/{delivery}/replay"),
    ]
}

/// What could have been changed.
async fn everything(server: &Server) -> Vec<String> {
    let mut all = Vec::new();
    for path in [
        "/v1/schedules",
        "/v1/workflows",
        "/v1/workflow-runs",
        "/v1/keys",
        "/v1/users",
        "/v1/spend-caps",
        "/v1/webhooks",
        "/v1/webhooks/ops/deliveries",
    ] {
        let text = text(&server.get(path).await);
        // The key that asks was used a moment ago.
        all.push(text.split("\"last_used_at\"").next().unwrap().to_owned());
    }
    all
}

#[tokio::test]
async fn a_viewer_sees_no_lever_of_anything_and_pulls_none() {
    let server = Server::start().await;
    let levers = levers(&server).await;
    let before = everything(&server).await;
    let reader = server.new_key(server.tenant, &["read"]).await;
    let mut browser = Browser::with_key(&server, &reader).await;
    let name = |path: &str| path.split('/').nth(2).unwrap().to_owned();
    let run = levers.iter().find(|path| path.starts_with("/workflows/runs/")).unwrap();
    let workflow = levers.iter().find(|path| path.starts_with("/workflows/definitions/")).unwrap();
    let pages = [
        "/schedules".to_owned(),
        format!("/schedules/{}", name(&levers[1])),
        "/workflows".to_owned(),
        workflow.rsplit_once('/').unwrap().0.to_owned(),
        run.rsplit_once("/do/").unwrap().0.to_owned(),
        "/costs".to_owned(),
        "/account".to_owned(),
    ];
    for path in pages {
        let page = browser.page(&path).await;
        for lever in ["/do/", "/edit\"", "/new\"", "/delete\"", "/rotate", "/remove"] {
            assert!(!page.contains(lever), "{path}: {lever}");
        }
    }
    for path in &levers {
        assert_eq!(browser.get(path).await.status, 403, "{path}");
        let answer =
            browser.post("/", path, &[("sure", "yes"), ("version", "1"), ("role", "admin")]).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    let after = everything(&server).await;
    // Its own key is there now.
    assert_eq!([&before[..3], &before[4..]].concat(), [&after[..3], &after[4..]].concat());
}

#[tokio::test]
async fn no_lever_works_without_the_token_of_a_form() {
    let server = Server::start().await;
    let levers = levers(&server).await;
    let before = everything(&server).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    for path in &levers {
        for fields in [
            &[][..],
            &[("csrf", "")][..],
            &[("csrf", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")][..],
        ] {
            let answer = browser.post_with(path, fields, &OWN).await;
            assert_eq!(answer.status, 403, "{path}: {}", text(&answer));
        }
    }
    assert_eq!(before, everything(&server).await);
}

/// Things with markup in all that people choose: two runs, a user, and a delivery.
async fn evil(server: &Server) -> [String; 4] {
    let labels = serde_json::json!({"team": EVIL});
    let task = serde_json::json!({"name": EVIL, "run": {"command": {"argv": ["bash", "-c", EVIL], "env": {"A": EVIL}}}, "labels": labels});
    let schedule = serde_json::json!({"timing": {"specs": [{"cron": "@daily"}]}, "task": task, "paused": true});
    let workflow = serde_json::json!({"labels": labels, "description": EVIL,
        "nodes": {"w": {"wait": {"signal": EVIL}}, "a": {"after": ["w"], "task": {"run": {"command": {"argv": [EVIL]}}, "labels": labels}}}});
    for (path, body) in [("schedules", &schedule), ("workflows", &workflow)] {
        for own in ["plain", "evil"] {
            let path = format!("/v1/{path}/{own}");
            let made = server.put_as(&server.key, &path, &[], body.to_string()).await;
            assert_eq!(made.status, 201, "{made:?}");
        }
    }
    let paused = serde_json::json!({"reason": EVIL}).to_string();
    assert_eq!(server.post("/v1/schedules/plain/pause", paused).await.status, 200);
    let started = server.post("/v1/workflow-runs", r#"{"workflow":"plain"}"#).await;
    assert_eq!(started.status, 201, "{started:?}");
    let run = started.json()["id"].as_str().unwrap().to_owned();
    let other = server.post("/v1/workflow-runs", r#"{"workflow":"evil"}"#).await.json();
    let other = other["id"].as_str().unwrap().to_owned();
    // The API takes no such name; a page would not rely on that.
    let named = format!(
        "update schedule set name = '{EVIL}' where name = 'evil'; update workflow set name = '{EVIL}' where name = 'evil';
        update workflow_run set workflow = '{EVIL}', reason = '{EVIL}' where workflow = 'evil'"
    );
    server.db.sql(&named).await.unwrap();
    let key = serde_json::json!({"name": EVIL, "scopes": ["read"]});
    assert_eq!(server.post("/v1/keys", key.to_string()).await.status, 201);
    let user = server.user_id().await;
    let addressed = format!("update app_user set email = lower('{EVIL}@example.com')");
    server.db.sql(&addressed).await.unwrap();
    let cap = serde_json::json!({"amount": 5, "currency": "EUR", "period": "day", "label": {"key": "team", "value": EVIL}});
    let capped = server.put_as(&server.key, "/v1/spend-caps/free", &[], cap.to_string()).await;
    assert_eq!(capped.status, 201, "{capped:?}");
    let hook = serde_json::json!({"url": format!("https://a.example/{EVIL}"), "task_name": EVIL, "labels": labels, "schedule": EVIL,
        "workflow": EVIL, "headers": {"X-A": EVIL}, "payload": {EVIL: EVIL}});
    let delivered = delivery(server, "ops").await;
    let hooked = server.put_as(&server.key, "/v1/webhooks/ops", &[], hook.to_string()).await;
    assert_eq!(hooked.status, 200, "{hooked:?}");
    let answered = format!(
        "update webhook_delivery set subject = '{EVIL}', log = '[{{\"at\": \"2030-01-31T12:00:00Z\", \"ms\": 1, \"status\": null,
            \"error\": \"{EVIL}\", \"answer\": \"{EVIL}\"}}]'; update webhook set disabled_at = now(), disabled_reason = '{EVIL}'"
    );
    server.db.sql(&answered).await.unwrap();
    [run, other, user, delivered]
}

#[tokio::test]
async fn markup_in_names_is_text_on_every_page() {
    let server = Server::start().await;
    let name = utf8_percent_encode(EVIL, NON_ALPHANUMERIC).to_string();
    let [run, other, user, delivered] = evil(&server).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let paths = [
        "/".to_owned(),
        "/schedules".to_owned(),
        "/schedules/plain".to_owned(),
        format!("/schedules/{name}"),
        "/schedules/plain/edit".to_owned(),
        "/schedules/plain/edit?as=document".to_owned(),
        "/schedules/plain/do/backfill".to_owned(),
        "/schedules/x?month=%3Cscript%3Ealert(1)%3C/script%3E".to_owned(),
        "/workflows".to_owned(),
        format!("/workflows/definitions/{name}"),
        "/workflows/definitions/plain".to_owned(),
        "/workflows/definitions/plain/edit".to_owned(),
        "/workflows/definitions/plain/do/run".to_owned(),
        "/workflows/runs".to_owned(),
        format!("/workflows/runs/{run}"),
        format!("/workflows/runs/{other}"),
        format!("/workflows/runs/{run}/do/cancel"),
        format!("/workflows/runs/{run}/nodes/a/do/rerun"),
        "/costs".to_owned(),
        format!("/costs?by=label&label={name}"),
        "/costs/caps/free".to_owned(),
        "/costs/caps/free/delete".to_owned(),
        "/account/keys".to_owned(),
        format!("/account/keys/{name}/rotate"),
        format!("/account/keys/{name}/revoke"),
        "/account/users".to_owned(),
        format!("/account/users/{user}"),
        format!("/account/users/{user}/remove"),
        "/account/audit".to_owned(),
        "/webhooks".to_owned(),
        "/webhooks/ops".to_owned(),
        format!("/webhooks/ops?state={name}&type={name}"),
        "/webhooks/ops/edit".to_owned(),
        "/webhooks/ops/do/delete".to_owned(),
        format!("/webhooks/{name}"),
        format!("/webhooks/ops/deliveries/{delivered}"),
        format!("/webhooks/ops/deliveries/{delivered}/replay"),
    ];
    for path in paths {
        let html = text(&browser.get(&path).await);
        assert!(!html.to_lowercase().contains("<script>alert"), "{path}: {html}");
    }
}

#[tokio::test]
async fn markup_that_was_entered_comes_back_as_text() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    for (form, field) in [
        ("/schedules/new", "name"),
        ("/schedules/new", "command"),
        ("/workflows/new", "text"),
        ("/account/keys/new", "name"),
        ("/account/users/new", "email"),
        ("/costs/caps/new", "amount"),
        ("/webhooks/new", "url"),
        ("/webhooks/new", "payload"),
    ] {
        let answer = browser.post(form, form, &[(field, EVIL)]).await;
        assert!(!text(&answer).contains("<script>alert"), "{form}: {}", text(&answer));
    }
}
