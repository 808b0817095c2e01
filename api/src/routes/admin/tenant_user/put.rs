//! `PUT /v1/admin/tenants/{id}/users/{login}`: a user of a tenant, under their e-mail address.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerHeader, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::put::{ANSWERS, Asked, StoredUser};
use domain::access::Role;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a user of a tenant",
    description: "By e-mail address: a new user is invited, and the response has a one-time token, shown once. An id names a user who \
                  exists.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("UserPut"),
    answers: &ANSWERS,
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound, Code::LastOwner, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As `Asked::of` and `Asked::store`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<StoredUser>, Problem> {
    call.query()?.finish()?;
    let asked = Asked::of(&call.request, "login", &call.body)?;
    let scope = scope_of(&call).await?;
    call.require_live().await?;
    // Whoever runs the installation may make and change owners.
    asked.store(&call.state, &scope, Role::Owner.permissions()).await
}
