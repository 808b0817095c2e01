//! Tasks with mistakes, and where each is refused.
//!
//! Used by the sweep in `bad_input`; a new field's mistakes go here.

use serde_json::{Map, Value, json};

/// A body that parses, and the pointers it is refused at.
pub type Mistake = (Value, Vec<&'static str>);

pub fn noop_with(field: &str, value: Value) -> Value {
    let mut task = json!({"run": {"noop": {}}});
    task[field] = value;
    task
}

pub fn command(fields: Value) -> Value {
    json!({"run": {"command": fields}})
}

/// An object of `n` texts.
fn texts(n: usize) -> Value {
    Value::Object((0..n).map(|n| (format!("k{n}"), json!("v"))).collect::<Map<_, _>>())
}

/// Every mistake there is a check for.
pub fn mistakes() -> Vec<Mistake> {
    let single = fields_up_to_cap().into_iter().chain(other_fields()).map(|(field, value)| {
        let pointer: &'static str = Box::leak(format!("/{field}").into_boxed_str());
        (noop_with(field, value), vec![pointer])
    });
    runs().into_iter().chain(calls()).chain(nested()).chain(single).collect()
}

/// What is wrong with what a task runs.
fn runs() -> Vec<Mistake> {
    vec![
        (json!({}), vec!["/run"]),
        (json!(null), vec![""]),
        (json!("x"), vec![""]),
        (json!({"run": null}), vec!["/run"]),
        (json!({"run": {}}), vec!["/run"]),
        (json!({"run": {"noop": {}, "command": {"argv": ["x"]}}}), vec!["/run"]),
        (json!({"run": {"shell": {}}}), vec!["/run/shell"]),
        (json!({"run": {"noop": {"sleep": "25h"}}}), vec!["/run/noop/sleep"]),
        (json!({"run": {"noop": {"sleep": 5}}}), vec!["/run/noop/sleep"]),
        (command(json!({})), vec!["/run/command/argv"]),
        (command(json!({"argv": []})), vec!["/run/command/argv"]),
        (command(json!({"argv": [""]})), vec!["/run/command/argv/0"]),
        (command(json!({"argv": "ls"})), vec!["/run/command/argv"]),
        (command(json!({"argv": ["ls", 5]})), vec!["/run/command/argv/1"]),
        (command(json!({"argv": ["ls", "a\u{0}b"]})), vec!["/run/command/argv/1"]),
        (command(json!({"argv": vec!["x"; 1025]})), vec!["/run/command/argv"]),
        (command(json!({"argv": ["x"], "env": {"A=B": "1"}})), vec!["/run/command/env/A=B"]),
        (command(json!({"argv": ["x"], "env": {"": "1"}})), vec!["/run/command/env/"]),
        (
            command(json!({"argv": ["x"], "env": {"A/B~": "\u{0}"}})),
            vec!["/run/command/env/A~1B~0"],
        ),
        (command(json!({"argv": ["x"], "env": {"A": 1}})), vec!["/run/command/env/A"]),
        (command(json!({"argv": ["x"], "env": texts(257)})), vec!["/run/command/env"]),
        (command(json!({"argv": ["x"], "stdin": "\u{0}"})), vec!["/run/command/stdin"]),
        (command(json!({"argv": ["x", "y", "a".repeat(131_072)]})), vec!["/run/command/argv/2"]),
        (command(json!({"argv": ["a".repeat(256)]})), vec!["/run/command/argv/0"]),
        (command(json!({"argv": ["/d".repeat(2048)]})), vec!["/run/command/argv/0"]),
        (
            command(json!({"argv": ["x"], "env": {"A": "v".repeat(131_070), "B": "v".repeat(9)}})),
            vec!["/run/command/env/A"],
        ),
        (command(json!({"argv": ["x"], "cwd": "/"})), vec!["/run/command/cwd"]),
    ]
}

/// What is wrong with HTTP tasks.
fn calls() -> Vec<Mistake> {
    let http = |fields: Value| {
        let mut call = json!({"url": "https://example.com/"});
        for (name, value) in fields.as_object().unwrap() {
            call[name] = value.clone();
        }
        json!({"run": {"http": call}})
    };
    let url = |url: &str| (http(json!({"url": url})), vec!["/run/http/url"]);
    let header = |name: &str, value: &str, pointer: &'static str| {
        (http(json!({"headers": {name: value}})), vec![pointer])
    };
    vec![
        (json!({"run": {"http": {}}}), vec!["/run/http/url"]),
        (http(json!({"verify": false})), vec!["/run/http/verify"]),
        url(""),
        url("example.com"),
        url("file:///etc/passwd"),
        url("http+unix://%2Frun%2Fdocker.sock/"),
        url("https://user@example.com/"),
        url("https://user:word@example.com/"),
        url("https://example.com/ x"),
        url("https://example.com/\r\nHost: b"),
        url(&format!("https://example.com/{}", "x".repeat(2048))),
        (http(json!({"method": "CONNECT"})), vec!["/run/http/method"]),
        (http(json!({"method": "get"})), vec!["/run/http/method"]),
        (http(json!({"success": "ok"})), vec!["/run/http/success"]),
        (http(json!({"success": 200})), vec!["/run/http/success"]),
        (http(json!({"timeout": "0s"})), vec!["/run/http/timeout"]),
        (http(json!({"timeout": "25h"})), vec!["/run/http/timeout"]),
        (http(json!({"body": "x", "body_base64": "eA=="})), vec!["/run/http/body_base64"]),
        (http(json!({"body": "a\u{0}"})), vec!["/run/http/body"]),
        (http(json!({"body_base64": "eA"})), vec!["/run/http/body_base64"]),
        (http(json!({"headers": texts(65)})), vec!["/run/http/headers"]),
        (http(json!({"headers": {"A": "1", "a": "2"}})), vec!["/run/http/headers/a"]),
        header("Host", "x", "/run/http/headers/Host"),
        header("berth-task-id", "x", "/run/http/headers/berth-task-id"),
        header("Berth-Due-At", "x", "/run/http/headers/Berth-Due-At"),
        header("Berth-Schedule", "x", "/run/http/headers/Berth-Schedule"),
        header("Idempotency-Key", "x", "/run/http/headers/Idempotency-Key"),
        header("Transfer-Encoding", "chunked", "/run/http/headers/Transfer-Encoding"),
        header("A b", "x", "/run/http/headers/A b"),
        header("A", "x\r\nHost: b", "/run/http/headers/A"),
        header("A", &"x".repeat(8193), "/run/http/headers/A"),
    ]
}

