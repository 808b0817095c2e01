//! `GET /v1/admin/tenants/{id}/users`: a tenant's users, newest first.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::view::user;
use api_types::{Page, User};
use domain::id::UserId;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the users of a tenant",
    description: "Newest first.",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("User") }],
    problems: &[Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<User>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `not_found`; `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &OperatorCall) -> Result<Page<User>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let scope = scope_of(call).await?;
    let (sealer, tenant) = (&call.state.sealer, scope.tenant());
    let context = Context::new(List::Users, ["operator"]);
    let before = page.after_id(sealer, tenant, context)?.map(UserId);
    let mut users = store::user::list(&call.state.api, &scope, before, page.limit + 1).await?;
    let more = page.cut(&mut users);
    let seal = |id: UserId| sealer.seal(tenant, context, id.uuid().as_bytes());
    pagination::page(users, more, |row| Ok(user(row)), |row| row.id, seal)
}
