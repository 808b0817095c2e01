//! Price books, the plans that name them, and what a tenant's use costs.

use crate::client::{Answer, request};
use crate::dashboard::browser::Browser;
use crate::matrix::{PLAN, PRICE_BOOK};
use crate::server::Server;
use serde_json::{Value, json};

/// A server, and an operator of it.
async fn server() -> (Server, String) {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    (server, operator)
}

async fn put(server: &Server, operator: &str, path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {operator}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(server.addr, "PUT", path, &headers, body.to_string().as_bytes()).await
}

/// The tenant's plan is billed by `book`.
async fn bill_by(server: &Server, operator: &str, billing: Value) -> Answer {
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["backlog"] = json!(100);
    plan["billing"] = billing;
    put(server, operator, "/v1/admin/plans/default", &plan).await
}

#[tokio::test]
async fn what_is_wrong_with_prices_is_said_by_pointer_and_nothing_is_stored() {
    let (server, operator) = server().await;
    let good: Value = serde_json::from_str(PRICE_BOOK).unwrap();
    for (pointer, wrong, part) in [
        ("/currency", json!("EURO"), "ISO 4217"),
        ("/currency", json!(null), "string"),
        ("/prices", json!([]), "1 to 240"),
        ("/prices/0/effective_from", json!("soon"), "2030-01-31T12:00:00Z"),
        ("/prices/0/rates/cpu_core", json!(-1), "micro-units"),
        ("/prices/0/rates/cpu_core", json!(0.5), "whole number"),
        ("/prices/0/rates", json!({"gpu": 1}), "gpu"),
        ("/prices/0/tiers", json!({"huge": {}}), "`premium`"),
        ("/prices/0/discounts/flexible_percent", json!(101), "0 to 100"),
        (
            "/prices/0/volume",
            json!([{"above": 5, "percent": 1}, {"above": 5, "percent": 2}]),
            "ascend",
        ),
    ] {
        let mut book = good.clone();
        *book.pointer_mut(pointer).unwrap() = wrong.clone();
        let answer = put(&server, &operator, "/v1/admin/price-books/eur", &book).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "validation_failed"),
            "{wrong}: {answer:?}"
        );
        let text = answer.json().to_string();
        assert!(
            answer.pointers()[0].starts_with(pointer) && text.contains(part),
            "{wrong}: {text}"
        );
    }
    assert_eq!(server.db.sql("select count(*) from price_book").await.unwrap().trim(), "0");
    for (billing, pointer) in [
        (json!({"price_book": "nobodys"}), "/billing/price_book"),
        (json!({"price_book": "Not a name"}), "/billing/price_book"),
        (json!({"price_book": "eur", "minimum": -1}), "/billing/minimum"),
        (json!({"price_book": "eur", "included": {"events": 1}}), "/billing/included"),
    ] {
        let answer = bill_by(&server, &operator, billing).await;
        assert_eq!(answer.status, 422, "{answer:?}");
        assert!(answer.pointers()[0].starts_with(pointer), "{answer:?}");
    }
}

#[tokio::test]
async fn prices_in_effect_stay_and_a_plan_that_does_not_say_keeps_its_billing() {
    let (server, operator) = server().await;
    let mut book: Value = serde_json::from_str(PRICE_BOOK).unwrap();
    let path = "/v1/admin/price-books/eur";
    assert_eq!(put(&server, &operator, path, &book).await.status, 201);
    book["prices"][0]["rates"]["cpu_core"] = json!(1);
    let altered = put(&server, &operator, path, &book).await;
    assert_eq!((altered.status, altered.pointers()), (422, vec!["/prices/0".to_owned()]));
    assert!(altered.json().to_string().contains("later `effective_from`"), "{altered:?}");
    let mut book: Value = serde_json::from_str(PRICE_BOOK).unwrap();
    book["prices"].as_array_mut().unwrap().push(json!({"effective_from": "2120-01-01T00:00:00Z"}));
    let changed = put(&server, &operator, path, &book).await;
    assert_eq!((changed.status, changed.header("etag")), (200, Some("\"2\"")));

    let billing = json!({"price_book": "eur", "included": {"attempts": 0, "tasks": 3, "fires": 0}, "minimum": 9});
    let billed = bill_by(&server, &operator, billing.clone()).await;
    assert_eq!(billed.json()["billing"], billing);
    // As a client sends it that knows of no prices.
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["backlog"] = json!(7);
    let kept = put(&server, &operator, "/v1/admin/plans/default", &plan).await.json();
    assert_eq!((&kept["billing"], &kept["backlog"]), (&billing, &json!(7)));
    assert_eq!(bill_by(&server, &operator, Value::Null).await.json()["billing"], Value::Null);
}

