//! `GET /v1/admin/tenants`: the customers, newest first.

use super::view::tenant;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::PageRequest;
use crate::problem::{Code, Problem};
use api_types::{Page, Tenant};
use domain::id::TenantId;
use domain::tenant::TenantState;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List tenants",
    description: "Newest first.",
    query: &[
        PAGE[0],
        PAGE[1],
        Param {
            name: "state",
            text: "`active`, `suspended` or `deleted`",
            form: Form::Schema("TenantState"),
        },
        Param {
            name: "name",
            text: "Only the tenant of this name, or of one that is taken for it",
            form: Form::Text,
        },
    ],
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Tenant") }],
    problems: &[Code::InvalidCursor],
    ..Doc::EMPTY
};

/// Cursors are signed for a tenant; those of operators for none.
const NOBODY: TenantId = TenantId(uuid::Uuid::nil());

/// Answers.
///
/// # Errors
/// What is wrong with the parameters; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Tenant>>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    let state: Option<TenantState> = query.parsed("state", "active, suspended or deleted")?;
    let name = query.one("name")?;
    query.finish()?;
    if let Some(name) = name {
        if page.has_cursor() {
            let detail = "cannot be given together with `name`, which finds one tenant at most";
            return Err(Problem::at(Code::InvalidParameter, "query:cursor", detail));
        }
        return named(&call, &name, state).await;
    }
    let context = Context::new(List::Tenants, state.map(TenantState::as_str));
    let before = page.after_id(&call.state.sealer, NOBODY, context)?.map(TenantId);
    let mut found = store::tenant::list(&call.state.admin, state, before, page.limit + 1).await?;
    let more = page.cut(&mut found);
    let seal = |id: TenantId| call.state.sealer.seal(NOBODY, context, id.uuid().as_bytes());
    let next_cursor = found.last().filter(|_| more).map(|tenant| seal(tenant.id));
    let data: Vec<_> = found.into_iter().map(tenant).collect();
    Ok(Answer::ok(Page { data, next_cursor }))
}

/// A page of the tenant of this name, if there is one.
async fn named(
    call: &OperatorCall,
    name: &str,
    state: Option<TenantState>,
) -> Result<Answer<Page<Tenant>>, Problem> {
    let db = &call.state.admin;
    let found = match store::tenant::find_by_name(db, name).await? {
        Some(id) => store::tenant::get(db, id).await?,
        None => None,
    };
    let found = found.filter(|tenant| state.is_none_or(|state| tenant.state == state));
    let data: Vec<_> = found.into_iter().map(tenant).collect();
    Ok(Answer::ok(Page::last(data)))
}
