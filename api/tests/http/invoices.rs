//! Invoices as tenants and operators see them, credits, and the export of usage.

use crate::client::{Answer, request};
use crate::server::{ALL_SCOPES, Server};
use domain::id::TenantId;
use serde_json::{Value, json};

async fn ask(server: &Server, key: &str, verb: &str, path: &str, body: Value) -> Answer {
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    request(server.addr, verb, path, &headers, body.as_bytes()).await
}

async fn with_accept(server: &Server, path: &str, accept: &str) -> Answer {
    let bearer = format!("Bearer {}", server.key);
    let headers = [("Authorization", bearer.as_str()), ("Accept", accept)];
    request(server.addr, "GET", path, &headers, b"").await
}

/// Attempts of tasks of the tier `basic` that ended now, of a second each: the first of `tasks` tasks, and the second of one of them.
async fn attempts(server: &Server, tenant: TenantId, tasks: u32) {
    let sql = format!(
        "insert into attempt (tenant_id, task_id, attempt, outcome, charged, pool, tier, cpu_millis, memory_mib, disk_mib, iops, ports,
            session_id, placed_at, ended_at, usage_ms, tolerance_ms, flexible)
        select '{}', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, a, 'succeeded', true, 'default', 'basic', 250, 512, 1024,
            50, 1, gen_random_uuid(), now() - interval '1 s', now(), 1000, 0, false
        from generate_series(1, {tasks}) n, generate_series(1, 2) a where a = 1 or n = 1",
        tenant.uuid()
    );
    server.db.sql(&sql).await.unwrap();
}

/// What has committed until now is counted.
async fn counted(server: &Server) {
    let sql = "update event_cursor set seq = -1, at = now(), txid = pg_current_xact_id()::text::bigint where consumer = 'usage'";
    server.db.sql(sql).await.unwrap();
}

#[tokio::test]
async fn an_invoice_is_json_csv_or_pdf_and_nobody_elses() {
    let server = Server::start().await;
    let number = server.invoice(server.tenant).await;
    let list = server.get("/v1/invoices").await.json();
    assert_eq!(list["data"][0]["number"], json!(number), "{list}");
    assert_eq!(list["next_cursor"], Value::Null);
    let path = format!("/v1/invoices/{number}");
    let invoice = server.get(&path).await.json();
    assert_eq!((&invoice["state"], &invoice["total"]), (&json!("final"), &json!(2_000_000)));
    assert_eq!(invoice["lines"][0]["tier"], "basic");
    for csv in [
        server.get(&format!("{path}?format=csv")).await,
        with_accept(&server, &path, "text/csv").await,
    ] {
        assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
        let name = format!("attachment; filename=\"invoice-{number}.csv\"");
        assert_eq!(csv.header("content-disposition"), Some(name.as_str()));
        let text = String::from_utf8(csv.body.to_vec()).unwrap();
        assert!(
            text.contains(&format!("{number},1,attempts,attempts,basic,2,,1.00,EUR\r\n")),
            "{text}"
        );
        assert!(text.ends_with(&format!("{number},,total,Total,,,,2.00,EUR\r\n")), "{text}");
    }
    for pdf in [
        server.get(&format!("{path}?format=pdf")).await,
        with_accept(&server, &path, "application/pdf").await,
    ] {
        assert_eq!(pdf.header("content-type"), Some("application/pdf"));
        assert!(pdf.body.starts_with(b"%PDF-") && pdf.body.len() > 1000);
    }
    let both = with_accept(&server, &format!("{path}?format=json"), "application/pdf").await;
    assert_eq!(both.header("content-type"), Some("application/json"), "the parameter goes first");
    // Another tenant has none of this number, as of no other.
    let other = server.new_tenant("second").await;
    let key = server.new_key(other, &ALL_SCOPES).await;
    for path in [&path, "/v1/invoices/2000-02-0009", "/v1/invoices/2000-02-EUR"] {
        assert_eq!(server.get_as(&key, path).await.code(), "not_found", "{path}");
        let attempts = format!("{path}/lines/1/attempts");
        assert_eq!(server.get_as(&key, &attempts).await.code(), "not_found", "{path}");
    }
    for wrong in ["/v1/invoices/7", "/v1/invoices/2030-13-0001", "/v1/invoices/2030-01-1"] {
        assert_eq!(server.get(wrong).await.pointers(), ["path:number"], "{wrong}");
    }
    let submit = server.new_key(server.tenant, &["submit"]).await;
    assert_eq!(server.get_as(&submit, &path).await.code(), "scope_missing");
}

