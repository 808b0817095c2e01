//! From what a task calls to the first request of an attempt.
//!
//! Pure. `Idempotency-Key` is the task's id, the same in every attempt: a server that keeps it can tell a repeat
//! from a new request.

use crate::due::Due;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use domain::task::{CompletionToken, HttpRun, LeaseKey};
use egress::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use egress::{Request, RequestError};
use runtime::trace::TraceContext;
use serde::de::IgnoredAny;

/// Why a stored call cannot be made. The API checks the same, so this is a matter of versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CallError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("its body is not valid base64")]
    Body,
}

/// The first request of an attempt.
pub(super) fn request(
    run: &HttpRun,
    lease: &LeaseKey,
    traceparent: &str,
    due: Due,
) -> Result<Request, CallError> {
    let body = match (&run.body, &run.body_base64) {
        (Some(text), _) => Bytes::from(text.clone()),
        (None, Some(text)) => STANDARD.decode(text).map_err(|_| CallError::Body)?.into(),
        (None, None) => Bytes::new(),
    };
    let mut ours = ours(lease, traceparent, due);
    if !run.complete.is_answer()
        && let Ok(mut token) = HeaderValue::try_from(CompletionToken::of(lease).to_string())
    {
        token.set_sensitive(true);
        ours.insert(HeaderName::from_static("berth-completion-token"), token);
    }
    if let Some(kind) = content_type(run, &body) {
        ours.insert(CONTENT_TYPE, kind);
    }
    let headers = run.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(Request::new(run.method, &run.url, headers, ours, body)?)
}

/// What a body is, where the task does not say: bytes, JSON where it is JSON, else text.
fn content_type(run: &HttpRun, body: &Bytes) -> Option<HeaderValue> {
    let kind = match &run.body {
        _ if body.is_empty() => return None,
        None => "application/octet-stream",
        Some(text) if serde_json::from_str::<IgnoredAny>(text).is_ok() => "application/json",
        Some(_) => "text/plain; charset=utf-8",
    };
    Some(HeaderValue::from_static(kind))
}

