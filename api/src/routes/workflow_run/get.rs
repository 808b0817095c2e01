//! `GET /v1/workflow-runs/{id}`.

use super::place::read;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::workflow::run;
use api_types::WorkflowRun;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a workflow run",
    answers: &[AnswerDoc { status: 200, text: "The run", content: Content::Json("WorkflowRun") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowRun>, Problem> {
    call.query()?.finish()?;
    Ok(Answer::ok(run(&read(&call).await?)))
}
