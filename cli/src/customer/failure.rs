//! What a failed call means to the person who typed it: what happened, what to do next, and the exit code.
//!
//! The only place that knows which answer of the API ends with which code.

use crate::failure::{Exit, Failure};
use client::{ApiError, ClientError, ErrorCode};
use domain::time::format_duration;
use runtime::error_chain::ErrorChain;
use std::fmt::Write;

/// Whose call failed.
#[derive(Debug, Clone, Copy)]
enum Caller {
    Customer,
    Operator,
}

/// What a failed call means.
pub(crate) fn failure(error: &ClientError) -> Failure {
    failure_of(error, Caller::Customer)
}

/// The same for a call with an operator key.
pub(crate) fn operator_failure(error: &ClientError) -> Failure {
    failure_of(error, Caller::Operator)
}

fn failure_of(error: &ClientError, caller: Caller) -> Failure {
    match error {
        ClientError::Settings(text) => Failure::usage(text.clone()),
        ClientError::Unreachable { .. } | ClientError::Cut { .. } => Failure::new(
            Exit::Unreachable,
            format!(
                "{}. Check that it is running, and the address (--server, BERTH_SERVER).",
                ErrorChain(error)
            ),
        ),
        ClientError::UnexpectedResponse { .. } => Failure::failed(format!(
            "{}. Check that the address is a Berth API (--server, BERTH_SERVER).",
            ErrorChain(error)
        )),
        ClientError::Api(problem) => Failure::new(exit(problem), text(problem, caller)),
    }
}

/// The same where no API key was sent, but a password or an invitation: then that is what is wrong.
pub(super) fn of_a_guest(error: &ClientError) -> Failure {
    match error {
        ClientError::Api(problem) if problem.status == 401 => {
            Failure::new(Exit::NotAllowed, problem.detail.clone())
        }
        _ => failure(error),
    }
}

fn exit(problem: &ApiError) -> Exit {
    match problem.status {
        401 | 403 => Exit::NotAllowed,
        404 => Exit::NotFound,
        400 | 405 | 413 | 415 | 422 => Exit::Usage,
        502..=504 => Exit::Unreachable,
        _ => Exit::Failed,
    }
}

fn text(problem: &ApiError, caller: Caller) -> String {
    let said = if problem.detail.is_empty() { &problem.title } else { &problem.detail };
    let mut text = said.trim_end_matches('.').to_owned();
    if problem.errors.len() > 1 {
        text = format!("{} ({} errors)", problem.title, problem.errors.len());
        for error in &problem.errors {
            let place = if error.pointer.is_empty() { "the task" } else { &error.pointer };
            text.push_str(&format!("\n  {place}: {}", error.detail));
        }
        text.push('\n');
    } else {
        text.push_str(". ");
    }
    text.push_str(&advice(problem, caller));
    if let (500.., Some(id)) = (problem.status, &problem.request_id) {
        let _infallible = write!(text, " (request {id})");
    }
    text.trim_end().to_owned()
}

