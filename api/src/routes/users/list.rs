//! `GET /v1/users`: a tenant's users, newest first.

use super::view::user;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest};
use crate::problem::{Code, Problem};
use api_types::{Page, User};
use domain::id::UserId;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List users, newest first",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("User") }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<User>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &Call) -> Result<Page<User>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::Users, []);
    let before = page.after_id(sealer, tenant, context)?.map(UserId);
    let (db, scope) = (&call.state.api, call.scope());
    let mut users = store::user::list(db, &scope, before, page.limit + 1).await?;
    let more = page.cut(&mut users);
    let seal = |id: UserId| sealer.seal(tenant, context, id.uuid().as_bytes());
    pagination::page(users, more, |row| Ok(user(row)), |row| row.id, seal)
}