#[tokio::test]
async fn the_attempts_of_a_line_are_paged_with_their_cost() {
    let server = Server::start().await;
    let number = server.invoice(server.tenant).await;
    attempts(&server, server.tenant, 5).await;
    let read = async |line: u32, limit: u32| {
        let path = format!("/v1/invoices/{number}/lines/{line}/attempts?limit={limit}");
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = server.get(&format!("{path}{cursor}")).await.json();
            rows.extend(page["data"].as_array().unwrap().clone());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return rows,
            }
        }
    };
    // A second of basic: a quarter of a core, at 40 000 an hour, is 2.78.
    for limit in [1, 4, 200] {
        let rows = read(1, limit).await;
        assert_eq!(rows.len(), 6, "{limit}");
        assert!(rows.iter().all(|row| row["cost"] == 3), "{rows:?}");
        let tasks = read(2, limit).await;
        assert!(tasks.iter().all(|row| row["cost"] == 5 && row["attempt"] == 1), "{tasks:?}");
        assert_eq!(tasks.len(), 5);
    }
    let path = format!("/v1/invoices/{number}/lines");
    assert_eq!(server.get(&format!("{path}/3/attempts")).await.code(), "not_found");
    assert_eq!(server.get(&format!("{path}/x/attempts")).await.pointers(), ["path:line"]);
}

#[tokio::test]
async fn operators_say_how_a_tenant_is_billed_and_what_is_wrong_is_said_by_pointer() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let path = format!("/v1/admin/tenants/{}/billing", server.tenant);
    let before = ask(&server, &operator, "GET", &path, Value::Null).await.json();
    assert_eq!((&before["zone"], &before["address"]), (&json!("UTC"), &Value::Null));
    let put =
        json!({"zone": "europe/berlin", "customer": "cus_1", "address": "Hafenstr. 1\nHamburg"});
    let after = ask(&server, &operator, "PUT", &path, put).await;
    assert_eq!((after.status, &after.json()["zone"]), (200, &json!("Europe/Berlin")), "{after:?}");
    assert_eq!(after.json()["starts_at"], before["starts_at"], "the month began as it did");
    assert_ne!(after.json()["ends_at"], before["ends_at"]);
    for (wrong, pointer) in [
        (json!({"zone": "Berlin"}), "/zone"),
        (json!({"customer": ""}), "/customer"),
        (json!({"customer": "a\nb"}), "/customer"),
        (json!({"address": "x".repeat(1001)}), "/address"),
        (json!({"vat": "DE1"}), "/vat"),
    ] {
        let answer = ask(&server, &operator, "PUT", &path, wrong).await;
        assert_eq!((answer.status, answer.pointers()), (422, vec![pointer.to_owned()]));
    }
    assert_eq!(ask(&server, &operator, "GET", &path, Value::Null).await.json(), after.json());
    let credits = format!("/v1/admin/tenants/{}/credits", server.tenant);
    let good = json!({"key": "k", "currency": "EUR", "amount": -1_000_000, "reason": "outage"});
    for (field, value, pointer) in [
        ("key", json!("a:b"), "/key"),
        ("key", json!(""), "/key"),
        ("currency", json!("EURO"), "/currency"),
        ("amount", json!(0), "/amount"),
        ("amount", json!(i64::MIN), "/amount"),
        ("amount", json!(0.5), "/amount"),
        ("reason", json!(" "), "/reason"),
        ("invoice", json!("7"), "/invoice"),
        ("invoice", json!("2030-01-0001"), "/invoice"),
        ("refund", json!(true), "/invoice"),
    ] {
        let mut credit = good.clone();
        credit[field] = value;
        let answer = ask(&server, &operator, "POST", &credits, credit).await;
        assert_eq!(
            (answer.status, answer.pointers()),
            (422, vec![pointer.to_owned()]),
            "{answer:?}"
        );
    }
    assert_eq!(server.db.sql("select count(*) from credit").await.unwrap().trim(), "0");
}