/// What is wrong with objects in a task, and with fields together.
fn nested() -> Vec<Mistake> {
    vec![
        (noop_with("labels", texts(33)), vec!["/labels"]),
        (noop_with("labels", json!({"a b": "1"})), vec!["/labels/a b"]),
        (noop_with("labels", json!({"": "1"})), vec!["/labels/"]),
        (noop_with("labels", json!({"a": "x".repeat(201)})), vec!["/labels/a"]),
        (noop_with("labels", json!({"a": "\u{0}"})), vec!["/labels/a"]),
        (noop_with("labels", json!({"a": null})), vec!["/labels/a"]),
        (noop_with("retry", json!({"factor": 0.5})), vec!["/retry/factor"]),
        (noop_with("retry", json!({"factor": 101})), vec!["/retry/factor"]),
        (noop_with("retry", json!({"backoff": "wild"})), vec!["/retry/backoff"]),
        (noop_with("retry", json!({"initial": "10s", "max": "5s"})), vec!["/retry/max"]),
        (
            noop_with("retry", json!({"abort_on_exit_codes": [1, 600]})),
            vec!["/retry/abort_on_exit_codes/1"],
        ),
        (
            noop_with("retry", json!({"abort_on_exit_codes": [-1]})),
            vec!["/retry/abort_on_exit_codes/0"],
        ),
        (noop_with("retry", json!({"on": "cap"})), vec!["/retry/on"]),
        (noop_with("retry", json!({"on": ["failure", "timeout"]})), vec!["/retry/on/1"]),
        (
            json!({"run": {"noop": {}}, "expire_if_late": true, "delay_tolerance": "0s"}),
            vec!["/delay_tolerance"],
        ),
        (
            noop_with("resources", json!({"cpu_millis": 1, "memory_mib": 1, "ports": 64_513})),
            vec!["/resources/ports"],
        ),
        (noop_with("resources", json!({})), vec!["/resources/cpu_millis", "/resources/memory_mib"]),
        (
            noop_with("resources", json!({"cpu_millis": 1, "memory_mib": u32::MAX})),
            vec!["/resources/memory_mib"],
        ),
        (
            noop_with("resources", json!({"cpu_millis": -1, "memory_mib": 1})),
            vec!["/resources/cpu_millis"],
        ),
        (noop_with("resources", json!({"cpu": 1})), vec!["/resources/cpu"]),
        (
            json!({"run": {"noop": {}}, "tier": "basic", "resources": {"cpu_millis": 1, "memory_mib": 1}}),
            vec!["/resources"],
        ),
        (noop_with("depends_on", json!(["task_1", 0])), vec!["/depends_on/0", "/depends_on/1"]),
        (
            json!({"run": {"noop": {}}, "delay": "1s", "run_at": "2030-01-01T00:00:00Z"}),
            vec!["/run_at"],
        ),
        (
            json!({"name": "", "max_attempts": 0, "delay": "x", "run": {"noop": {}}, "pool": "nowhere"}),
            vec!["/name", "/delay", "/max_attempts", "/pool"],
        ),
    ]
}

