//! `DELETE /v1/admin/plans/{name}`: a plan that nobody is on.

use super::super::named::{mismatch, name_of};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::wanted_version;
use api_types::DeletedPlan;
use store::plan::Deleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a plan",
    description: "Only a plan without tenants; a deleted tenant counts until it is purged. The plan `default` cannot be deleted.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc { status: 200, text: "Deleted", content: Content::Json("DeletedPlan") }],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` while tenants are on it; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<DeletedPlan>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    match store::plan::delete(&call.state.admin, &name, if_version, call.by()).await? {
        Deleted::Yes => Ok(Answer::ok(DeletedPlan { name, deleted: true })),
        Deleted::InUse => {
            let detail = format!(
                "The plan `{name}` is in use, or is the plan of new tenants; move its tenants first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        Deleted::VersionMismatch { version } => Err(mismatch("plan", Some(version))),
        Deleted::NotFound => Err(Problem::no_such("plan")),
    }
}
