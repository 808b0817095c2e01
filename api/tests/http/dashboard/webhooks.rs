//! Webhooks: stored by the form, their secrets shown once, what was sent and sent again.

use super::browser::{Browser, EVIL, location, text};
use crate::server::Server;
use serde_json::{Value, json};

/// A webhook with the given name.
pub async fn webhook(server: &Server, name: &str) {
    let body = json!({"url": format!("https://a.example/{name}")}).to_string();
    let stored = server.put_as(&server.key, &format!("/v1/webhooks/{name}"), &[], body).await;
    assert!(matches!(stored.status, 200 | 201), "{stored:?}");
}

/// A delivery of a webhook, which nobody tries here.
pub async fn delivery(server: &Server, name: &str) -> String {
    webhook(server, name).await;
    let sent = server.post(&format!("/v1/webhooks/{name}/test"), "").await;
    assert_eq!(sent.status, 202, "{sent:?}");
    sent.json()["id"].as_str().unwrap().to_owned()
}

/// Gives all deliveries a try, and up.
async fn given_up(server: &Server, answer: &str) {
    let log = json!([{"at": "2030-01-31T12:00:00Z", "ms": 35, "status": 503, "error": null, "answer": answer}]);
    let log = log.to_string().replace('\'', "''");
    let sql = format!(
        "update webhook_delivery set state = 'failed', tries = 1, ended_at = now(), log = '{log}'"
    );
    server.db.sql(&sql).await.unwrap();
}

/// The secret, which stands in its own block.
fn secret(html: &str) -> String {
    let at = html.split("<pre id=\"secret\">").nth(1).unwrap_or_else(|| panic!("none: {html}"));
    at.split('<').next().unwrap().to_owned()
}

async fn stored(server: &Server, name: &str) -> Value {
    server.get(&format!("/v1/webhooks/{name}")).await.json()
}

#[tokio::test]
async fn a_new_webhook_shows_its_secret_once_and_is_edited_in_the_version_that_was_shown() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    assert!(browser.page("/").await.contains("href=\"/webhooks\""));
    let new = "/webhooks/new";
    let fields = [
        ("name", "ops"),
        ("url", "https://a.example/x?y=1"),
        ("events", "berth.task.failed\r\nberth.schedule.*"),
        ("labels", "team=<b>ml</b>"),
        ("headers", "Authorization: Bearer hunter2"),
        ("payload", r#"{"text": {"$event": "/data/name"}}"#),
        ("ordered", "yes"),
    ];
    let made = browser.post(new, new, &fields).await;
    assert_eq!((made.status, location(&made)), (201, ""), "{}", text(&made));
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let shown = secret(&text(&made));
    assert!(shown.starts_with("whsec_"), "{shown}");
    let webhook = stored(&server, "ops").await;
    assert_eq!(webhook["events"], json!(["berth.task.failed", "berth.schedule.*"]));
    assert_eq!(webhook["headers"], json!({"Authorization": "Bearer hunter2"}));
    assert_eq!(webhook["payload"], json!({"text": {"$event": "/data/name"}}));
    let taken = browser.post(new, new, &fields).await;
    assert!(taken.status == 412 && text(&taken).contains("There is a webhook of this name"));

    for page in ["/webhooks", "/webhooks/ops", "/webhooks/ops/edit"] {
        let html = browser.page(page).await;
        assert!(!html.contains(&shown) && !html.contains("<b>ml"), "{page}: {html}");
    }
    let page = browser.page("/webhooks/ops").await;
    assert!(page.contains("Authorization") && !page.contains("hunter2"), "{page}");
    assert!(!page.contains("/do/resume") && page.contains("/do/test"), "{page}");
    let edit = "/webhooks/ops/edit";
    let changed = [&fields[1..6], &[("version", "1"), ("paused", "yes")]].concat();
    let done = browser.post(edit, edit, &changed).await;
    assert_eq!(location(&done), "/webhooks/ops?done=stored", "{}", text(&done));
    let webhook = stored(&server, "ops").await;
    assert_eq!((&webhook["paused"], &webhook["ordered"]), (&json!(true), &json!(false)));
    let late = browser.post(edit, edit, &[("version", "1"), ("url", "https://b.example")]).await;
    assert!(late.status == 412 && text(&late).contains("somebody else stored"), "{}", text(&late));
    assert!(text(&late).contains(r#"name="version" value="2""#), "the next is over that one");
    let list = browser.page("/webhooks").await;
    assert!(list.contains("paused") && list.contains("https://a.example/x?y=1"), "{list}");
}

#[tokio::test]
async fn what_is_wrong_is_said_at_its_field_and_a_chosen_secret_is_not_shown() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let new = "/webhooks/new";
    for (field, value, part) in [
        ("url", "ftp://a", "id=\"url-more\"><p class=\"wrong\">"),
        ("events", "nonsense", "id=\"events-more\"><p class=\"wrong\">"),
        ("labels", "team", "must have a `=` on each line"),
        ("payload", "[1]", "must be a JSON object"),
        ("secret", "short", "id=\"secret-more\"><p class=\"wrong\">"),
        ("name", "No Name", "Nothing was stored. The name"),
    ] {
        let mut fields = vec![("name", "ops"), ("url", "https://a.example")];
        fields.retain(|(name, _)| *name != field);
        fields.push((field, value));
        let answer = browser.post(new, new, &fields).await;
        let html = text(&answer).replace("&#96;", "`");
        assert!(matches!(answer.status, 400 | 422) && html.contains(part), "{field}: {html}");
        assert!(field != "secret" || !html.contains("value=\"short\""), "{html}");
    }
    let own = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let fields = [("name", "ops"), ("url", "https://a.example"), ("secret", own)];
    let made = browser.post(new, new, &fields).await;
    assert_eq!(location(&made), "/webhooks/ops?done=stored", "{}", text(&made));
}

#[tokio::test]
async fn a_secret_is_rotated_and_a_disabled_webhook_is_resumed_and_deleted() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    webhook(&server, "ops").await;
    let rotate = "/webhooks/ops/do/rotate";
    let done = browser.post(rotate, rotate, &[("keep_old", "1h"), ("once", "r1")]).await;
    assert_eq!((done.status, location(&done)), (200, ""), "{}", text(&done));
    assert!(secret(&text(&done)).starts_with("whsec_"));
    assert!(stored(&server, "ops").await["old_secret_until"].is_string());
    let wrong = browser.post(rotate, rotate, &[("secret", "short"), ("once", "r2")]).await;
    assert!(wrong.status == 422 && text(&wrong).contains("Nothing was done"), "{}", text(&wrong));

    let sql = "update webhook set disabled_at = now(), disabled_reason = '<b>gone</b>', failures = 30, failing_since = now() - interval '1 day'";
    server.db.sql(sql).await.unwrap();
    let page = browser.page("/webhooks/ops").await;
    assert!(page.contains("nothing is sent until it is resumed") && !page.contains("<b>gone"));
    assert!(page.contains("/do/resume") && !page.contains("/do/test"), "{page}");
    let resume = "/webhooks/ops/do/resume";
    let done = browser.post(resume, resume, &[]).await;
    assert_eq!(location(&done), "/webhooks/ops?done=resumed", "{}", text(&done));
    assert_eq!(stored(&server, "ops").await["disabled_at"], Value::Null);
    let delete = "/webhooks/ops/do/delete";
    assert!(browser.page(delete).await.contains("can no longer be read"));
    assert_eq!(location(&browser.post(delete, delete, &[]).await), "/webhooks?done=deleted");
    assert_eq!(server.get("/v1/webhooks/ops").await.status, 404);
}

