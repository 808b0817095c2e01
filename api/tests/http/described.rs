//! The document against the server: parameters, headers, answers. Each test walks the whole document, so that no route is forgotten.

use crate::client::{Answer, request};
use crate::matrix::{PLAN, PRICE_BOOK, SPEND_CAP, WEBHOOK};
use crate::server::{ALL_SCOPES, Server};
use api::routes::table::{Access, Endpoint, TABLE, Verb};
use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The document, as it is served.
struct Document(Value);

impl Document {
    async fn read(server: &Server) -> Self {
        Self(request(server.addr, "GET", "/openapi.json", &[], b"").await.json())
    }

    fn operation(&self, endpoint: &Endpoint) -> &Value {
        &self.0["paths"][endpoint.path][endpoint.verb.as_str().to_lowercase()]
    }

    /// What a reference stands for; what is none stands for itself.
    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(to) => self.0.pointer(to.trim_start_matches('#')).expect("what is referred to"),
            None => value,
        }
    }

    fn validator(&self, schema: &Value) -> Validator {
        let components = json!({"schemas": self.0["components"]["schemas"]});
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        let whole = json!({"allOf": [schema], "components": components});
        compiler.add_resource("urn:berth:document", whole).unwrap();
        let index = compiler.compile("urn:berth:document", &mut schemas).unwrap();
        Validator { schemas, index }
    }

    /// Parameters of an operation that are in this place, with what they may be.
    fn parameters(&self, endpoint: &Endpoint, place: &str) -> Vec<(String, Value)> {
        let all = self.operation(endpoint)["parameters"].as_array().cloned().unwrap_or_default();
        let here = all.into_iter().filter(|parameter| parameter["in"] == place);
        let named = |parameter: Value| {
            (parameter["name"].as_str().unwrap().to_owned(), parameter["schema"].clone())
        };
        here.map(named).collect()
    }
}

/// A schema of the document, to hold values against.
struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    /// What is wrong with a value.
    fn faults(&self, value: &Value) -> Option<String> {
        self.schemas.validate(value, self.index).err().map(|error| format!("{error:#}"))
    }
}

/// Texts that a schema allows, at its bounds; none where it is any text.
fn good(document: &Document, schema: &Value) -> Vec<String> {
    let schema = document.resolved(schema);
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("array"), _) => match schema["items"]["pattern"].as_str() {
            Some("=") => vec!["team=media".to_owned(), "team!=media".to_owned()],
            _ => good(document, &schema["items"]),
        },
        (Some("integer"), _) => {
            vec![schema["minimum"].to_string(), schema["maximum"].to_string()]
        }
        (Some("string"), None) if of_groups(schema) => {
            ["tier", "schedule", "workflow", "label:team"].map(str::to_owned).to_vec()
        }
        (Some("boolean"), _) => vec!["false".to_owned()],
        (Some("string"), Some("date-time")) => vec!["2030-01-31T12:00:00Z".to_owned()],
        (Some("string"), Some("date")) => vec!["2030-01-31".to_owned()],
        _ => Vec::new(),
    }
}

/// Whether it is by what costs are apart.
fn of_groups(schema: &Value) -> bool {
    schema["pattern"].as_str().is_some_and(|pattern| pattern.contains("label:"))
}

/// Texts that it does not allow; none where it is any text.
fn bad(document: &Document, schema: &Value) -> Vec<String> {
    let schema = document.resolved(schema);
    match (schema["type"].as_str(), schema["format"].as_str()) {
        _ if schema["enum"].is_array() => vec!["nonesuch".to_owned()],
        (Some("array"), _) if schema["items"]["pattern"] == "=" => vec!["team".to_owned()],
        (Some("array"), _) => bad(document, &schema["items"]),
        (Some("integer"), _) => {
            let (least, most) = (&schema["minimum"], &schema["maximum"]);
            let (least, most) = (least.as_i64().unwrap(), most.as_i64().unwrap());
            vec![(least - 1).to_string(), (most + 1).to_string(), "some".to_owned()]
        }
        (Some("string"), None) if of_groups(schema) => {
            ["team", "label:", "tiers"].map(str::to_owned).to_vec()
        }
        (Some("boolean"), _) => vec!["maybe".to_owned()],
        (Some("string"), Some("date-time" | "date")) => vec!["yesterday".to_owned()],
        _ => Vec::new(),
    }
}

/// Who may call a route.
struct Credentials {
    tenants: String,
    operators: String,
}