/// What to do next.
fn advice(problem: &ApiError, caller: Caller) -> String {
    let later = || match problem.retry_after {
        Some(wait) => format!("Try again in {}.", format_duration(wait)),
        None => "Try again later.".to_owned(),
    };
    if let Caller::Operator = caller {
        let advice = match problem.status {
            401 => {
                "Check that the operator key (BERTH_OPERATOR_KEY, --operator-key) is complete, belongs to this server and has not ended."
            }
            403 if problem.is(ErrorCode::ScopeMissing) => {
                "Ask an operator whose key has that scope for one: `berth admin operator-key create --scope …`."
            }
            403 => {
                "Use an operator key: BERTH_OPERATOR_KEY, --operator-key or `berth admin login`."
            }
            404 if !problem.is(ErrorCode::RouteNotFound) => "See `berth admin … list`.",
            412 => "It was changed meanwhile: read it again and repeat the change.",
            _ => "",
        };
        if !advice.is_empty() {
            return advice.to_owned();
        }
    }
    match problem.status {
        401 => "Check that the API key (BERTH_API_KEY, --api-key) is complete, belongs to this server and has not expired.".to_owned(),
        403 => "Use a key with that scope; an operator can create one with `berth admin key create --scope …`.".to_owned(),
        404 if problem.is(ErrorCode::RouteNotFound) => "Check that the address is a Berth API of this version (--server).".to_owned(),
        404 if problem.is(ErrorCode::NoResult) => String::new(),
        404 => "Check the id or name, and that the key belongs to the same tenant.".to_owned(),
        429 => later(),
        _ if problem.retryable => later(),
        500.. => "Report it if it happens again.".to_owned(),
        300..=399 => "The server redirects; use the new address with --server.".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::FieldError;
    use std::time::Duration;

    fn problem(status: u16, code: &str) -> ApiError {
        ApiError {
            status,
            code: serde_json::from_value(code.into()).ok(),
            title: "Title".to_owned(),
            detail: "Detail.".to_owned(),
            retryable: matches!(status, 429 | 503),
            request_id: Some("req_1".into()),
            errors: Vec::new(),
            retry_after: None,
        }
    }

    fn rendered(problem: ApiError) -> (Exit, String) {
        let failure = failure(&ClientError::Api(Box::new(problem)));
        (failure.exit(), failure.to_string())
    }

    #[test]
    fn every_kind_of_refusal_has_its_exit_code() {
        for (status, wanted) in [
            (400, Exit::Usage),
            (401, Exit::NotAllowed),
            (403, Exit::NotAllowed),
            (404, Exit::NotFound),
            (409, Exit::Failed),
            (422, Exit::Usage),
            (429, Exit::Failed),
            (500, Exit::Failed),
            (503, Exit::Unreachable),
        ] {
            assert_eq!(rendered(problem(status, "x")).0, wanted, "{status}");
        }
    }

    #[test]
    fn each_mistake_is_shown_at_its_place() {
        let error = |pointer: &str, detail: &str| FieldError {
            pointer: pointer.to_owned(),
            detail: detail.to_owned(),
        };
        let several = ApiError {
            errors: vec![error("/name", "is too long"), error("/tier", "is no tier")],
            ..problem(422, "validation_failed")
        };
        assert_eq!(
            rendered(several).1,
            "Title (2 errors)\n  /name: is too long\n  /tier: is no tier"
        );
    }

    #[test]
    fn a_busy_server_says_when_to_come_back() {
        let busy =
            ApiError { retry_after: Some(Duration::from_secs(90)), ..problem(429, "rate_limited") };
        assert_eq!(rendered(busy).1, "Detail. Try again in 1m30s.");
        assert!(
            rendered(problem(503, "unavailable")).1.ends_with("Try again later. (request req_1)")
        );
    }

    #[test]
    fn an_operator_is_told_of_operators_keys() {
        let told = |status| {
            let (status, code) = status;
            let error = ClientError::Api(Box::new(problem(status, code)));
            operator_failure(&error).to_string()
        };
        assert!(told((401, "unauthenticated")).contains("BERTH_OPERATOR_KEY"));
        assert!(told((403, "scope_missing")).contains("operator-key create --scope"));
        let of_a_tenant = told((403, "wrong_kind_of_key"));
        assert!(of_a_tenant.contains("berth admin login") && !of_a_tenant.contains("--scope"));
        assert!(told((412, "version_mismatch")).contains("read it again"));
        assert!(
            told((500, "internal")).ends_with("Report it if it happens again. (request req_1)")
        );
    }

    #[test]
    fn a_task_without_a_result_is_a_task_that_is_there() {
        assert_eq!(rendered(problem(404, "no_result")), (Exit::NotFound, "Detail.".to_owned()));
        assert_eq!(rendered(problem(409, "not_ended")), (Exit::Failed, "Detail.".to_owned()));
    }

    #[test]
    fn a_bad_key_and_a_missing_scope_say_what_to_change() {
        assert!(rendered(problem(401, "unauthenticated")).1.contains("BERTH_API_KEY"));
        assert!(rendered(problem(403, "scope_missing")).1.contains("--scope"));
    }
}
