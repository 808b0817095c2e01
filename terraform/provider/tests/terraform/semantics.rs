//! What users of providers suffer elsewhere, and not here.

use crate::server::Server;
use crate::terraform::Folder;
use serde_json::json;

pub fn drift_is_seen_and_repaired(server: &Server) {
    let folder = Folder::new(
        server,
        "drift",
        r#"
        resource "berth_schedule" "a" {
          name   = "drift"
          timing = { specs = [{ every = { every = "90s" } }] }
          task   = { run = { noop = {} } }
        }
        resource "berth_workflow" "a" {
          name       = "drift"
          definition = jsonencode({ nodes = { a = { task = { run = { noop = {} } } } } })
        }
        resource "berth_concurrency_limit" "a" {
          key     = "drift"
          running = 3
        }
        resource "berth_plan" "a" { name = "drift" }
        resource "berth_pool" "a" { name = "drift" }
        resource "berth_price_book" "a" {
          name     = "drift"
          currency = "EUR"
          prices   = [{ effective_from = "2037-01-01T00:00:00Z", tiers = { basic = { port = 7 } } }]
        }
        resource "berth_spend_cap" "a" {
          name     = "drift"
          amount   = 1000
          currency = "EUR"
          period   = "month"
        }
        "#,
    );
    folder.apply();
    folder.is_done();
    let (tenant, operator) = (server.tenant(), server.operator());
    // Changed.
    let noop = json!({"run": {"noop": {}}});
    tenant.put(
        "v1/schedules/drift",
        &json!({"timing": {"specs": [{"every": {"every": "2m"}}]}, "task": noop, "overlap": "allow"}),
    );
    tenant.put("v1/workflows/drift", &json!({"nodes": {"b": {"task": noop}}}));
    tenant.put("v1/concurrency-limits/drift", &json!({"running": 4}));
    operator.put(
        "v1/admin/pools/drift",
        &json!({"command_network": true, "max_executor": {"ports": 3}}),
    );
    let prices =
        json!({"effective_from": "2037-01-01T00:00:00Z", "tiers": {"premium": {"port": 7}}});
    operator.put("v1/admin/price-books/drift", &json!({"currency": "EUR", "prices": [prices]}));
    tenant
        .put("v1/spend-caps/drift", &json!({"amount": 1001, "currency": "EUR", "period": "month"}));
    let changes = folder.changes();
    for name in [
        "timing",
        "overlap",
        "definition",
        "running",
        "command_network",
        "max_executor",
        "prices",
        "amount",
    ] {
        assert!(changes.contains(name), "a change of {name} is not seen: {changes:?}");
    }
    folder.apply();
    folder.is_done();
    let schedule = tenant.get("v1/schedules/drift").unwrap();
    assert_eq!(schedule["timing"]["specs"][0]["every"]["every"], "1m30s");
    assert_eq!(operator.get("v1/admin/pools/drift").unwrap()["command_network"], false);
    // Deleted.
    tenant.delete("v1/schedules/drift");
    tenant.delete("v1/workflows/drift");
    tenant.delete("v1/concurrency-limits/drift");
    tenant.delete("v1/spend-caps/drift");
    operator.delete("v1/admin/plans/drift");
    operator.delete("v1/admin/price-books/drift");
    let said = folder.plan();
    assert!(said.says("Plan: 6 to add, 0 to change, 0 to destroy"), "{}", said.text);
    folder.apply();
    folder.is_done();
    folder.destroy();
}

