//! `PUT /v1/admin/price-books/{name}`: a price book, new or as it is from now on.

use super::super::named::{mismatch, name_of};
use super::view::shown;
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, FieldError, Problem};
use crate::request::{json as body, wanted_version};
use actix_web::http::StatusCode;
use domain::price::PriceBook;
use store::price_book::PriceBookStored;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a price book",
    description: "The whole book, with all its dated prices. Prices that are in effect stay as they are; what is added begins later. \
                  What was used keeps its price.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("PriceBookPut"),
    answers: &[
        AnswerDoc { status: 201, text: "The new price book", content: Content::Json("PriceBook") },
        AnswerDoc {
            status: 200,
            text: "Changed, or unchanged",
            content: Content::Json("PriceBook"),
        },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// What is wrong with it, or would change prices that are in effect; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<api_types::PriceBook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let book = checked(&call.body)?;
    match store::price_book::put(&call.state.admin, &name, if_version, &book, call.by()).await? {
        PriceBookStored::Created(book) => Ok(shown(StatusCode::CREATED, book)),
        PriceBookStored::Updated(book) | PriceBookStored::Unchanged(book) => {
            Ok(shown(StatusCode::OK, book))
        }
        PriceBookStored::Alters(altered) => Err(invalid(altered)),
        PriceBookStored::VersionMismatch { version } => Err(mismatch("price book", version)),
    }
}

/// The book in a body, with nothing wrong with it.
pub(super) fn checked(text: &[u8]) -> Result<PriceBook, Problem> {
    let book: PriceBook = body::parse(text)?;
    match book.problems() {
        wrong if !wrong.is_empty() => Err(invalid(wrong)),
        _ => Ok(book),
    }
}

fn invalid(problems: Vec<(String, String)>) -> Problem {
    let at = |(pointer, detail)| FieldError { pointer, detail };
    Problem::with_errors(Code::ValidationFailed, problems.into_iter().map(at).collect())
}