impl Credentials {
    async fn new(server: &Server) -> Self {
        let tenants = server.new_key(server.tenant, &ALL_SCOPES).await;
        Self { tenants, operators: server.new_operator("all", &["read", "admin", "report"]).await }
    }

    fn of(&self, endpoint: &Endpoint) -> Option<&str> {
        match endpoint.access {
            Access::Open(_) | Access::SignIn(_) => None,
            Access::Tenant(..) => Some(&self.tenants),
            Access::Operator(..) => Some(&self.operators),
        }
    }
}

/// Calls a route with this credential, and these headers besides.
async fn call(
    server: &Server,
    (verb, target): (&str, &str),
    credential: Option<&str>,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let bearer = credential.map(|credential| format!("Bearer {credential}"));
    let mut all: Vec<(&str, &str)> = headers.to_vec();
    all.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
    if !body.is_empty() {
        all.push(("Content-Type", "application/json"));
    }
    request(server.addr, verb, target, &all, body.as_bytes()).await
}

#[tokio::test]
async fn each_query_parameter_may_be_what_the_document_says_and_nothing_else() {
    let server = Server::start().await;
    let (document, credentials) = (Document::read(&server).await, Credentials::new(&server).await);
    let (mut taken, mut refused) = (0, 0);
    for endpoint in TABLE.iter().filter(|endpoint| endpoint.verb == Verb::Get) {
        let parameters = document.parameters(endpoint, "query");
        if parameters.is_empty() {
            continue;
        }
        let target = server.filled(endpoint.path).await;
        let ask = async |name: &str, value: &str| {
            let value = value.replace('=', "%3D");
            let target = format!("{target}?{name}={value}");
            call(&server, ("GET", &target), credentials.of(endpoint), &[], "").await
        };
        for (name, schema) in parameters {
            for value in good(&document, &schema) {
                let answer = ask(&name, &value).await;
                assert_eq!(answer.status, 200, "{endpoint:?} {name}={value}: {answer:?}");
                taken += 1;
            }
            for value in bad(&document, &schema) {
                let answer = ask(&name, &value).await;
                let what = (answer.status, answer.pointers());
                assert_eq!(what, (400, vec![format!("query:{name}")]), "{endpoint:?} {value}");
                refused += 1;
            }
        }
    }
    assert!(taken > 60 && refused > 40, "{taken} {refused}");
}

/// Values of a header that its pattern allows, and some that it does not.
fn of_header(name: &str) -> (Vec<String>, Vec<String>) {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    match name {
        // A version that nothing has, so that nothing is stored.
        "If-Match" => {
            let bad = ["3", "\"0\"", "\"03\"", "W/\"3\"", "*", "\"3\", \"4\"", "\"-1\""];
            (texts(&["\"9000\""]), texts(&bad))
        }
        "If-None-Match" => (texts(&["*"]), texts(&["\"3\"", "**"])),
        "Idempotency-Key" => {
            let (longest, too_long) = ("k".repeat(200), "k".repeat(201));
            (texts(&["!", "~a:/\"1\"", &longest]), texts(&["a b", "\u{e9}", &too_long]))
        }
        // A stream is not read to its end here; `live` holds what it does with the header.
        "Last-Event-ID" => (Vec::new(), Vec::new()),
        other => panic!("nothing is known of {other}: a new header needs its own values here"),
    }
}

#[tokio::test]
async fn each_header_may_be_what_the_document_says_and_nothing_else() {
    let server = Server::start().await;
    let (document, credentials) = (Document::read(&server).await, Credentials::new(&server).await);
    let (mut taken, mut refused) = (0, 0);
    // Sessions are people's: there an API key is refused before headers are read.
    for endpoint in TABLE.iter().filter(|endpoint| !endpoint.name.starts_with("session.")) {
        for (name, schema) in document.parameters(endpoint, "header") {
            let (good, bad) = of_header(&name);
            let pattern = document.validator(&schema);
            for (values, allowed) in [(good, true), (bad, false)] {
                for value in values {
                    let what = format!("{endpoint:?} {name}: {value}");
                    let faults = pattern.faults(&json!(value));
                    assert_eq!(faults.is_none(), allowed, "the document on {what}: {faults:?}");
                    let (verb, target) =
                        (endpoint.verb.as_str(), server.filled(endpoint.path).await);
                    let headers = [(name.as_str(), value.as_str())];
                    let credential = credentials.of(endpoint);
                    let answer =
                        call(&server, (verb, &target), credential, &headers, &body(endpoint)).await;
                    let at_header = answer.pointers() == [format!("header:{name}")];
                    assert_eq!(!at_header, allowed, "{what}: {answer:?}");
                    if !allowed {
                        assert_eq!(
                            (answer.status, answer.code().as_str()),
                            (400, "invalid_parameter"),
                            "{what}"
                        );
                    }
                    *(if allowed { &mut taken } else { &mut refused }) += 1;
                }
            }
        }
    }
    assert!(taken > 30 && refused > 30, "{taken} {refused}");
}

