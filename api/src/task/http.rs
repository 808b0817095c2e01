//! Checks an HTTP task.
//!
//! Whether its host may be reached is not asked here: what a name means, and what its pool allows, is known when
//! it is called. The executor checks each address it connects to.

use super::findings::Findings;
use super::text::{duration, put_once, read, without_nul};
use api_types::request::{self as body, Pairs};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::target::parse_url;
use domain::task::{HttpMethod, HttpRun, MAX_HEADERS, check_header};
use runtime::config::LimitsConfig;
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) fn http(findings: &mut Findings, limits: &LimitsConfig, spec: body::HttpRun) -> HttpRun {
    let has_body = check_body(findings, &spec);
    let usual = if has_body { HttpMethod::Post } else { HttpMethod::Get };
    let method = read(findings, "/run/http/method", spec.method).unwrap_or(usual);
    let url = spec.url.unwrap_or_default();
    if url.is_empty() {
        findings.wrong("/run/http/url", "is required");
    } else if let Err(problem) = parse_url(&url) {
        findings.wrong("/run/http/url", problem.to_string());
    }
    let headers = headers(findings, spec.headers.unwrap_or_default());
    let success = read(findings, "/run/http/success", spec.success).unwrap_or_default();
    let timeout = spec.timeout.map(|given| {
        let range = Duration::from_millis(1)..=limits.max_execution_cap;
        duration(findings, "/run/http/timeout", Some(given), range, limits.max_execution_cap)
    });
    let complete = read(findings, "/run/http/complete", spec.complete).unwrap_or_default();
    HttpRun {
        method,
        url,
        headers,
        body: spec.body,
        body_base64: spec.body_base64,
        success,
        timeout,
        complete,
    }
}

/// Whether there is a body.
fn check_body(findings: &mut Findings, spec: &body::HttpRun) -> bool {
    match (&spec.body, &spec.body_base64) {
        (Some(_), Some(_)) => {
            findings.wrong("/run/http/body_base64", "cannot be given together with `body`");
        }
        (Some(text), None) => {
            without_nul(findings, "/run/http/body", text);
        }
        (None, Some(text)) if STANDARD.decode(text).is_err() => {
            findings.wrong("/run/http/body_base64", "must be base64 with padding (RFC 4648)");
        }
        (None, _) => {}
    }
    spec.body.is_some() || spec.body_base64.is_some()
}

fn headers(findings: &mut Findings, pairs: Pairs) -> BTreeMap<String, String> {
    const AT: &str = "/run/http/headers";
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    if pairs.0.len() > MAX_HEADERS {
        findings.wrong(AT, format!("must have {MAX_HEADERS} entries or fewer"));
        return headers;
    }
    for (name, value) in pairs.0 {
        if let Err(problem) = check_header(&name, &value) {
            findings.wrong_entry(AT, &name, problem.to_string());
        } else if headers.keys().any(|other| other.eq_ignore_ascii_case(&name)) {
            findings.wrong_entry(AT, &name, "is given twice");
        } else {
            put_once(&mut headers, name, value);
        }
    }
    headers
}