fn ours(lease: &LeaseKey, traceparent: &str, due: Due) -> HeaderMap {
    let task = lease.task.to_string();
    // The run's own, whose span the resource manager exports. One that cannot be read is replaced: that must fail nothing here.
    let trace = traceparent.parse::<TraceContext>();
    let trace = trace.unwrap_or_else(|_| TraceContext::of_task(lease.task));
    let all = [
        ("berth-task-id", task.clone()),
        ("berth-attempt", lease.attempt.to_string()),
        ("idempotency-key", task),
        ("traceparent", trace.to_string()),
        ("user-agent", format!("Berth/{}", env!("CARGO_PKG_VERSION"))),
        ("accept", "*/*".to_owned()),
    ];
    let extra = [("berth-due-at", due.at), ("berth-schedule", due.schedule)];
    let extra = extra.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let pairs = all.into_iter().chain(extra).filter_map(|(name, value)| {
        Some((HeaderName::from_static(name), HeaderValue::try_from(value).ok()?))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{SessionId, TaskId, TenantId};
    use domain::target::{MAX_URL, UrlProblem};
    use domain::task::{HeaderProblem, MAX_HEADER_NAME, MAX_HEADER_VALUE, MAX_HEADERS};

    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn call(run: serde_json::Value) -> Result<Request, CallError> {
        let lease = LeaseKey {
            tenant: TenantId::fresh(),
            task: TaskId::fresh(),
            attempt: 3,
            session: SessionId::fresh(),
        };
        let due = Due {
            at: Some("2030-01-31T02:30:00Z".to_owned()),
            schedule: Some("a.b-c_1".to_owned()),
        };
        request(&serde_json::from_value(run).unwrap(), &lease, TRACE, due)
    }

    fn post() -> Request {
        call(serde_json::json!({"method": "POST", "url": "https://a.example/x", "body": "hi", "headers":
            {"Authorization": "Bearer x", "Cookie": "c", "X-Api-Key": "k", "Content-Type": "text/plain", "Accept": "a/b"}}))
        .unwrap()
    }

    #[test]
    fn berths_headers_name_the_task_the_attempt_the_due_time_and_the_span_of_the_run() {
        let call = post();
        let text = |name: &str| call.ours()[name].to_str().unwrap().to_owned();
        assert_eq!(text("berth-attempt"), "3");
        assert!(text("berth-task-id").starts_with("task_"));
        assert_eq!(text("idempotency-key"), text("berth-task-id"));
        assert_eq!(text("berth-due-at"), "2030-01-31T02:30:00Z");
        assert_eq!(text("berth-schedule"), "a.b-c_1");
        assert_eq!(text("traceparent"), TRACE);
    }

    #[test]
    fn the_largest_call_that_is_taken_can_be_sent() {
        let name = |at: usize| format!("{at:0>width$}", width = MAX_HEADER_NAME);
        let headers: serde_json::Map<_, _> =
            (0..MAX_HEADERS).map(|at| (name(at), "v".repeat(MAX_HEADER_VALUE).into())).collect();
        let url = format!("http://a/{}", "x".repeat(MAX_URL - 9));
        let call =
            call(serde_json::json!({"method": "GET", "url": url, "headers": headers})).unwrap();
        assert_eq!((call.given().len(), call.url().as_str().len()), (MAX_HEADERS, MAX_URL));
        let none = request(
            &serde_json::from_value(serde_json::json!({"method": "GET", "url": url})).unwrap(),
            &LeaseKey {
                tenant: TenantId::fresh(),
                task: TaskId::fresh(),
                attempt: 1,
                session: SessionId::fresh(),
            },
            "",
            Due::default(),
        );
        let none = none.unwrap();
        let ours = none.ours();
        assert!(!ours.contains_key("berth-due-at") && !ours.contains_key("berth-schedule"));
    }

    #[test]
    fn only_a_call_that_is_completed_later_carries_a_token() {
        let url = "https://a.example/x";
        let token = |run| {
            let call = call(run).unwrap();
            let token = call.ours().get("berth-completion-token");
            token.map(|token| token.to_str().unwrap().parse::<CompletionToken>().unwrap())
        };
        assert_eq!(token(serde_json::json!({"method": "POST", "url": url})), None);
        let later =
            token(serde_json::json!({"method": "POST", "url": url, "complete": "callback"}));
        assert_eq!(later.map(|token| token.attempt()), Some(3));
    }

    #[test]
    fn a_body_may_be_bytes_and_what_cannot_be_sent_is_refused() {
        let body = |run| call(run).map(|call| call.body().to_vec());
        let json = serde_json::json!({"method": "PUT", "url": "http://a/", "body_base64": "AP8="});
        assert_eq!(body(json), Ok(vec![0, 255]));
        let json =
            serde_json::json!({"method": "PUT", "url": "http://a/", "body_base64": "no base64"});
        assert_eq!(body(json), Err(CallError::Body));
        let json = serde_json::json!({"method": "GET", "url": "ftp://a/"});
        assert_eq!(body(json), Err(CallError::Request(UrlProblem::Scheme.into())));
        let json =
            serde_json::json!({"method": "GET", "url": "http://a/", "headers": {"Host": "b"}});
        let problem = HeaderProblem::Reserved;
        let refused = RequestError::Header { name: "Host".to_owned(), problem };
        assert_eq!(body(json), Err(CallError::Request(refused)));
    }

    #[test]
    fn a_body_says_what_it_is_unless_the_task_does() {
        let kind = |body: serde_json::Value, headers: serde_json::Value| {
            let mut run =
                serde_json::json!({"method": "POST", "url": "http://a/", "headers": headers});
            run.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            let call = call(run).unwrap();
            let all = [call.ours().get(CONTENT_TYPE), call.given().get(CONTENT_TYPE)];
            all.map(|kind| kind.map(|kind| kind.to_str().unwrap().to_owned()))
        };
        let own = |body| kind(body, serde_json::json!({}))[0].clone();
        let json = Some("application/json".to_owned());
        assert_eq!(own(serde_json::json!({"body": "{\"a\": [1]}\n"})), json);
        assert_eq!(own(serde_json::json!({"body": "42"})), json);
        let text = Some("text/plain; charset=utf-8".to_owned());
        for body in ["{\"a\": ", "gr\u{fc}n", "a=1&b=2", "{} {}"] {
            assert_eq!(own(serde_json::json!({"body": body})), text, "{body}");
        }
        let bytes = Some("application/octet-stream".to_owned());
        assert_eq!(own(serde_json::json!({"body_base64": "e30="})), bytes);
        for none in [serde_json::json!({}), serde_json::json!({"body": ""})] {
            assert_eq!(own(none), None);
        }
        let given =
            kind(serde_json::json!({"body": "{}"}), serde_json::json!({"CONTENT-type": "a/b"}));
        assert_eq!(given[1].as_deref(), Some("a/b"));
    }
}
