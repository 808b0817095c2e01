//! `GET /v1/invoices/{number}`: an invoice, as JSON, CSV or PDF.

use super::named::{FORMAT, answer, format_of, name_of};
use crate::call::Call;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::HttpResponse;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read an invoice",
    description: "By its number, `2030-01-0007`, or a draft by its month and currency, `2030-01-EUR`. All amounts of JSON are whole \
                  micro-units, and those of CSV and PDF units of the currency.",
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
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    let name = name_of(&call.request)?;
    let mut query = call.query()?;
    let format = format_of(&call.request, &mut query)?;
    query.finish()?;
    let (state, now) = (&call.state, runtime::clock::wall());
    let found = store::invoice::find(&state.api, &call.scope(), name, &state.seller, now).await?;
    answer(invoice(found.ok_or_else(Problem::not_found)?), format)
}
