//! `DELETE /v1/admin/pools/{name}`: a pool that nothing is in.

use super::super::named::{mismatch, name_of};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::wanted_version;
use api_types::DeletedPool;
use store::pool::PoolDeleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a pool",
    description: "Only a pool without connected executors and unfinished tasks. Due times of its schedules then create no task. The \
                  pool `default` cannot be deleted.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc { status: 200, text: "Deleted", content: Content::AnyJson }],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` while it is in use; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<DeletedPool>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    match store::pool::delete(&call.state.admin, &name, if_version, call.by()).await? {
        PoolDeleted::Yes => Ok(Answer::ok(DeletedPool { deleted: true, name })),
        PoolDeleted::InUse => {
            let detail = format!(
                "The pool `{name}` has executors or unfinished tasks, or is the default pool."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        PoolDeleted::VersionMismatch { version } => Err(mismatch("pool", Some(version))),
        PoolDeleted::NotFound => Err(Problem::no_such("pool")),
    }
}
