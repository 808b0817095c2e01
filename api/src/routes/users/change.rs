//! `PATCH /v1/users/{id}` and `DELETE /v1/users/{id}`: give a user another role, or remove one.
//!
//! Both are felt within 2 s: what a user may do is looked up, and not written in their token.

use super::view::{Named, find, named_in_path, no_such_user, user};
use crate::answer::json as answer;
use crate::auth::ended;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::{json, nothing};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::request::UserChange;
use store::user::{Change, Changed, UserInfo};

/// The document's words.
pub const ROLE_DOC: Doc = Doc {
    summary: "Change a user's role",
    description: "API keys of the user that the new role does not allow are revoked. You can only grant a role whose permissions you \
                  hold, and only owners can change owners.",
    request: Some("UserChange"),
    answers: &[AnswerDoc { status: 200, text: "Changed", content: Content::Json("User") }],
    problems: &[Code::NotFound, Code::LastOwner],
    ..Doc::EMPTY
};

/// The document's words.
pub const REMOVE_DOC: Doc = Doc {
    summary: "Remove a user",
    description: "The user's sign-ins end and the API keys created by the user are revoked.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The revoked object",
        content: Content::Json("User"),
    }],
    problems: &[Code::NotFound, Code::LastOwner],
    ..Doc::EMPTY
};

/// Gives another role.
///
/// # Errors
/// `not_found`; `scope_missing` for a role beyond the caller's, and for an owner; `last_owner`; what the database said.
pub async fn role(call: Call) -> Result<HttpResponse, Problem> {
    let spec: UserChange = json::parse(&call.body)?;
    call.caller.may_give(spec.role)?;
    change(call, Change::Role(spec.role)).await
}

/// Removes.
///
/// # Errors
/// As [`role`].
pub async fn remove(call: Call) -> Result<HttpResponse, Problem> {
    nothing(&call.body)?;
    change(call, Change::Remove).await
}

async fn change(call: Call, change: Change) -> Result<HttpResponse, Problem> {
    call.query()?.finish()?;
    let (db, scope, permissions) = (&call.state.api, call.scope(), call.caller.permissions());
    let id = match named_in_path(&call.request, "id")? {
        Named::Id(id) => id,
        by_address @ Named::Email(_) => find(db, &scope, by_address).await?.id,
    };
    let changed = store::user::change(db, &scope, id, change, permissions).await?;
    answer(StatusCode::OK, &user(done(changed)?))
}

/// The changed user, or why it was not.
pub(in crate::routes) fn done(changed: Changed) -> Result<UserInfo, Problem> {
    match changed {
        Changed::Done(user) => Ok(user),
        Changed::NotFound => Err(no_such_user()),
        Changed::ActorEnded => Err(ended()),
        Changed::Mightier => {
            Err(Problem::new(Code::ScopeMissing, "Only owners can change owners."))
        }
        Changed::LastOwner => Err(Problem::new(
            Code::LastOwner,
            "This is the tenant's last owner; add another first.",
        )),
    }
}
