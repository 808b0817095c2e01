//! `GET /v1/workflows/{name}`.

use super::no_such_workflow;
use super::place::name_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::workflow::workflow;
use actix_web::http::StatusCode;
use api_types::Workflow;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a workflow",
    answers: &[AnswerDoc {
        status: 200,
        text: "The workflow, with its version as `ETag`",
        content: Content::Json("Workflow"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Workflow>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let found = store::workflow::get(&call.state.api, &call.scope(), name).await?;
    let record = found.ok_or_else(no_such_workflow)?;
    Ok(Answer::versioned(StatusCode::OK, record.version, workflow(record, Vec::new())?))
}