pub fn forms_of_a_value_are_no_change(server: &Server) {
    let folder = Folder::new(
        server,
        "forms",
        r#"
        resource "berth_schedule" "a" {
          name   = "forms"
          timing = {
            specs    = [{ every = { every = "90s" } }, { at = "2037-01-01T01:00:00+01:00" }]
            start_at = "2027-01-01T00:00:00Z"
          }
          task = {
            run           = { http = { url = "https://example.com/", success = "200, 204" } }
            execution_cap = "60s"
            retry         = { initial = "1000ms", factor = 2 }
          }
        }
        resource "berth_plan" "a" {
          name   = "forms"
          weight = 0.1
        }
        resource "berth_price_book" "a" {
          name     = "forms"
          currency = "EUR"
          prices = [
            { effective_from = "2026-01-01T00:00:00+01:00", rates = { cpu_core = 40000 } },
            { effective_from = "2037-06-01T00:00:00Z", tiers = {} },
          ]
        }
        resource "berth_workflow" "a" {
          name       = "forms"
          definition = "{\"nodes\": {\"a\": {\"task\": {\"run\": {\"noop\": {}}, \"priority\": 1}}}}"
        }
        "#,
    );
    folder.apply();
    folder.is_done();
    for (from, to) in [
        (r#""90s""#, r#""1m30s""#),
        ("2037-01-01T01:00:00+01:00", "2037-01-01T00:00:00Z"),
        (r#"start_at = "2027-01-01T00:00:00Z""#, r#"start_at = "2027-01-01T02:00:00+02:00""#),
        (r#""200, 204""#, r#""200,204""#),
        (r#""60s""#, r#""1m""#),
        (r#""1000ms""#, r#""1s""#),
        ("= 0.1", "= 1e-1"),
        ("2026-01-01T00:00:00+01:00", "2025-12-31T23:00:00Z"),
        ("2037-06-01T00:00:00Z", "2037-06-01T00:00:00.000+00:00"),
        ("= 40000", "= 4e4"),
        ("tiers = {}", "rates = { port = 0 }, volume = []"),
        (
            r#""{\"nodes\": {\"a\": {\"task\": {\"run\": {\"noop\": {}}, \"priority\": 1}}}}""#,
            "jsonencode({ nodes = { a = { task = { priority = 1, run = { noop = {} } } } } })",
        ),
    ] {
        folder.replace(from, to);
        folder.is_done();
    }
    folder.destroy();
}

pub fn an_outage_or_a_refused_key_deletes_nothing(server: &Server) {
    let mut folder = Folder::new(
        server,
        "outage",
        r#"
        resource "berth_plan" "a" { name = "outage" }
        resource "berth_concurrency_limit" "a" {
          key     = "outage"
          running = 2
        }
        "#,
    );
    folder.apply();
    let state = folder.state();
    let usual = folder.environment.clone();
    for (name, value, words) in [
        // Nothing listens at port 1.
        ("BERTH_SERVER", "http://127.0.0.1:1", "does not answer"),
        ("BERTH_OPERATOR_KEY", "berthop_live_aaaaaaaaaaaa_x", "401"),
        // A server that is no Berth, with pages of its own for what it does not have.
        ("BERTH_SERVER", &format!("http://{}/elsewhere", server.address), "404"),
    ] {
        folder.environment.insert(name.to_owned(), value.to_owned());
        for command in [
            &["plan"][..],
            &["apply", "-auto-approve"],
            &["apply", "-refresh-only", "-auto-approve"],
        ] {
            let said = folder.run(command);
            assert!(said.code == 1 && said.says(words), "{name}={value}:\n{}", said.text);
            assert!(!said.says("to add"), "{}", said.text);
        }
        assert_eq!(folder.state(), state, "{name}={value} changed the state");
        folder.environment.clone_from(&usual);
    }
    folder.is_done();
    folder.destroy();
}

pub fn a_concurrent_change_is_a_readable_conflict(server: &Server) {
    let folder = Folder::new(
        server,
        "conflict",
        r#"
        resource "berth_schedule" "a" {
          name   = "conflict"
          timing = { specs = [{ every = { every = "1h" } }] }
          task   = { run = { noop = {} } }
        }
        "#,
    );
    folder.apply();
    folder.replace("1h", "2h");
    folder.must(&["plan", "-out=late.plan"]);
    let timing = json!({"specs": [{"every": {"every": "3h"}}]});
    let task = json!({"run": {"noop": {}}});
    server.tenant().put("v1/schedules/conflict", &json!({"timing": timing, "task": task}));
    let said = folder.run(&["apply", "late.plan"]);
    assert_eq!(said.code, 1, "{}", said.text);
    assert!(said.says("412 version_mismatch") && said.says("Plan again"), "{}", said.text);
    let schedule = server.tenant().get("v1/schedules/conflict").unwrap();
    assert_eq!(schedule["timing"]["specs"][0]["every"]["every"], "3h", "the other change is lost");
    folder.apply();
    folder.is_done();

    // What exists differently is not overwritten by a creation, and is taken over where it is as planned.
    let other = Folder::new(
        server,
        "conflict-2",
        &std::fs::read_to_string(folder.path.join("main.tf")).unwrap(),
    );
    other.replace("2h", "4h");
    let said = other.run(&["apply", "-auto-approve"]);
    assert!(said.code == 1 && said.says("it exists already"), "{}", said.text);
    other.replace("4h", "120m");
    other.apply();
    other.is_done();
    folder.destroy();
}

pub fn a_plan_says_what_the_api_would_refuse(server: &Server) {
    let folder = Folder::new(server, "refused", "");
    let schedule = |timing: &str, task: &str| {
        format!(
            "resource \"berth_schedule\" \"a\" {{\n  name = \"refused\"\n  timing = {{ specs = [{{ {timing} }}] }}\n  task = {{ {task} }}\n}}\n"
        )
    };
    let plan = |billing: &str| {
        format!(
            "resource \"berth_plan\" \"a\" {{\n  name = \"refused\"\n  billing = {billing}\n}}\n"
        )
    };
    let book = |currency: &str, prices: &str| {
        format!(
            "resource \"berth_price_book\" \"a\" {{\n  name = \"refused\"\n  currency = \"{currency}\"\n  prices = {prices}\n}}\n"
        )
    };
    let cap = |fields: &str| {
        format!(
            "resource \"berth_spend_cap\" \"a\" {{\n  name = \"refused\"\n  currency = \"EUR\"\n  period = \"day\"\n  {fields}\n}}\n"
        )
    };
    let webhook = |fields: &str| {
        format!("resource \"berth_webhook\" \"a\" {{\n  name = \"refused\"\n  {fields}\n}}\n")
    };
    let billing = |fields: &str| {
        format!(
            "resource \"berth_tenant_billing\" \"a\" {{\n  tenant = \"tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071\"\n  {fields}\n}}\n"
        )
    };
    let first = "{ effective_from = \"2037-01-01T00:00:00Z\" }";
    let noop = "run = { noop = {} }";
    for (configuration, words) in [
        (schedule("cron = \"@dayly\"", noop), "/timing/specs/0/cron"),
        (schedule("every = { every = \"soon\" }", noop), "expected a duration"),
        (schedule("cron = \"@daily\"", "run = { noop = {} }, pool = \"nowhere\""), "/task/pool"),
        (
            "resource \"berth_plan\" \"a\" {\n  name = \"refused\"\n  running_tasks = 0\n}\n".to_owned(),
            "/running_tasks",
        ),
        (plan("{ price_book = \"eur\", minimum = 1e16 }"), "/billing/minimum"),
        (plan("{ price_book = \"eur\", minimum = 0.5 }"), "/billing/minimum: must be a whole number"),
        (plan("{ price_book = \"EUR\" }"), "/billing/price_book: expected 1 to 63 of a-z"),
        (book("EURO", "[]"), "is no currency"),
        (book("EUR", "[]"), "/prices: must have 1 to 240 items"),
        (book("EUR", &format!("[{first}, {first}]")), "/prices/1/effective_from"),
        (book("EUR", "[{ effective_from = \"soon\" }]"), "must be a time"),
        (
            book("EUR", &format!("[merge({first}, {{ tiers = {{ huge = {{}} }} }})]")),
            "/prices/0/tiers/huge: must be one of basic, regular, premium",
        ),
        (cap("amount = 0.5"), "/amount: must be a whole number"),
        (cap("amount = 1\n  zone = \"Berlin\""), "/zone: must be the name of a time zone"),
        (
            cap("amount = 1\n  schedule = \"a\"\n  label = { key = \"a\", value = \"b\" }"),
            "/schedule: must not be together with `label`",
        ),
        (cap("amount = 1\n  label = { key = \"\", value = \"b\" }"), "/label/key: must have"),
        (webhook("url = \"ftp://a.example\""), "/url"),
        (webhook("url = \"https://a.example\"\n  payload = \"[1]\""), "must be a JSON object"),
        (billing("zone = \"Berlin\""), "is no time zone"),
        (billing("customer = \"\""), "must be 1 to 255 visible characters"),
        (
            "resource \"berth_workflow\" \"a\" {\n  name = \"refused\"\n  definition = jsonencode({ nodes = { a = { after = [\"b\"] } } })\n}\n"
                .to_owned(),
            "/nodes/a",
        ),
    ] {
        folder.configure(&configuration);
        let said = folder.plan();
        assert!(said.code == 1 && said.says(words), "{configuration}\n{}", said.text);
        assert!(said.says("on main.tf line"), "no place is named:\n{}", said.text);
    }
    // What is not known yet is no mistake.
    folder.configure(&format!(
        "resource \"terraform_data\" \"zone\" {{ input = \"Europe/Berlin\" }}\n{}",
        schedule("cron = \"@daily\"", noop)
            .replace("timing = {", "timing = { zone = terraform_data.zone.output,")
    ));
    folder.apply();
    folder.is_done();
    folder.destroy();
}

pub fn a_protected_tenant_stays(server: &Server) {
    let folder = Folder::new(
        server,
        "protected",
        "resource \"berth_tenant\" \"a\" {\n  name = \"Protected\"\n}\n",
    );
    folder.apply();
    let said = folder.run(&["destroy", "-auto-approve"]);
    assert!(said.code == 1 && said.says("is protected"), "{}", said.text);
    folder.replace("\"Protected\"", "\"Renamed\"");
    let said = folder.plan();
    assert!(said.code == 1 && said.says("is protected"), "{}", said.text);
    folder.replace("\"Renamed\"", "\"Protected\"\n  deletion_protection = false");
    folder.apply();
    folder.destroy();
}
