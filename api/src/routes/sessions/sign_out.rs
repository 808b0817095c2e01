//! `DELETE /v1/sessions` and `DELETE /v1/sessions/{id}`: sign out, here or elsewhere.

use super::list::signed_in;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::SignedOut;
use domain::audit::AuditAction;
use domain::id::SignInId;

const ENDED: [AnswerDoc; 1] =
    [AnswerDoc { status: 200, text: "The ended sign-in", content: Content::Json("SignedOut") }];

/// The document's words.
pub const HERE_DOC: Doc = Doc {
    summary: "Sign out",
    description: "Every process refuses its tokens within 2 s.",
    answers: &ENDED,
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// The document's words.
pub const THERE_DOC: Doc = Doc {
    summary: "Sign out elsewhere",
    description: "Ends one of your own sign-ins. Every process refuses its tokens within 2 s.",
    answers: &ENDED,
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Signs out here.
///
/// # Errors
/// `not_found` when it was over before; what the database said.
pub async fn here(call: Call) -> Result<Answer<SignedOut>, Problem> {
    let (_, current) = signed_in(&call)?;
    end(call, current, AuditAction::SessionSignOut).await
}

/// Signs out elsewhere.
///
/// # Errors
/// `not_found` when it was over before, or is no sign-in of this user; what the database said.
pub async fn there(call: Call) -> Result<Answer<SignedOut>, Problem> {
    let text = call.request.part("id").unwrap_or_default();
    let id = text.parse().map_err(|_| Problem::no_such("session"))?;
    end(call, id, AuditAction::SessionEnd).await
}

async fn end(call: Call, id: SignInId, action: AuditAction) -> Result<Answer<SignedOut>, Problem> {
    call.query()?.finish()?;
    nothing(&call.body)?;
    let (user, _) = signed_in(&call)?;
    let (db, scope) = (&call.state.api, call.scope());
    if !store::sign_in::end(db, &scope, user, id, action).await? {
        return Err(Problem::no_such("session"));
    }
    Ok(Answer::ok(SignedOut { id }))
}
