//! `POST /v1/admin/tenants/{id}/users`: invite a user of a tenant, such as its first owner: no API key makes owners.

use crate::answer::Answer;
use crate::auth::ended;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::view::{check_email, new_user};
use crate::task::Findings;
use api_types::request::UserInvite;
use domain::id::UserId;
use store::idempotency::Once;
use store::user::{Created, NewUser};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Invite a user of a tenant",
    description: "The response has a one-time token, shown once. The user sets a password with it (`POST /v1/sessions/accept`).",
    request: Some("UserInvite"),
    answers: &[AnswerDoc { status: 201, text: "Invited", content: Content::Json("NewUser") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `validation_failed`, for an address that is taken, too; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<api_types::NewUser>, Problem> {
    call.query()?.finish()?;
    let spec: UserInvite = json::parse(&call.body)?;
    let mut findings = Findings::new(String::new());
    let email = check_email(&mut findings, &spec.email);
    findings.into_result()?;
    let scope = scope_of(&call).await?;
    call.require_live().await?;
    let (entry, token) = call.state.sessions.invitation()?;
    let new = NewUser { id: UserId::fresh(), email, role: spec.role, entry };
    match store::user::create(&call.state.api, &scope, new, None, |_| Vec::new()).await? {
        Once::Done(Created::Done(user)) => Ok(Answer::created(new_user(user, Some(token)))),
        Once::Done(Created::EmailTaken) => {
            let detail = "belongs to another user of the tenant";
            Err(Problem::at(Code::ValidationFailed, "/email", detail))
        }
        Once::Done(Created::ActorEnded) | Once::Replayed { .. } | Once::KeyReused => Err(ended()),
    }
}
