//! Operators' levers: each asks first, does what it says, and is not shown to those who may only read.

use super::browser::{Browser, location, text};
use crate::server::Server;
use serde_json::json;

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

#[tokio::test]
async fn a_pool_says_where_its_tasks_are_and_who_gets_how_much() {
    let server = Server::start().await;
    let operator = server.new_operator("ops", &["read"]).await;
    let mut browser = Browser::with_key(&server, &operator).await;
    let path = "/operators/pools/default";
    assert!(browser.page("/operators/pools").await.contains(path));
    let page = browser.page(path).await;
    assert!(
        page.contains("Nothing waits and nothing runs") && page.contains("None has waited"),
        "{page}"
    );

    let other = server.new_tenant("<b>other</b>").await;
    for _ in 0..3 {
        server.noop().await;
    }
    // As the batcher writes it down, and as if one had waited too long.
    let (own, other) = (server.tenant.uuid(), other.uuid());
    let written = format!(
        "insert into pool_turn (pool, stopped, slots, handed_out, rate, free_slots) values ('default', 'room_used', 4, 4, 2.5, 0);
        insert into tenant_turn (pool, tenant_id, ahead, before, rate, held_by) values
            ('default', '{own}', 0.5, 1, 1.5, null), ('default', '{other}', 0, 0, 4, 'limit');
        update tenant set weight = 3 where id = '{other}';
        update task set start_deadline = now() - interval '1 minute' where id = (select min(id::text)::uuid from task)"
    );
    server.db.sql(&written).await.unwrap();
    let bearer = format!("Bearer {operator}");
    let headers = [("Authorization", bearer.as_str())];
    let flow =
        crate::client::request(server.addr, "GET", "/v1/admin/pools/default/flow", &headers, b"");
    let flow = flow.await.json();
    let hop = &flow["hops"][0];
    assert_eq!(
        (&hop["state"], &hop["tasks"], &hop["late"]),
        (&json!("ready"), &json!(3), &json!(1))
    );
    let share = |at: usize, field: &str| flow["shares"][at][field].clone();
    assert_eq!(
        [share(0, "name"), share(0, "entitled"), share(0, "at_limit")],
        [json!("<b>other</b>"), json!(0.75), json!(true)]
    );
    assert_eq!(
        [share(1, "entitled"), share(1, "before"), share(1, "used")],
        [json!(0.25), json!(1), json!(0.0)]
    );

    let page = browser.page(path).await;
    for wanted in
        ["Wait for dispatch", "1 late", "all room is used", "75 %", "at its limit", "after 1"]
    {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(!page.contains("<b>other"), "{page}");
    assert_eq!(browser.get("/operators/pools/nothing").await.status, 404);
}
