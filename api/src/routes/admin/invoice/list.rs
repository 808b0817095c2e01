//! `GET /v1/admin/tenants/{id}/invoices`: a tenant's invoices, newest first. Also of a deleted one: what it owes stays.

use super::super::tenant::billed_tenant;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use api_types::{Invoice, Page};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List the invoices of a tenant",
    description: "Newest first, all of them; the present month is a draft.",
    answers: &[AnswerDoc { status: 200, text: "The invoices", content: Content::Page("Invoice") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<Invoice>>, Problem> {
    call.query()?.finish()?;
    let tenant = billed_tenant(&call).await?;
    let (state, now) = (&call.state, runtime::clock::wall());
    let found = store::invoice::list_for_operator(&state.admin, tenant, &state.seller, now).await?;
    Ok(Answer::ok(Page::last(found.into_iter().map(invoice).collect())))
}