/// A body for each route that needs one.
fn body(endpoint: &Endpoint) -> String {
    let timing = json!({"specs": [
        {"cron": "30 2 * * mon-fri"}, {"every": {"every": "90s"}}, {"daily": {"at": ["09:00"]}},
        {"weekly": {"on": ["monday"], "at": ["09:00"]}}, {"monthly": {"on": [1, "last"], "at": ["09:00"]}},
        {"yearly": {"on": ["12-24"], "at": ["23:59:59"]}},
    ], "exclude": ["2030-12-24", {"from": "2031-01-01", "to": "2031-01-02"}]});
    let json = match endpoint.name {
        "task.submit" => {
            json!({"run": {"command": {"argv": ["true"], "env": {"A": "1"}}}, "tier": "basic",
            "labels": {"team": "media"}, "retry": {"backoff": "constant"}, "name": "n"})
        }
        "task.submit_batch" => {
            json!({"tasks": [{"run": {"noop": {}}}, {"run": {"noop": {}, "http": {"url": "https://example.com"}}}]})
        }
        "task.rerun" => json!({"execution_cap": "5m"}),
        "task.change" => json!({"priority": 5, "labels": {"team": "media"}}),
        "task.mark_succeeded" => json!({"note": "loaded by hand"}),
        "schedule.put" => {
            json!({"timing": timing, "misfire": {"catch_up": {"count": 2, "max_age": "24h"}},
            "task": {"run": {"http": {"url": "https://example.com/hook", "method": "POST"}}}})
        }
        "usage.quote" => {
            json!({"schedule": {"timing": timing, "task": {"run": {"noop": {}}}}, "schedule_name": "s"})
        }
        "schedule.preview_timing" => json!({"timing": timing, "count": 3}),
        "schedule.backfill" => {
            json!({"from": "2020-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z", "dry_run": true})
        }
        "schedule.pause" => json!({"reason": "for a test"}),
        "workflow.put" => workflow(),
        "workflow_run.start" => {
            json!({"definition": workflow(), "input": {"list": [1, 2], "key": "k"}})
        }
        "workflow_run.rerun" => json!({"nodes": ["a"], "below": true}),
        "signal.send" => json!({"payload": {"a": [1]}, "keep": "1h"}),
        "task.complete" => json!({"token": "berthcomplete_x", "outcome": "succeeded"}),
        "task.approve" | "task.reject" => json!({"note": "for a test"}),
        "concurrency.put" => json!({"running": 3}),
        "spend_cap.put" => serde_json::from_str(SPEND_CAP).unwrap(),
        "webhook.put" => serde_json::from_str(WEBHOOK).unwrap(),
        "webhook.rotate" => json!({"keep_old": "1h"}),
        "webhook.replay" => json!({"from": "2020-01-01T00:00:00Z", "only": "all"}),
        "key.create" => json!({"name": "n", "scopes": ["read"], "expires_in": "24h"}),
        "key.rotate" => json!({"overlap": "1h"}),
        "user.create" => json!({"email": "ann@example.com", "role": "viewer"}),
        "user.change" | "user.put" => json!({"role": "developer"}),
        "tenant_user.put" => json!({"role": "owner"}),
        "tenant.put" => json!({"weight": 3.0}),
        "tenant.create" => json!({"name": "another"}),
        "tenant.change" => json!({"weight": 2.0}),
        "operator_key.create" => json!({"name": "bob", "scopes": ["read"], "expires_in": "24h"}),
        "operator_key.rotate" | "tenant_key.rotate" => json!({"overlap": "1h"}),
        "tenant_key.create" => json!({"name": "first", "scopes": ["submit"]}),
        "tenant_user.create" => json!({"email": "bob@example.com", "role": "owner"}),
        "pool.pause" => json!({"reason": "for a test"}),
        "plan.put" => serde_json::from_str(PLAN).unwrap(),
        "price_book.put" | "price_book.dry_run" => serde_json::from_str(PRICE_BOOK).unwrap(),
        "tenant.put_billing" => {
            json!({"zone": "Europe/Berlin", "customer": "cus_1", "address": "A\nB"})
        }
        "tenant_credit.create" => {
            json!({"key": "k", "currency": "EUR", "amount": -1, "reason": "outage"})
        }
        "canary.report" => crate::status::report(2, 1),
        "pool.set" => json!({"private_targets": true, "granted_to": {"everyone": true}}),
        _ => return String::new(),
    };
    json.to_string()
}

