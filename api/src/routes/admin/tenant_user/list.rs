//! `GET /v1/admin/tenants/{id}/users`: a tenant's users, newest first.

use crate::answer::append_json;
use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{Page, answer_page};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::users::view::UserView;
use actix_web::HttpResponse;
use domain::id::UserId;
use store::user::UserInfo;

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
/// `not_found`; `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let page = Page::take(&mut query)?;
    query.finish()?;
    let scope = scope_of(&call).await?;
    let (sealer, tenant) = (&call.state.sealer, scope.tenant());
    let context = Context::new(List::Users, ["operator"]);
    let before = page.after_id(sealer, tenant, context)?.map(UserId);
    let mut users = store::user::list(&call.state.api, &scope, before, page.limit + 1).await?;
    let more = page.cut(&mut users);
    let view = |user: &UserInfo, out: &mut Vec<u8>| append_json(out, &UserView::from(user));
    answer_page(&users, more, view, |user| sealer.seal(tenant, context, user.id.uuid().as_bytes()))
}
