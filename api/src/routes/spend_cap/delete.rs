//! `DELETE /v1/spend-caps/{name}`: tasks are accepted without it from now on.

use super::view::{name_of, no_such_cap};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{nothing, other_version, wanted_version};
use api_types::DeletedSpendCap;
use store::spend_cap::CapDeleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a spend cap",
    description: "Tasks are accepted without it from now on. Another cap of this name begins anew.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc {
        status: 200,
        text: "Deleted",
        content: Content::Json("DeletedSpendCap"),
    }],
    problems: &[Code::NotFound, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `version_mismatch`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<DeletedSpendCap>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    nothing(&call.body)?;
    match store::spend_cap::delete(&call.state.api, &call.scope(), &name, if_version).await? {
        CapDeleted::Yes => Ok(Answer::ok(DeletedSpendCap { name, deleted: true })),
        CapDeleted::VersionMismatch { version } => Err(other_version("spend cap", Some(version))),
        CapDeleted::NotFound => Err(no_such_cap()),
    }
}