/// A workflow with everything that there is.
fn workflow() -> Value {
    json!({"description": "d", "defaults": {"tier": "basic", "retry": {"backoff": "constant"}}, "deadline": "1h",
        "max_parallel": 3, "labels": {"team": "media"}, "nodes": {
        "a": {"task": {"run": {"command": {"argv": ["true"], "env": {"A": {"$input": "/key"}}}}}},
        "b": {"after": ["a", {"node": "w", "on": "expired"}], "join": "any", "if": {"$from": "a", "eq": 1},
            "task": {"run": {"command": {"argv": ["true", {"$from": "a", "pointer": "/x"}]}}}},
        "c": {"after": ["a"], "for_each": {"$input": "/list"}, "task": {"run": {"command": {"argv": ["true", {"$item": ""}]}}}},
        "w": {"wait": {"signal": {"$input": "/key"}, "expires": "1h"}},
        "p": {"wait": {"approval": true}},
        "t": {"wait": {"delay": "1s"}},
    }})
}

/// Holds an answer against its operation.
fn hold(document: &Document, endpoint: &Endpoint, answer: &Answer) {
    let operation = document.operation(endpoint);
    let what = format!("{endpoint:?}: {} {}", answer.status, String::from_utf8_lossy(&answer.body));
    let said = &operation["responses"][answer.status.to_string()];
    assert!(said.is_object(), "not documented: {what}");
    let said = document.resolved(said);
    // Headers: those that are there are documented, and those that are documented are there.
    // Before it is known whose request it is, there is nothing to say of a tenant's limits.
    let may_be_absent: &[&str] = match answer.status {
        200..300 => &["Idempotency-Replayed"],
        _ => &["RateLimit", "RateLimit-Policy"],
    };
    for header in document.0["components"]["headers"].as_object().unwrap().keys() {
        let to = format!("#/components/headers/{header}");
        let declared = said["headers"].as_object().into_iter().flatten();
        let declared = declared.filter(|(_, header)| header["$ref"] == *to).map(|(name, _)| name);
        for name in declared.clone().filter(|name| !may_be_absent.contains(&name.as_str())) {
            assert!(answer.header(name).is_some(), "{name} of {what}");
        }
    }
    for name in [
        "RateLimit",
        "RateLimit-Policy",
        "Retry-After",
        "Allow",
        "WWW-Authenticate",
        "ETag",
        "Location",
    ] {
        let declared = said["headers"].get(name).is_some();
        assert!(declared || answer.header(name).is_none(), "{name} is not documented: {what}");
    }
    // The body.
    let kind = answer.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default();
    let Some(contents) = said["content"].as_object() else {
        assert!(answer.body.is_empty(), "{what}");
        return;
    };
    let content = contents.get(kind).unwrap_or_else(|| panic!("{kind} is not documented: {what}"));
    if kind == "application/x-ndjson" {
        let text = String::from_utf8(answer.body.clone()).unwrap();
        for line in text.lines() {
            let faults =
                document.validator(&content["schema"]).faults(&serde_json::from_str(line).unwrap());
            assert_eq!(faults, None, "{what}");
        }
    } else if kind.ends_with("json") {
        let faults = document.validator(&content["schema"]).faults(&answer.json());
        assert_eq!(faults, None, "{what}");
    }
}

