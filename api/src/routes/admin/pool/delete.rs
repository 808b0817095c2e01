//! `DELETE /v1/admin/pools/{name}`: a pool that nothing is in.

use super::view::{mismatch, name_of};
use crate::answer::json;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::wanted_version;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json as object;
use store::pool::PoolDeleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a pool",
    description: "Only one without live executors and without tasks that have not ended. Due times of schedules into it make no task. The \
                  pool `default` stays.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc { status: 200, text: "It is gone", content: Content::AnyJson }],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` while it is in use; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    match store::pool::delete(&call.state.admin, &name, if_version, call.by()).await? {
        PoolDeleted::Yes => json(StatusCode::OK, &object!({"name": name, "deleted": true})),
        PoolDeleted::InUse => {
            let detail = format!(
                "Executors, or tasks that have not ended, are in the pool `{name}`, or it is the usual one; stop and end them first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        PoolDeleted::VersionMismatch { version } => Err(mismatch(Some(version))),
        PoolDeleted::NotFound => Err(Problem::no_such("pool")),
    }
}
