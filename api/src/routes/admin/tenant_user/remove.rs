//! `DELETE /v1/admin/tenants/{id}/users/{login}`: removes a user of a tenant.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{nothing, wanted_version};
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::change::{Asked, REMOVED};
use crate::routes::users::view::named_in_path;
use api_types::User;
use domain::access::Role;
use store::user::Change;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Remove a user of a tenant",
    description: "By e-mail address or id. The user's sign-ins end and the API keys created by the user are revoked.",
    headers: &[IF_MATCH],
    answers: &REMOVED,
    problems: &[Code::NotFound, Code::LastOwner, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `last_owner`; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<User>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    let named = named_in_path(&call.request, "login")?;
    let if_version = wanted_version(call.request.headers())?;
    let scope = scope_of(&call).await?;
    call.require_live().await?;
    // Whoever runs the installation may remove owners.
    let permissions = Role::Owner.permissions();
    Asked { named, if_version, change: Change::Remove, permissions }.make(&call.state, &scope).await
}
