//! `GET /v1/admin/tenants/{id}/invoices/{number}`: an invoice of a tenant, as JSON, CSV or PDF.

use super::super::tenant::billed_tenant;
use crate::call::OperatorCall;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::routes::invoices::named::{FORMAT, answer, format_of, name_of};
use actix_web::HttpResponse;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read an invoice of a tenant",
    query: &[FORMAT],
    answers: &[AnswerDoc {
        status: 200,
        text: "The invoice",
        content: Content::Document("Invoice"),
    }],
    problems: &[Code::InvalidParameter, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter` for what is no number or format; `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<HttpResponse, Problem> {
    let name = name_of(&call.request)?;
    let mut query = call.query()?;
    let format = format_of(&call.request, &mut query)?;
    query.finish()?;
    let tenant = billed_tenant(&call).await?;
    let (state, now) = (&call.state, runtime::clock::wall());
    let found =
        store::invoice::find_for_operator(&state.admin, tenant, name, &state.seller, now).await?;
    answer(invoice(found.ok_or_else(|| Problem::no_such("invoice"))?), format)
}
