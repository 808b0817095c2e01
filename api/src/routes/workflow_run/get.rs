//! `GET /v1/workflow-runs/{id}`.

use super::place::read;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, Form, Param};
use crate::problem::{Code, Problem};
use crate::request::wrong_parameter;
use crate::workflow::run;
use api_types::{UsageAmounts, WorkflowRun};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a workflow run",
    query: &[Param {
        name: "include",
        text: "`usage`: include what it has used",
        form: Form::OneOf(&["usage"]),
    }],
    answers: &[AnswerDoc { status: 200, text: "The run", content: Content::Json("WorkflowRun") }],
    problems: &[Code::NotFound, Code::InvalidParameter],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `invalid_parameter`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowRun>, Problem> {
    let mut query = call.query()?;
    let with_usage = match query.one("include")?.as_deref() {
        None => false,
        Some("usage") => true,
        Some(_) => return Err(wrong_parameter("include", "must be usage")),
    };
    query.finish()?;
    let record = read(&call).await?;
    let mut shown = run(&record);
    if with_usage {
        let used = store::workflow::run::usage(&call.state.api, &call.scope(), &record).await?;
        shown.usage = Some(UsageAmounts {
            attempts: used.attempts,
            charged_attempts: used.charged_attempts,
            run_ms: used.run_ms,
            cpu_millis_ms: used.cpu_millis_ms,
            memory_mib_ms: used.memory_mib_ms,
        });
    }
    Ok(Answer::ok(shown))
}