/// Values that a field of their own cannot have.
fn fields_up_to_cap() -> Vec<(&'static str, Value)> {
    vec![
        ("name", json!("")),
        ("name", json!("x".repeat(201))),
        ("name", json!("a\u{0}b")),
        ("name", json!(5)),
        ("unique_key", json!("")),
        ("unique_key", json!("ü".repeat(201))),
        ("unique_key", json!("\u{0}")),
        ("tier", json!("gold")),
        ("tier", json!(["basic"])),
        ("delay", json!("-1s")),
        ("delay", json!("5")),
        ("delay", json!("87601h")),
        ("delay", json!("99999999999999999999h")),
        ("delay_tolerance", json!("721h")),
        ("delay_tolerance", json!("")),
        ("execution_cap", json!("0s")),
        ("execution_cap", json!("25h")),
        ("execution_cap", json!("0.1ms")),
    ]
}

/// The same for the other fields, and fields that are not a client's to set.
fn other_fields() -> Vec<(&'static str, Value)> {
    vec![
        ("expire_if_late", json!("yes")),
        ("priority", json!(11)),
        ("priority", json!(-11)),
        ("priority", json!(300)),
        ("priority", json!(0.5)),
        ("priority", json!("high")),
        ("flexible", json!("yes")),
        ("concurrency_key", json!("")),
        ("concurrency_key", json!("ü".repeat(201))),
        ("concurrency_key", json!("\u{0}")),
        ("concurrency_key", json!("..")),
        ("concurrency_key", json!(["k"])),
        ("max_attempts", json!(0)),
        ("max_attempts", json!(101)),
        ("max_attempts", json!(-1)),
        ("max_attempts", json!(1.5)),
        ("max_attempts", json!(u64::MAX)),
        ("delivery", json!("exactly_once")),
        ("pool", json!("nowhere")),
        ("pool", json!("\u{0}")),
        ("pool", json!("../etc")),
        ("run_at", json!("tomorrow")),
        ("run_at", json!("2030-13-01T00:00:00Z")),
        ("run_at", json!("9999-12-31T23:59:59Z")),
        ("run_at", json!("0001-01-01T00:00:00Z")),
        ("labels", json!([])),
        ("retry", json!(5)),
        ("depends_on", json!("task_1")),
        ("join", json!("any")),
        ("ref", json!("first")),
        ("tenant_id", json!("tenant_1")),
        ("state", json!("succeeded")),
        ("status", json!(1)),
        ("fence", json!(1)),
        ("attempt", json!(1)),
        ("price", json!(0)),
        ("tier_override", json!("premium")),
        ("role", json!("admin")),
        ("id", json!("task_1")),
        ("RUN", json!({})),
    ]
}