#[tokio::test]
async fn costs_are_shown_by_step_and_group_and_the_month_by_the_plan() {
    let (server, operator) = server().await;
    assert_eq!(server.get("/v1/costs").await.json()["month"], Value::Null);
    let book = serde_json::from_str(PRICE_BOOK).unwrap();
    put(&server, &operator, "/v1/admin/price-books/eur", &book).await;
    bill_by(
        &server,
        &operator,
        json!({"price_book": "eur", "included": {"tasks": 2}, "minimum": 5_000_000}),
    )
    .await;
    let tenant = server.tenant.uuid();
    let rows = [
        ("tier", "", "basic", false, 0, "eur", 3, 900),
        ("tier", "", "premium", false, 0, "eur", 1, 100),
        ("tier", "", "basic", false, 1, "", 5, 0),
        ("label", "team", "media", false, 0, "eur", 3, 900),
        ("label", "team", "", true, 0, "eur", 1, 100),
        ("label", "team", "media", false, 1, "", 5, 0),
    ];
    for (kind, key, value, others, hours, book, attempts, cost) in rows {
        let sql = format!(
            "insert into usage_rollup values ('{tenant}', '{kind}', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' + interval '{hours} hours',
                '{key}', '{value}', {others}, '{book}', {attempts}, {attempts}, {attempts}, 60000, 1, 2, 3, 4, 5, {cost}, {attempts} * 10)"
        );
        server.db.sql(&sql).await.unwrap();
    }
    let costs = async |query: &str| server.get(&format!("/v1/costs{query}")).await.json();
    let shown = |costs: &Value| {
        let row = |row: &Value| {
            let group =
                row["group"].as_str().map_or_else(|| row["others"].to_string(), str::to_owned);
            format!(
                "{} {group} {} {}",
                &row["starts_at"].as_str().unwrap()[11..16],
                row["currency"],
                row["cost"]
            )
        };
        costs["data"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let all = costs("").await;
    assert_eq!(
        shown(&all),
        ["00:00 basic null 50", "00:00 basic \"EUR\" 930", "00:00 premium \"EUR\" 110"]
    );
    let totals = all["totals"].as_array().unwrap();
    assert_eq!(
        (&totals[0]["currency"], &totals[0]["attempts"], &totals[0]["cost"]),
        (&Value::Null, &json!(5), &json!(50))
    );
    assert_eq!(
        (&totals[1]["attempts_cost"], &totals[1]["tasks_cost"], &totals[1]["port_ms"]),
        (&json!(1000), &json!(40), &json!(10))
    );
    let by_hour = costs("?step=hour&group_by=label:team").await;
    assert_eq!(
        shown(&by_hour),
        ["00:00 media \"EUR\" 930", "00:00 true \"EUR\" 110", "01:00 media null 50"]
    );
    assert_eq!(shown(&costs("?group_by=schedule").await), [""; 0]);
    // 1000 and 40, of which 2 of 4 tasks are included; and what is missing to 5 units.
    let month = &all["month"];
    assert_eq!(
        month["so_far"],
        json!({"charges": 1040, "included": -20, "volume": 0, "minimum": 4_998_980, "total": 5_000_000})
    );
    assert!(month["forecast"]["charges"].as_i64().unwrap() >= 1040, "{month}");
    assert_eq!(month["currency"], "EUR");
}

#[tokio::test]
async fn operators_see_who_costs_most_leaves_least_and_is_unpriced() {
    let (server, operator) = server().await;
    let other = server.new_tenant("second").await;
    let book = |cpu: i64| json!({"currency": "EUR", "prices": [{"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": cpu}}]});
    for (name, cpu) in [("eur", 40_000), ("machines", 30_000)] {
        let path = format!("/v1/admin/price-books/{name}");
        let stored = put(&server, &operator, &path, &book(cpu)).await;
        assert_eq!(stored.status, 201, "{stored:?}");
    }
    // Two core hours each; the second has a bargain, and something without prices.
    let used = |tenant: domain::id::TenantId, book: &str, cost: i64| {
        format!(
            "insert into usage_rollup select '{}', 'tier', '2026-05-31T23:45:00Z', '', 'basic', false, '{book}', 3, 2, 2, 60000,
                7200000000, 2, 3, 4, 5, {cost}, 0",
            tenant.uuid()
        )
    };
    for sql in [used(server.tenant, "eur", 80_000), used(other, "eur", 50_000), used(other, "", 0)]
    {
        server.db.sql(&sql).await.unwrap();
    }
    let read = async |query: &str| {
        let path = format!("/v1/admin/costs?from=2026-05-01&to=2026-05-31{query}");
        let bearer = format!("Bearer {operator}");
        request(server.addr, "GET", &path, &[("Authorization", &bearer)], b"").await
    };
    let rows = async |query: &str| {
        let answer = read(query).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let body = answer.json();
        let row = |row: &Value| {
            json!([row["name"], row["currency"], row["cost"], row["own_cost"], row["margin"]])
        };
        let rows: Vec<_> = body["data"].as_array().unwrap().iter().map(row).collect();
        (json!(rows), body["left_out"].clone())
    };
    let main = server.db.sql("select name from tenant where name <> 'second'").await.unwrap();
    let (first, second) = (
        json!([main.trim(), "EUR", 80_000, null, null]),
        json!(["second", "EUR", 50_000, null, null]),
    );
    let (all, left_out) = rows("").await;
    assert_eq!((&all[0], &all[1], left_out), (&first, &second, json!(0)));
    assert_eq!(rows("&limit=1").await, (json!([first]), json!(2)));
    assert_eq!(
        rows("&sort=margin&cost_book=machines&limit=2").await.0,
        json!([["second", null, 0, 60_000, -60_000], ["second", "EUR", 50_000, 60_000, -10_000]])
    );
    let unpriced = json!([["second", null, 0, null, null]]);
    assert_eq!(rows("&sort=unpriced").await, (unpriced, json!(0)));
    for (query, status, code) in [
        ("&sort=age", 400, "invalid_parameter"),
        ("&limit=0", 400, "invalid_parameter"),
        ("&cost_book=nothing", 404, "not_found"),
    ] {
        let answer = read(query).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{answer:?}");
    }
    let outside = read("&from=2026-06-01").await;
    assert_eq!(outside.status, 400, "{outside:?}");
}

