//! `/tasks/new`: a form for a task, with what is wrong at its fields, and the same for a terminal and in two languages.

use super::code;
use super::entered::{Entered, document, of_form, of_task};
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, FieldError, Task};
use askama::Template;

#[derive(Template)]
#[template(path = "tasks/submit.html")]
struct SubmitPage {
    frame: Frame,
    entered: Entered,
    /// What is wrong, and where.
    errors: Vec<FieldError>,
    /// What is wrong with none of the fields.
    wrong: Option<String>,
    /// What each is for, and the same in it.
    same: Vec<(&'static str, String)>,
    once: String,
}

impl SubmitPage {
    /// What is wrong with a field, by the start of its pointer.
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        self.errors.iter().find(|it| is_at(it, pointer)).map(|error| error.detail.as_str())
    }
}

fn is_at(error: &FieldError, pointer: &str) -> bool {
    error.pointer == pointer
        || error.pointer.strip_prefix(pointer).is_some_and(|rest| rest.starts_with('/'))
}

/// The fields of the form; what is wrong elsewhere is told above it.
const POINTERS: [&str; 15] = [
    "/run/command",
    "/run/http/url",
    "/run/http/method",
    "/run/http/body",
    "/run/command/env",
    "/name",
    "/tier",
    "/delay",
    "/delay_tolerance",
    "/execution_cap",
    "/max_attempts",
    "/pool",
    "/unique_key",
    "/concurrency_key",
    "/labels",
];

/// Shows the form, filled with a task where it is to be like one.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let entered = match visit.query.get("from") {
        Some(id) => {
            let task: Task = visit.get(format!("/v1/tasks/{}", in_path(id))).await?;
            of_task(&task)
        }
        None => {
            Entered { kind: "command".to_owned(), method: "GET".to_owned(), ..Entered::default() }
        }
    };
    page(&form(&visit, entered, Vec::new(), None))
}

/// Submits the task, or shows what would be sent.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let entered = of_form(&visit.form);
    if visit.form.has("show") {
        return page(&form(&visit, entered, Vec::new(), None));
    }
    match visit.send::<_, Task>(Method::Post, "/v1/tasks", &document(&entered)).await {
        Ok(task) => {
            Err(Fault::to(format!("/tasks/{}?done=submitted", in_path(&task.id.to_string()))))
        }
        Err(Fault::Problem(problem)) => {
            let is_field = problem.code == ErrorCode::ValidationFailed;
            let placed = |error: &FieldError| POINTERS.iter().any(|pointer| is_at(error, pointer));
            let all = is_field && !problem.errors.is_empty() && problem.errors.iter().all(placed);
            let wrong = (!all).then_some(problem.detail);
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            page_with(status, &form(&visit, entered, problem.errors, wrong))
        }
        Err(fault) => Err(fault),
    }
}

fn form(
    visit: &Visit,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
) -> SubmitPage {
    let host = visit.http.connection_info().host().to_owned();
    let scheme = if visit.is_secure() { "https" } else { "http" };
    let server = format!("{scheme}://{host}");
    let document = document(&entered);
    let same = vec![
        ("berth", code::cli(&entered)),
        ("curl", code::curl(&server, &document)),
        ("Rust, with the crate client of Berth", code::rust(&server, &document)),
        ("Python, with its standard library", code::python(&server, &document)),
    ];
    let frame = Frame::new(visit, Section::Tasks, "Submit a task");
    SubmitPage { frame, entered, errors, wrong, same, once: visit.once() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_belongs_to_the_field_that_holds_its_place() {
        let error =
            |pointer: &str| FieldError { pointer: pointer.to_owned(), detail: String::new() };
        assert!(is_at(&error("/labels/a"), "/labels") && is_at(&error("/name"), "/name"));
        assert!(!is_at(&error("/delay_tolerance"), "/delay"));
    }
}
