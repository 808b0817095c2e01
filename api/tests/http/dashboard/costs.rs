//! Costs: down to tasks and attempts, spend caps, and what a billing user sees.

use super::browser::{Browser, location, text};
use crate::server::Server;
use crate::users::{PASSWORD, server, user};
use domain::access::Role;
use serde_json::json;

/// Usage of today, by tier and by a label.
async fn used(server: &Server) {
    let tenant = server.tenant.uuid();
    for (kind, key, value) in [("tier", "", "basic"), ("label", "team", "<b>media</b>")] {
        let sql = format!(
            "insert into usage_rollup values ('{tenant}', '{kind}', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC',
                '{key}', '{value}', false, '', 3, 3, 2, 60000, 1, 2, 3, 4, 5, 0, 0)"
        );
        server.db.sql(&sql).await.unwrap();
    }
}

#[tokio::test]
async fn costs_lead_to_the_tasks_and_attempts_that_they_are_made_of() {
    let server = Server::start().await;
    used(&server).await;
    let mut browser = Browser::with_key(&server, &server.key).await;
    let page = browser.page("/costs").await;
    let link = |page: &str, start: &str| {
        let href = page.split("href=\"").find(|href| href.starts_with(start));
        let href = href.unwrap_or_else(|| panic!("{start}: {page}")).split('"').next().unwrap();
        href.replace("&#38;", "&")
    };
    let tasks = link(&page, "/tasks?tier=basic");
    assert!(tasks.contains("created_from=") && tasks.contains("created_before="), "{tasks}");
    assert_eq!(browser.get(&tasks).await.status, 200);
    let day = link(&page, "/costs?from=");
    assert_eq!(browser.get(&day).await.status, 200);
    let page = browser.page("/costs?by=label&label=team").await;
    let tasks = link(&page, "/tasks?label=team");
    assert!(tasks.starts_with("/tasks?label=team%3D%3Cb%3Emedia%3C%2Fb%3E&"), "{tasks}");
    assert!(!page.contains("<b>media"), "{page}");

    let number = server.invoice(server.tenant).await;
    let invoice = format!("/costs/invoices/{number}");
    let line = link(&browser.page(&invoice).await, &format!("{invoice}/lines/"));
    let attempts = browser.page(&line).await;
    assert!(attempts.contains("Each attempt with its exact cost"), "{attempts}");
    assert_eq!(browser.get(&format!("{invoice}/lines/99")).await.status, 404);
}

#[tokio::test]
async fn a_billing_user_sees_costs_and_no_tasks_and_sets_caps() {
    let server = server().await;
    used(&server).await;
    let task = server.noop().await;
    user(&server, "bill@example.com", Role::Billing).await;
    let mut browser = Browser::new(&server);
    let fields = [("tenant", "first"), ("email", "bill@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.sign_in(&fields).await.status, 303);
    let page = browser.page("/costs").await;
    assert!(!page.contains("href=\"/tasks") && page.contains("/costs/caps/new"), "{page}");
    let (tasks, one) = ("/tasks".to_owned(), format!("/tasks/{task}"));
    for path in
        [tasks, one, "/schedules".to_owned(), "/workflows".to_owned(), "/account/keys".to_owned()]
    {
        assert_eq!(browser.get(&path).await.status, 403, "{path}");
    }
    let new = "/costs/caps/new";
    let cap = [("name", "all"), ("currency", "eur"), ("period", "month"), ("zone", "UTC")];
    let wrong = [&cap[..], &[("amount", "1,5")]].concat();
    let refused = browser.post(new, new, &wrong).await;
    assert!(
        refused.status == 422 && text(&refused).contains("must be an amount"),
        "{}",
        text(&refused)
    );
    let good = [&cap[..], &[("amount", "12.50")]].concat();
    let stored = browser.post(new, new, &good).await;
    assert_eq!(location(&stored), "/costs?done=stored#caps", "{}", text(&stored));
    assert_eq!(server.get("/v1/spend-caps/all").await.json()["amount"], json!(12_500_000));
    assert_eq!(browser.post(new, new, &good).await.status, 412, "one of that name is stored");
    assert!(browser.page("/costs").await.contains("12.50 EUR free of 12.50 EUR"));
    let path = "/costs/caps/all";
    assert!(browser.page(path).await.contains("value=\"12.50\""));
    let raised = browser.post(path, path, &[("version", "1"), ("amount", "20")]).await;
    assert_eq!(raised.status, 303, "{}", text(&raised));
    let late = browser.post(path, path, &[("version", "1"), ("amount", "1")]).await;
    assert!(late.status == 412 && text(&late).contains("it is 20.00 EUR now"), "{}", text(&late));
    assert!(text(&late).contains(r#"name="version" value="2""#), "the next is over that one");
    let deleted = browser.post(path, "/costs/caps/all/delete", &[]).await;
    assert_eq!(location(&deleted), "/costs?done=deleted#caps");
    assert_eq!(server.get("/v1/spend-caps/all").await.status, 404);
}
