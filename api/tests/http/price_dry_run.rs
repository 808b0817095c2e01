//! What past use would have cost by other prices.

use crate::client::{Answer, request};
use crate::matrix::PLAN;
use crate::server::Server;
use serde_json::{Value, json};

async fn ask(server: &Server, (operator, verb): (&str, &str), path: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {operator}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(server.addr, verb, path, &headers, body.to_string().as_bytes()).await
}

/// A server whose two tenants have the same prices, and the key of an operator who may only read.
async fn server() -> (Server, domain::id::TenantId, String) {
    let server = Server::start().await;
    let other = server.new_tenant("second").await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let book = json!({"currency": "EUR", "prices": [
        {"effective_from": "2020-01-01T00:00:00Z", "rates": {"cpu_core": 40_000}, "each": {"task": 10}}]});
    let put = (operator.as_str(), "PUT");
    assert_eq!(ask(&server, put, "/v1/admin/price-books/eur", &book).await.status, 201);
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    plan["billing"] = json!({"price_book": "eur", "included": {"tasks": 2}});
    assert_eq!(ask(&server, put, "/v1/admin/plans/default", &plan).await.status, 200);
    let earlier = "update plan_billing set since = since - interval '99 days'; update tenant_plan set since = since - interval '99 days'";
    server.db.sql(earlier).await.unwrap();
    let reader = server.new_operator("eve", &["read"]).await;
    (server, other, reader)
}

/// The new prices, which begin long after what was used.
fn book() -> Value {
    json!({"currency": "EUR", "prices": [
        {"effective_from": "2019-01-01T00:00:00Z", "rates": {"cpu_core": 1}},
        {"effective_from": "2120-01-01T00:00:00Z", "rates": {"cpu_core": 50_000}, "tiers": {"premium": {"cpu_core": 60_000}},
            "each": {"task": 20}, "discounts": {"tolerance": [{"at_least_s": 3600, "percent": 10}], "flexible_percent": 50},
            "volume": [{"above": 50_000, "percent": 10}]}]})
}

/// An hour on these cores that ended today.
async fn attempt(
    server: &Server,
    tenant: domain::id::TenantId,
    (number, tier, cores): (i32, &str, i32),
    (tolerance_s, flexible): (i32, bool),
) {
    let sql = format!(
        "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
            session_id, placed_at, ended_at, usage_ms, tolerance_ms, flexible)
        values ('{}', gen_random_uuid(), {number}, 'succeeded', true, 'default', '{tier}', {cores} * 1000, 1, 1, 1, 1,
            gen_random_uuid(), date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' - interval '1 hour',
            date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 3600000,
            {tolerance_s} * 1000, {flexible})",
        tenant.uuid()
    );
    server.db.sql(&sql).await.unwrap();
}

#[tokio::test]
async fn a_month_is_priced_by_its_attempts_for_each_tenant_to_the_last_micro_unit() {
    let (server, other, reader) = server().await;
    attempt(&server, server.tenant, (1, "basic", 1), (0, false)).await;
    attempt(&server, server.tenant, (2, "basic", 1), (0, true)).await;
    attempt(&server, other, (1, "premium", 2), (7200, false)).await;
    let month = server.db.sql("select to_char(now() at time zone 'UTC', 'YYYY-MM')").await.unwrap();
    let path = format!("/v1/admin/price-dry-runs?month={}", month.trim());
    let stored = "select string_agg(md5(b::text), ' ') from price_book b";
    let before = server.db.sql(stored).await.unwrap();
    let run = async |query: &str, book: &Value| {
        ask(&server, (&reader, "POST"), &format!("{path}{query}"), book).await
    };
    let all = run("", &book()).await;
    assert_eq!(all.status, 200, "{all:?}");
    let all = all.json();
    let bill = |charges: i64, included: i64, volume: i64, total: i64| json!({"charges": charges, "included": included, "volume": volume, "minimum": 0, "total": total});
    // Half of an hour is given to whoever is flexible; of the sum, less the task, what is above 50 000 is a tenth cheaper.
    let first = json!({"tenant": server.tenant, "name": all["data"][1]["name"], "plan": "default", "charged_attempts": 2,
        "elsewhere_attempts": 0, "tasks": 1, "before": bill(80_010, -10, 0, 80_000),
        "after": bill(75_020, -20, -2500, 72_500), "change": -7500});
    let second = json!({"tenant": other, "name": "second", "plan": "default", "charged_attempts": 1,
        "elsewhere_attempts": 0, "tasks": 1, "before": bill(80_010, -10, 0, 80_000),
        "after": bill(108_020, -20, -5800, 102_200), "change": 22_200});
    assert_eq!(all["data"], json!([second, first]));
    assert_eq!(
        (&all["before"], &all["after"], &all["left_out"]),
        (&json!(160_000), &json!(174_700), &json!(0))
    );
    assert_eq!(server.db.sql(stored).await.unwrap(), before, "nothing is stored");

    let one = run(&format!("&tenant={other}"), &book()).await.json();
    assert_eq!((&one["data"], &one["after"]), (&json!([second]), &json!(102_200)));
    let of_book = run("&price_book=eur&limit=1", &book()).await.json();
    assert_eq!((&of_book["data"], &of_book["left_out"]), (&json!([second]), &json!(1)));
    assert_eq!(of_book["after"], json!(174_700), "of all rows");
    // In another currency: nothing of it was priced so, and what the plan includes is of another.
    let mut dollars = book();
    dollars["currency"] = json!("USD");
    let dollars = run(&format!("&tenant={other}"), &dollars).await.json();
    let row = &dollars["data"][0];
    assert_eq!((&row["elsewhere_attempts"], &row["before"]["total"]), (&json!(1), &json!(0)));
    assert_eq!((&row["after"]["charges"], &row["after"]["included"]), (&json!(108_020), &json!(0)));
}