#[tokio::test]
async fn each_answer_is_documented_with_its_headers_and_its_body() {
    let server = crate::users::server().await;
    let (document, credentials) = (Document::read(&server).await, Credentials::new(&server).await);
    server.schedule().await;
    let mut done = BTreeSet::new();
    for endpoint in &TABLE {
        let target = if endpoint.name == "plan.put" {
            "/v1/admin/plans/own".to_owned()
        } else if endpoint.name == "price_book.put" {
            "/v1/admin/price-books/own".to_owned()
        } else if endpoint.name == "spend_cap.put" {
            "/v1/spend-caps/own".to_owned()
        } else if endpoint.name == "webhook.put" {
            "/v1/webhooks/own".to_owned()
        } else {
            server.filled(endpoint.path).await
        };
        // What ends the tenant comes last, for a tenant of its own.
        let target = if endpoint.name.starts_with("tenant.") && endpoint.verb != Verb::Get {
            target.replace(
                &server.tenant.to_string(),
                &server.new_tenant(endpoint.name).await.to_string(),
            )
        } else {
            target
        };
        let (verb, body) = (endpoint.verb.as_str(), body(endpoint));
        // Without a credential, of the wrong kind, with a method that there is not, with what there is not, and as it should be.
        for (verb, credential, headers) in [
            (verb, None, &[][..]),
            (verb, Some("garbage"), &[]),
            (verb, Some(credentials.operators.as_str()), &[]),
            ("BREW", credentials.of(endpoint), &[]),
            (verb, credentials.of(endpoint), &[("Idempotency-Key", "once")]),
            (verb, credentials.of(endpoint), &[("Idempotency-Key", "once")]),
        ] {
            let is_open = matches!(endpoint.access, Access::Open(_) | Access::SignIn(_));
            if credential == Some(&credentials.operators) && is_open {
                continue;
            }
            let answer = call(&server, (verb, &target), credential, headers, &body).await;
            hold(&document, endpoint, &answer);
            if answer.status < 300 {
                done.insert(endpoint.name);
            }
        }
        let nothing = target.replace("task_", "task_x");
        if nothing != target {
            let answer =
                call(&server, (verb, &nothing), credentials.of(endpoint), &[], &body).await;
            assert_eq!(answer.status, 404);
            hold(&document, endpoint, &answer);
        }
        if endpoint.name == "task.submit_batch" {
            let full = format!("{target}?return=full");
            let answer = call(&server, (verb, &full), credentials.of(endpoint), &[], &body).await;
            hold(&document, endpoint, &answer);
        }
        let junk = call(&server, (verb, &target), credentials.of(endpoint), &[], "{\"x\":").await;
        hold(&document, endpoint, &junk);
    }
    let not_done: Vec<_> =
        TABLE.iter().map(|endpoint| endpoint.name).filter(|name| !done.contains(name)).collect();
    // Those that want what only a person has, or a call of an executor.
    let others = |name: &&str| {
        name.starts_with("session.") || name.starts_with("docs.") || *name == "task.complete"
    };
    assert!(not_done.iter().all(others), "{not_done:?}");
}

#[tokio::test]
async fn each_example_is_what_its_schema_says_and_is_taken() {
    let server = Server::start().await;
    let document = Document::read(&server).await;
    let mut examples = 0;
    for (name, schema) in document.0["components"]["schemas"].as_object().unwrap() {
        let one = schema.get("example").cloned();
        let more = schema["examples"].as_array().cloned().unwrap_or_default();
        for example in one.into_iter().chain(more) {
            let to = json!({"$ref": format!("#/components/schemas/{name}")});
            assert_eq!(document.validator(&to).faults(&example), None, "{name}");
            let answer = match name.as_str() {
                "TaskSubmit" => server.post("/v1/tasks", example.to_string()).await,
                "SchedulePut" => {
                    server.put_as(&server.key, "/v1/schedules/e", &[], example.to_string()).await
                }
                "TaskRerun" => {
                    let task = r#"{"run":{"command":{"argv":["true"]}}}"#;
                    let task = server.post("/v1/tasks", task).await.json()["id"].clone();
                    let target = format!("/v1/tasks/{}/rerun", task.as_str().unwrap());
                    server.post(&target, example.to_string()).await
                }
                "WorkflowDefinition" => {
                    server.put_as(&server.key, "/v1/workflows/e", &[], example.to_string()).await
                }
                "WorkflowRunStart" => {
                    let path = "/v1/workflows/load";
                    let made = server.put_as(&server.key, path, &[], crate::server::WORKFLOW).await;
                    assert_eq!(made.status, 201);
                    server.post("/v1/workflow-runs", example.to_string()).await
                }
                "QuoteAsk" => server.post("/v1/quotes", example.to_string()).await,
                "TaskChange" => {
                    let target = format!("/v1/tasks/{}", server.noop().await);
                    let key = Some(server.key.as_str());
                    call(&server, ("PATCH", &target), key, &[], &example.to_string()).await
                }
                other => panic!("say where the example of {other} is sent"),
            };
            let wanted =
                if ["TaskChange", "QuoteAsk"].contains(&name.as_str()) { 200 } else { 201 };
            assert_eq!(answer.status, wanted, "{name}: {answer:?}");
            examples += 1;
        }
    }
    assert!(examples >= 3, "{examples}");
}
