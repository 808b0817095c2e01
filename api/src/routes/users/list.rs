//! `GET /v1/users`: a tenant's users, newest first.

use super::view::UserView;
use crate::answer::append_json;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{Page, answer_page};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;
use domain::id::UserId;
use store::user::UserInfo;

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
/// `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let mut query = call.query()?;
    let page = Page::take(&mut query)?;
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let context = Context::new(List::Users, []);
    let before = page.after_id(sealer, tenant, context)?.map(UserId);
    let (db, scope) = (&call.state.api, call.scope());
    let mut users = store::user::list(db, &scope, before, page.limit + 1).await?;
    let more = page.cut(&mut users);
    let view = |user: &UserInfo, out: &mut Vec<u8>| append_json(out, &UserView::from(user));
    answer_page(&users, more, view, |user| sealer.seal(tenant, context, user.id.uuid().as_bytes()))
}
