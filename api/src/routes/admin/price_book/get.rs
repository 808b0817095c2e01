//! `GET /v1/admin/price-books/{name}`.

use super::super::named::name_of;
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use actix_web::http::StatusCode;
use api_types::PriceBook;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read a price book",
    answers: &[AnswerDoc {
        status: 200,
        text: "The price book, with its version as `ETag`",
        content: Content::Json("PriceBook"),
    }],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<PriceBook>, Problem> {
    call.query()?.finish()?;
    let found = store::price_book::find(&call.state.admin, &name_of(&call)?).await?;
    Ok(shown(StatusCode::OK, found.ok_or_else(|| Problem::no_such("price book"))?))
}
