//! The settings in force, as TOML that may be shown to anyone.
//!
//! Made by `load`, for support and for tests. A secret shows only whether it is set.

use figment::value::{Dict, Value};

/// Keys whose values are never shown; the fields of these are `SecretString`.
const SECRETS: [&str; 15] = [
    "database.url",
    "database.service_password",
    "database.api_url",
    "database.submit_url",
    "database.scheduler_url",
    "database.rm_url",
    "database.notifier_url",
    "database.admin_url",
    "bus.url",
    "redis.url",
    "auth.key_hash_secret",
    "auth.executor_secret",
    "auth.jwt_key",
    "auth.jwt_previous_key",
    "telemetry.otlp_headers",
];

/// Whether the value of `section.key` may not be shown.
pub(super) fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key)
}

/// All sections and keys; secrets that are set read `"[redacted]"`.
pub(super) fn toml(merged: &Dict) -> String {
    let mut out = String::new();
    for (section, value) in merged {
        out.push_str(&format!("[{section}]\n"));
        for (key, value) in value.as_dict().into_iter().flatten() {
            let shown = match value.as_str() {
                Some(text) if !text.is_empty() && is_secret(&format!("{section}.{key}")) => {
                    quoted("[redacted]")
                }
                _ => literal(value),
            };
            out.push_str(&format!("{key} = {shown}\n"));
        }
        out.push('\n');
    }
    out
}

fn literal(value: &Value) -> String {
    match value {
        Value::Array(_, items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Bool(_, flag) => flag.to_string(),
        Value::Num(_, number) => {
            number.to_i128().map_or_else(|| "0".to_owned(), |number| number.to_string())
        }
        Value::String(..) | Value::Char(..) | Value::Dict(..) | Value::Empty(..) => {
            quoted(value.as_str().unwrap_or_default())
        }
    }
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
