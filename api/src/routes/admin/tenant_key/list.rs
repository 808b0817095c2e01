//! `GET /v1/admin/tenants/{id}/keys`: a tenant's API keys, newest first.

use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, PAGE};
use crate::pagination::{self, PageRequest, outdated_cursor};
use crate::problem::{Code, Problem};
use crate::routes::admin::tenant::scope_of;
use crate::routes::keys::list::{read, written};
use crate::routes::keys::view::api_key;
use api_types::{ApiKey, Page};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the API keys of a tenant",
    description: "Newest first. With expired keys, without revoked ones.",
    query: &PAGE,
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("ApiKey") }],
    problems: &[Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<ApiKey>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `not_found`; `invalid_parameter`, `invalid_cursor`; what the database said.
pub async fn list(call: &OperatorCall) -> Result<Page<ApiKey>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    query.finish()?;
    let scope = scope_of(call).await?;
    let (sealer, tenant) = (&call.state.sealer, scope.tenant());
    let context = Context::new(List::Keys, ["operator"]);
    let after = page.position(sealer, tenant, context)?;
    let after = after.map(|bytes| read(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let db = &call.state.api;
    let mut keys = store::key::list(db, &scope, None, after.as_ref(), page.limit + 1).await?;
    let more = page.cut(&mut keys);
    let seal = |place: Vec<u8>| sealer.seal(tenant, context, &place);
    pagination::page(keys, more, |key| Ok(api_key(key)), written, seal)
}
