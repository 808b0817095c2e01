//! Operators' levers: each asks first, does what it says, and is not shown to those who may only read.

use super::browser::{Browser, location, text};
use crate::server::Server;

#[tokio::test]
async fn a_pool_is_paused_with_a_reason_and_resumed() {
    let server = Server::start().await;
    let operator = server.new_operator("ops", &["read", "admin"]).await;
    let mut browser = Browser::with_key(&server, &operator).await;
    let lever = "/operators/pools/default/do/pause";
    let page = browser.page("/operators/pools").await;
    assert!(page.contains(lever) && !page.contains("/do/resume"), "{page}");
    assert!(browser.page(lever).await.contains("No task of it starts until it is resumed."));

    let answer = browser.post(lever, lever, &[("reason", "")]).await;
    assert_eq!(answer.status, 422, "without a reason the form is shown again");
    let answer = browser.post(lever, lever, &[("reason", "a new <b>disk</b>")]).await;
    assert_eq!((answer.status, location(&answer)), (303, "/operators/pools"));
    let page = browser.page("/operators/pools").await;
    assert!(page.contains("a new &#60;b&#62;disk"), "{page}");
    let lever = "/operators/pools/default/do/resume";
    assert!(page.contains(lever), "{page}");
    assert_eq!(browser.post(lever, lever, &[]).await.status, 303);
    assert!(browser.page("/operators/pools").await.contains("/do/pause"));
    assert_eq!(browser.get("/operators/pools/nothing/do/pause").await.status, 404);
    assert_eq!(browser.get("/operators/pools/default/do/suspend").await.status, 404);
}

#[tokio::test]
async fn a_tenant_is_suspended_and_its_invoices_are_made_final_paid_and_void() {
    let server = Server::start().await;
    let operator = server.new_operator("ops", &["read", "admin"]).await;
    let mut browser = Browser::with_key(&server, &operator).await;
    let tenant = format!("/operators/tenants/{}", server.tenant);
    assert!(browser.page("/operators/tenants").await.contains(&tenant));
    let [paid, void] = [server.invoice(server.tenant).await, server.invoice(server.tenant).await];

    let invoice = |number: &str, word: &str| format!("{tenant}/invoices/{number}/do/{word}");
    let page = browser.page(&tenant).await;
    for lever in [invoice(&paid, "pay"), invoice(&void, "void"), format!("{tenant}/do/suspend")] {
        assert!(page.contains(&lever), "{lever}: {page}");
        let answer = browser.post(&lever, &lever, &[]).await;
        assert_eq!((answer.status, location(&answer)), (303, tenant.as_str()), "{}", text(&answer));
    }
    let page = browser.page(&tenant).await;
    assert!(page.contains("suspended") && page.contains("/do/resume"), "{page}");
    assert!(!page.contains("/do/pay") && !page.contains("/do/void"), "{page}");
    let state = "select string_agg(state::text, ' ' order by number) from invoice";
    assert_eq!(server.db.sql(state).await.unwrap().trim(), "paid void");

    let draft = server.draft(server.tenant).await;
    let lever = invoice(&draft, "finalize");
    assert!(browser.page(&lever).await.contains("Make this invoice final?"));
    assert_eq!(browser.post(&lever, &lever, &[]).await.status, 303);
    let again = browser.post(&tenant, &lever, &[]).await;
    assert!(again.status == 404 || again.status == 409, "{}", text(&again));
}

#[tokio::test]
async fn an_operator_who_may_only_read_sees_no_lever_and_pulls_none() {
    let server = Server::start().await;
    let operator = server.new_operator("ops", &["read"]).await;
    let mut browser = Browser::with_key(&server, &operator).await;
    server.invoice(server.tenant).await;
    let tenant = format!("/operators/tenants/{}", server.tenant);
    for path in ["/operators/pools", &tenant] {
        assert!(!browser.page(path).await.contains("/do/"), "{path}");
    }
    for lever in ["/operators/pools/default/do/pause".to_owned(), format!("{tenant}/do/suspend")] {
        assert_eq!(browser.get(&lever).await.status, 403, "{lever}");
        assert_eq!(browser.post("/operators", &lever, &[("reason", "x")]).await.status, 403);
    }
    assert_eq!(server.get("/v1/whoami").await.json()["tenant_state"], "active");
}
