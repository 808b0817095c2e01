//! `GET /v1/admin/price-books`: every price book, by name. They are few: one page.

use super::view::price_book;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Page, PriceBook};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List price books",
    description: "All, by name.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The price books",
        content: Content::Page("PriceBook"),
    }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<Page<PriceBook>>, Problem> {
    call.query()?.finish()?;
    let books = store::price_book::list(&call.state.admin).await?;
    Ok(Answer::ok(Page::last(books.into_iter().map(price_book).collect())))
}