#[tokio::test]
async fn days_whose_attempts_have_gone_are_priced_by_their_sums_without_discounts() {
    let (server, other, reader) = server().await;
    let sums = format!(
        "insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms,
            cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost)
        select '{}', 'tier', date_trunc('month', date_trunc('month', now() at time zone 'UTC') - interval '1 day') at time zone 'UTC', '',
            value, book, 3, 2, 1, 7200000, 7200000000, 0, 0, 0, 0, cost, 10
        from (values ('premium', 'eur', 80000), ('basic', '', 0)) v(value, book, cost)",
        other.uuid()
    );
    server.db.sql(&sums).await.unwrap();
    let run = ask(&server, (&reader, "POST"), "/v1/admin/price-dry-runs", &book()).await;
    assert_eq!(run.status, 200, "{run:?}");
    let run = run.json();
    assert!(run["exact_from"].as_str() > run["from"].as_str(), "{run}");
    let row = &run["data"][0];
    assert_eq!(
        (&row["charged_attempts"], &row["elsewhere_attempts"], &row["tasks"]),
        (&json!(4), &json!(2), &json!(2))
    );
    assert_eq!(row["before"]["charges"], json!(80_010));
    assert_eq!(row["after"]["charges"], json!(120_000 + 100_000 + 40));
}

#[tokio::test]
async fn what_cannot_be_priced_is_refused_and_says_what_to_do() {
    let (server, other, reader) = server().await;
    let run = async |query: &str, book: &Value| {
        let path = format!("/v1/admin/price-dry-runs{query}");
        ask(&server, (&reader, "POST"), &path, book).await
    };
    for (query, status, code) in [
        ("?month=2120-01", 400, "invalid_parameter"),
        ("?month=lately", 400, "invalid_parameter"),
        ("?limit=0", 400, "invalid_parameter"),
        ("?tenant=x", 400, "invalid_parameter"),
        ("?what=x", 400, "invalid_parameter"),
        ("?price_book=nothing", 404, "not_found"),
        ("?tenant=tenant_01890000000070008000000000000000", 404, "not_found"),
    ] {
        let answer = run(query, &book()).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{query}: {answer:?}");
    }
    let mut wrong = book();
    wrong["prices"][1]["rates"]["cpu_core"] = json!(-1);
    let refused = run("", &wrong).await;
    assert_eq!(
        (refused.status, refused.pointers()),
        (422, vec!["/prices/1/rates/cpu_core".to_owned()])
    );
    let many = format!(
        "insert into usage_rollup (tenant_id, kind, starts_at, key, value, price_book, attempts, charged_attempts, tasks, run_ms,
            cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost)
        select '{}', 'tier', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', '', 'basic', 'eur', 3000001, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1",
        other.uuid()
    );
    server.db.sql(&many).await.unwrap();
    let month = server.db.sql("select to_char(now() at time zone 'UTC', 'YYYY-MM')").await.unwrap();
    let month = format!("?month={}", month.trim());
    let refused = run(&month, &book()).await;
    assert_eq!((refused.status, refused.pointers()), (400, vec!["query:month".to_owned()]));
    let text = refused.json().to_string();
    assert!(text.contains("3000001 attempts") && text.contains("`tenant`"), "{text}");
    let mine = run(&format!("{month}&tenant={}", server.tenant), &book()).await;
    assert_eq!((mine.status, mine.json()["data"].clone()), (200, json!([])));
}