#[tokio::test]
async fn a_test_leads_to_its_delivery_and_deliveries_are_sent_again() {
    let server = Server::start().await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    webhook(&server, "ops").await;
    let test = "/webhooks/ops/do/test";
    let sent = browser.post(test, test, &[("once", "t1")]).await;
    let to = location(&sent).to_owned();
    assert!(to.starts_with("/webhooks/ops/deliveries/delivery_") && to.ends_with("?done=sent"));
    let page = browser.page(&to).await;
    assert!(page.contains("It was not tried yet") && page.contains("A test was sent"), "{page}");
    given_up(&server, EVIL).await;

    let path = to.split('?').next().unwrap();
    let page = browser.page(path).await;
    assert!(page.contains("status 503") && page.contains("berth.webhook.test"), "{page}");
    assert!(!page.contains(EVIL) && page.contains("alert(1)"), "{page}");
    let part = text(&browser.get(&format!("{path}?fragment=list")).await);
    assert!(part.contains("data-over") && !part.contains("<form"), "{part}");
    let log = browser.page("/webhooks/ops?state=failed").await;
    assert!(log.contains(path) && log.contains("status 503"), "{log}");
    assert!(!browser.page("/webhooks/ops?state=delivered").await.contains(path));
    assert!(!browser.page("/webhooks/ops?type=berth.task.failed").await.contains(path));

    let replay = format!("{path}/replay");
    assert!(browser.page(&replay).await.contains("same id and body"));
    let again = browser.post(&replay, &replay, &[("once", "t2")]).await;
    assert_eq!(location(&again), format!("{path}?done=sent-again"), "{}", text(&again));
    assert!(browser.page(path).await.contains("pending"));
    given_up(&server, "no").await;
    let range = "/webhooks/ops/do/replay";
    let done = browser.post(range, range, &[("from", "2020-01-01T00:00"), ("once", "t3")]).await;
    assert!(done.status == 202 && text(&done).contains("One delivery is sent again"));
    let fields = [("from", "2020-01-02T00:00"), ("until", "2020-01-01T00:00"), ("only", "all")];
    let wrong = browser.post(range, range, &fields).await;
    assert!(
        wrong.status == 422 && text(&wrong).contains("until must be after"),
        "{}",
        text(&wrong)
    );
}
