//! `DELETE /v1/admin/plans/{name}`: a plan that nobody is on.

use super::view::name_of;
use crate::answer::json;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::OperatorCall;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json as object;
use store::plan::Deleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a plan",
    description: "Only one that no tenant is on; a deleted one counts until it is purged. The plan `default` stays.",
    answers: &[AnswerDoc { status: 200, text: "It is gone", content: Content::AnyJson }],
    problems: &[Code::NotFound, Code::Conflict],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` while tenants are on it; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    match store::plan::delete(&call.state.admin, &name, call.by()).await? {
        Deleted::Yes => json(StatusCode::OK, &object!({"name": name, "deleted": true})),
        Deleted::InUse => {
            let detail = format!(
                "Tenants are on the plan `{name}`, or begin with it; move them to another one first."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        Deleted::NotFound => Err(Problem::no_such("plan")),
    }
}
