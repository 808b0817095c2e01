//! `GET /v1/sessions`: where one is signed in oneself.

use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, SignedIn};
use domain::id::{SignInId, UserId};
use identity::Actor;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List your sign-ins",
    description: "Newest first, on one page; at most 100.",
    answers: &[AnswerDoc { status: 200, text: "All", content: Content::Page("SignedIn") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter` for a query; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<SignedIn>>, Problem> {
    call.query()?.finish()?;
    let (user, current) = signed_in(&call)?;
    let all = store::sign_in::list(&call.state.api, &call.scope(), user).await?;
    let view = all.into_iter().map(|one| SignedIn {
        id: one.id,
        created_at: one.created_at,
        refreshed_at: one.refreshed_at,
        expires_at: one.expires_at,
        current: one.id == current,
    });
    Ok(Answer::ok(Page::last(view.collect())))
}

/// The user, and by which sign-in they ask.
pub(super) fn signed_in(call: &Call) -> Result<(UserId, SignInId), Problem> {
    match call.caller.actor() {
        Actor::User(user, sign_in) => Ok((user, sign_in)),
        // The permission is no key's; this says the same to one that came here nonetheless.
        Actor::Key(_) => Err(Problem::no_such("session")),
    }
}