#[tokio::test]
async fn a_draft_becomes_final_is_paid_and_refunded_by_operators() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read", "admin"]).await;
    let own = format!("/v1/admin/tenants/{}", server.tenant);
    let draft = server.draft(server.tenant).await;
    let act = async |number: &str, verb: &str| {
        let path = format!("{own}/invoices/{number}/{verb}");
        ask(&server, &operator, "POST", &path, Value::Null).await
    };
    let credit =
        async |body: Value| ask(&server, &operator, "POST", &format!("{own}/credits"), body).await;
    let shown = server.get(&format!("/v1/invoices/{draft}")).await.json();
    assert_eq!((&shown["state"], &shown["total"]), (&json!("draft"), &json!(1_000_000)));
    let outage =
        json!({"key": "outage", "currency": "EUR", "amount": -250_000, "reason": "An outage"});
    assert_eq!(credit(outage.clone()).await.status, 201);
    assert_eq!(credit(outage).await.status, 200);
    assert_eq!(act(&draft, "pay").await.code(), "not_found", "a draft is not paid");
    let made = act(&draft, "finalize").await.json();
    let number = made["number"].as_str().unwrap();
    assert_eq!((number, &made["total"]), ("2020-01-0001", &json!(750_000)), "{made}");
    assert_eq!(made["lines"][1]["credit"], "outage");
    let refund = json!({"key": "r", "refund": true, "currency": "EUR", "amount": -750_001, "reason": "r", "invoice": number});
    assert_eq!(credit(refund.clone()).await.pointers(), ["/invoice"], "it is not paid");
    assert_eq!(act(number, "pay").await.json()["state"], "paid");
    let much = credit(refund.clone()).await;
    assert_eq!(much.pointers(), ["/amount"]);
    assert!(much.json().to_string().contains("at least -750000"), "{much:?}");
    let mut whole = refund;
    whole["amount"] = json!(-750_000);
    assert_eq!(credit(whole).await.status, 201);
    let theirs = server.get(&format!("/v1/invoices/{number}")).await.json();
    assert_eq!((&theirs["total"], &theirs["refunded"]), (&json!(750_000), &json!(750_000)));
    assert_eq!(act(number, "void").await.code(), "conflict");
    let all = ask(&server, &operator, "GET", &format!("{own}/invoices"), Value::Null).await.json();
    assert_eq!(all["data"].as_array().unwrap().last().unwrap()["state"], "paid");
    let listed =
        ask(&server, &operator, "GET", &format!("{own}/credits"), Value::Null).await.json();
    let kinds: Vec<_> = listed["data"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert_eq!(kinds, ["refund", "credit"]);
    let pdf = format!("{own}/invoices/{number}?format=pdf");
    assert!(ask(&server, &operator, "GET", &pdf, Value::Null).await.body.starts_with(b"%PDF-"));
    // The present month is not over.
    server.db.sql("delete from tenant_billing").await.unwrap();
    let usage = "insert into usage_rollup select tenant_id, kind, date_trunc('hour', now()), key, value, others, price_book, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 5000000, 0 from usage_rollup limit 1";
    server.db.sql(usage).await.unwrap();
    let present = server.get("/v1/invoices").await.json()["data"][0]["number"].clone();
    let early = act(present.as_str().unwrap(), "finalize").await;
    assert_eq!(early.code(), "conflict", "{early:?}");
    let none = act("2019-01-EUR", "finalize").await.json();
    assert_eq!(none["detail"], "There is no draft `2019-01-EUR`.");
}

#[tokio::test]
async fn each_charged_attempt_is_exported_once_as_the_cursor_goes_on() {
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read"]).await;
    server.invoice(server.tenant).await;
    let read = async |query: &str| {
        let path = format!("/v1/admin/usage-events?{query}");
        let answer = ask(&server, &operator, "GET", &path, Value::Null).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        let events: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (events, answer.header("next-cursor").unwrap().to_owned())
    };
    counted(&server).await;
    let (none, begin) = read("").await;
    assert_eq!(none, Vec::<Value>::new());
    // Of a plan without prices: no page is empty because of them.
    let free = server.new_tenant("free").await;
    let unpriced =
        format!("update tenant_plan set plan = 'free' where tenant_id = '{}'", free.uuid());
    server.db.sql(&unpriced).await.unwrap();
    attempts(&server, free, 9).await;
    attempts(&server, server.tenant, 6).await;
    assert_eq!(read(&format!("cursor={begin}")).await.0.len(), 0, "not counted yet");
    counted(&server).await;
    let (mut ids, mut cost, mut cursor) = (Vec::new(), 0, begin.clone());
    for wanted in [3, 3, 1, 0] {
        let (events, next) = read(&format!("limit=3&cursor={cursor}")).await;
        assert_eq!(events.len(), wanted);
        for event in events {
            assert_eq!(
                (&event["specversion"], &event["type"]),
                (&json!("1.0"), &json!("berth.attempt"))
            );
            assert_eq!(event["subject"], json!(server.tenant.to_string()));
            cost += event["data"]["cost_micros"].as_str().unwrap().parse::<i64>().unwrap();
            ids.push(event["id"].as_str().unwrap().to_owned());
        }
        cursor = next;
    }
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((once.len(), cost), (7, 7 * 3 + 6 * 5));
    let (meters, _) = read(&format!("format=stripe&cursor={begin}")).await;
    assert_eq!(meters.len(), 7);
    assert_eq!(meters[0]["event_name"], "berth_cost_micros_eur");
    assert_eq!(
        meters[0]["payload"],
        json!({"stripe_customer_id": server.tenant.to_string(), "value": "8"})
    );
    let same: Vec<_> = meters.iter().map(|meter| meter["identifier"].as_str().unwrap()).collect();
    assert_eq!(same, ids, "in the same order");
    let made_up =
        ask(&server, &operator, "GET", "/v1/admin/usage-events?cursor=bWFkZQ", Value::Null).await;
    assert_eq!(made_up.code(), "invalid_cursor");
}

