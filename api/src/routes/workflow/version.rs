//! `GET /v1/workflows/{name}/versions/{version}`.

use super::no_such_workflow;
use super::place::name_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::workflow::version;
use api_types::WorkflowVersion;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a version of a workflow with its definition",
    answers: &[AnswerDoc {
        status: 200,
        text: "The version",
        content: Content::Json("WorkflowVersion"),
    }],
    problems: &[Code::InvalidParameter, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`; `not_found` for an unknown workflow, and for a version that is not kept; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowVersion>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let number = call.request.part("version").and_then(|part| part.parse::<i64>().ok());
    let number = number.filter(|number| *number >= 1).ok_or_else(|| {
        let detail = "must be the number of a version, from 1";
        Problem::at(Code::InvalidParameter, "path:version", detail)
    })?;
    let found = store::workflow::version(&call.state.api, &call.scope(), name, number).await?;
    Ok(Answer::ok(version(name, found.ok_or_else(no_such_workflow)?)?))
}
