//! Operators' levers: each asks first, does what it says, and is not shown to those who may only read.

use super::browser::{Browser, location, text};
use crate::client::Answer;
use crate::server::Server;
use serde_json::{Value, json};

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

/// The value of a field of a page.
fn value(page: &str, name: &str) -> String {
    let field = format!("name=\"{name}\" value=\"");
    let at = page.find(&field).unwrap_or_else(|| panic!("{name}: {page}"));
    page[at..].split('"').nth(3).unwrap().to_owned()
}

/// The form of the plan `default` as it was read, for sending it with changes.
struct PlanForm {
    browser: Browser,
    fields: Vec<(&'static str, String)>,
}

const EDIT: &str = "/operators/plans/default/edit";

impl PlanForm {
    async fn read(server: &Server, key: &str) -> Self {
        let mut browser = Browser::with_key(server, key).await;
        let page = browser.page(EDIT).await;
        let limits = domain::plan::LIMITS.iter().map(|limit| limit.name);
        let names = limits.filter(|name| *name != "flexible").chain(["version"]);
        let fields = names.map(|name| (name, value(&page, name))).collect();
        Self { browser, fields }
    }

    async fn send(&mut self, path: &str, change: &[(&str, &str)]) -> Answer {
        let is_kept = |name: &str| !change.iter().any(|(changed, _)| *changed == name);
        let kept = self.fields.iter().filter(|(name, _)| is_kept(name));
        let kept = kept.map(|(name, value)| (*name, value.as_str()));
        let fields: Vec<(&str, &str)> = kept.chain(change.iter().copied()).collect();
        self.browser.post(path, path, &fields).await
    }
}

async fn plan(server: &Server, key: &str) -> Value {
    server.get_as(key, "/v1/admin/plans/default").await.json()
}

#[tokio::test]
async fn a_plan_is_edited_with_a_preview_and_never_over_another_version() {
    let server = Server::start().await;
    let key = server.new_operator("ops", &["read", "admin"]).await;
    let mut form = PlanForm::read(&server, &key).await;
    let before = plan(&server, &key).await;
    let change = [("backlog", "77"), ("flexible", "yes"), ("preview", "yes")];
    let preview = form.send(EDIT, &change).await;
    let html = text(&preview);
    assert!(preview.status == 200 && html.contains("<td><strong>77</strong></td>"), "{html}");
    assert!(html.contains("<td>no</td><td><strong>yes</strong></td>"), "{html}");
    assert_eq!(html.matches("<th scope=\"row\">").count(), 2, "{html}");
    assert_eq!(plan(&server, &key).await, before, "a preview stores nothing");
    for (wrong, part) in [
        (("backlog", "many"), "must be from 1 to 100000000"),
        (("weight", "0"), "must be more than 0"),
        (("price_book", "none-such"), "There is no price book of this name"),
    ] {
        let refused = form.send(EDIT, &[wrong]).await;
        let html = text(&refused);
        assert_eq!(refused.status, 422, "{wrong:?}");
        assert!(html.contains(part) && html.contains("aria-invalid"), "{html}");
    }
    let done = form.send(EDIT, &[("backlog", "77")]).await;
    assert_eq!(location(&done), format!("{EDIT}?done=stored"), "{}", text(&done));
    let after = plan(&server, &key).await;
    assert_eq!((&after["backlog"], &after["weight"]), (&json!(77), &before["weight"]));
    // The form is of the version before.
    let late = form.send(EDIT, &[("backlog", "78")]).await;
    let html = text(&late);
    assert_eq!(late.status, 412, "{html}");
    assert!(html.contains("somebody else stored another version"), "{html}");
    assert!(html.contains("<td>77</td><td><strong>78</strong></td>"), "{html}");
    assert_eq!(plan(&server, &key).await, after, "nothing was stored");
}

#[tokio::test]
async fn a_new_plan_takes_no_name_that_is_taken_and_readers_make_none() {
    let server = Server::start().await;
    let key = server.new_operator("ops", &["read", "admin"]).await;
    let mut form = PlanForm::read(&server, &key).await;
    let list = form.browser.page("/operators/plans").await;
    assert!(list.contains(&format!("href=\"{EDIT}\"")), "{list}");
    let new = "/operators/plans/new";
    let made = form.send(new, &[("name", "small")]).await;
    assert_eq!(location(&made), "/operators/plans/small/edit?done=stored", "{}", text(&made));
    let taken = form.send(new, &[("name", "small")]).await;
    assert!(taken.status == 412 && text(&taken).contains("There is a plan of this name"));
    let reader = server.new_operator("reads", &["read"]).await;
    let mut reader = Browser::with_key(&server, &reader).await;
    assert!(!reader.page("/operators/plans").await.contains("/operators/plans/"));
    assert_eq!(reader.get(EDIT).await.status, 403);
    assert_eq!(reader.post("/operators/plans", EDIT, &[]).await.status, 403);
}
