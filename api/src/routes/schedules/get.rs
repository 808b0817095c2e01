//! `GET /v1/schedules/{name}`.

use super::place::{name_in_path, no_such_schedule, shown};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::Schedule;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a schedule",
    description: "`warnings` reports a missing pool: due times then create no task.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The schedule, with its version as `ETag`",
        content: Content::Json("Schedule"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Schedule>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let found = store::schedule::get(&call.state.api, &call.scope(), name).await?;
    shown(&call, found.ok_or_else(no_such_schedule)?).await
}