#[tokio::test]
async fn a_task_says_what_its_ended_attempts_cost_or_that_no_prices_held() {
    let (server, operator) = server().await;
    let task = server.noop().await;
    let cost = async |query: &str| server.get(&format!("/v1/tasks/{task}{query}")).await;
    assert_eq!(cost("?include=cost").await.json()["cost"], json!([]), "nothing has ended");
    assert_eq!(cost("").await.json().get("cost"), None);
    let wrong = cost("?include=price").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid_parameter"));
    let ended = async |number: u32, charged: bool| {
        let sql = format!(
            "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
                session_id, placed_at, ended_at, usage_ms, tolerance_ms, flexible)
            values ('{}', '{}', {number}, '{}', {charged}, 'default', 'basic', 250, 512, 1024, 50, 1, gen_random_uuid(),
                now() - interval '1 h', now(), {}, 0, false)",
            server.tenant.uuid(),
            task.trim_start_matches("task_"),
            if charged { "failed" } else { "lost" },
            if charged { 3_600_000 } else { 0 },
        );
        server.db.sql(&sql).await.unwrap();
    };
    ended(1, true).await;
    let unpriced = json!([{"currency": null, "unpriced": true, "attempts": 1, "cost": 0}]);
    assert_eq!(cost("?include=cost").await.json()["cost"], unpriced);
    let mut browser = Browser::with_key(&server, &server.key).await;
    let page = browser.page(&format!("/tasks/{task}")).await;
    assert!(page.contains("unpriced: no prices held, and nothing is billed"), "{page}");

    // A quarter of a core for an hour is 10 000, and the task 5; the tenant has always had these prices.
    let book: Value = serde_json::from_str(PRICE_BOOK).unwrap();
    assert_eq!(put(&server, &operator, "/v1/admin/price-books/eur", &book).await.status, 201);
    assert_eq!(bill_by(&server, &operator, json!({"price_book": "eur"})).await.status, 200);
    let always = format!(
        "delete from plan_billing where plan = 'default'; delete from tenant_plan;
        insert into plan_billing (plan, since, billing) values ('default', '2000-01-01', '{{\"price_book\": \"eur\"}}');
        insert into tenant_plan (tenant_id, since, plan) values ('{}', '2000-01-01', 'default')",
        server.tenant.uuid()
    );
    server.db.sql(&always).await.unwrap();
    ended(2, false).await;
    ended(3, true).await;
    let priced = json!([{"currency": "EUR", "unpriced": false, "attempts": 3, "cost": 20_005}]);
    assert_eq!(cost("?include=cost").await.json()["cost"], priced);
    let page = browser.page(&format!("/tasks/{task}")).await;
    assert!(page.contains("<dt>Cost so far</dt><dd>0.020005 EUR</dd>"), "{page}");
}
