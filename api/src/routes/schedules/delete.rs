//! `DELETE /v1/schedules/{name}`: nothing of it fires any more. What it made goes on.

use super::place::{mismatch, name_in_path, no_such_schedule, wanted_version};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::DeletedSchedule;
use bus::Topic;
use store::schedule::DeleteAnswer;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a schedule",
    description: "Nothing fires after the response. Its tasks continue. The name can be used again for a new schedule.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc {
        status: 200,
        text: "Deleted",
        content: Content::Json("DeletedSchedule"),
    }],
    problems: &[Code::NotFound, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`, for one that is gone, too; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<DeletedSchedule>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let if_version = wanted_version(&call)?;
    nothing(&call.body)?;
    match store::schedule::delete(&call.state.api, &call.scope(), name, if_version).await? {
        DeleteAnswer::Deleted => {
            call.state.bus.wake(Topic::ShardOwner);
            Ok(Answer::ok(DeletedSchedule { name: name.to_owned(), deleted: true }))
        }
        DeleteAnswer::VersionMismatch { version } => Err(mismatch(Some(version))),
        DeleteAnswer::NotFound => Err(no_such_schedule()),
    }
}