/// Reads lines of CloudEvents with the SDK of PyPI, and says how many there are, and their ids' number.
const READER: &str = "
import json, sys
from cloudevents.http import from_json
events = [from_json(line) for line in sys.stdin if line.strip()]
assert all(e['specversion'] == '1.0' and e['type'] in ('berth.attempt', 'berth.stored') and e['time'] and e['source'] for e in events)
assert all(int(e.data['cost_micros']) >= 0 and e['subject'].startswith('tenant_') for e in events)
print(len(events), len({e['id'] for e in events}))
";

/// Reads lines of meter events by the types of Stripe's SDK of PyPI, strictly, and says how many there are, and their ids' number.
const METER_READER: &str = "
import sys, typing
from pydantic import TypeAdapter
from stripe.params.billing import MeterEventCreateParams as Params
from typing_extensions import TypedDict
# They are for type checkers: what they name is resolved here.
names = {**vars(typing), **vars(sys.modules[Params.__module__]), 'StripeContext': str}
Event = TypedDict('Event', typing.get_type_hints(Params, names, include_extras=True))
Event.__pydantic_config__ = {'arbitrary_types_allowed': True, 'extra': 'forbid'}
event = TypeAdapter(Event)
events = [event.validate_json(line, strict=True) for line in sys.stdin if line.strip()]
assert all(set(e['payload']) == {'stripe_customer_id', 'value'} and int(e['payload']['value']) >= 0 for e in events)
print(len(events), len({e['identifier'] for e in events}))
";

#[tokio::test]
async fn the_sdks_of_cloudevents_and_stripe_read_the_export() {
    let folder = tempfile::tempdir().unwrap();
    let venv = folder.path().join("venv");
    let python = venv.join("bin/python");
    let run = |program: &std::path::Path, arguments: &[&str]| {
        let done = std::process::Command::new(program).args(arguments).output();
        done.is_ok_and(|done| done.status.success())
    };
    let installed = run("python3".as_ref(), &["-m", "venv", venv.to_str().unwrap()])
        && run(
            &python,
            &[
                "-m",
                "pip",
                "install",
                "--quiet",
                "cloudevents==1.12.0",
                "stripe==16.1.0",
                "pydantic==2.14.4",
            ],
        );
    if !installed {
        println!("SKIPPED: no Python 3 with venv, or PyPI cannot be reached");
        return;
    }
    let server = Server::start().await;
    let operator = server.new_operator("ann", &["read"]).await;
    server.invoice(server.tenant).await;
    attempts(&server, server.tenant, 20).await;
    counted(&server).await;
    // Also a day of stored output.
    let stored = "update price_book set document = jsonb_set(document, '{prices,0,each,stored_gib_month}', '70000');
        insert into stored_day (tenant_id, day, bytes)
            select t.tenant_id, (now() at time zone 'UTC')::date, 12345678901 from tenant_plan t limit 1";
    server.db.sql(stored).await.unwrap();
    counted(&server).await;
    for (query, reader) in [("", READER), ("?format=stripe", METER_READER)] {
        let path = format!("/v1/admin/usage-events{query}");
        let answer = ask(&server, &operator, "GET", &path, Value::Null).await;
        let lines = folder.path().join("events.ndjson");
        std::fs::write(&lines, &answer.body).unwrap();
        let read = std::process::Command::new(&python)
            .args(["-c", reader])
            .stdin(std::fs::File::open(&lines).unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&read.stdout).into_owned();
        assert_eq!(said.trim(), "22 22", "{query}: {}", String::from_utf8_lossy(&read.stderr));
    }
}
