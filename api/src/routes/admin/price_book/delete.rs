//! `DELETE /v1/admin/price-books/{name}`: a price book that no plan has named.

use super::super::named::{mismatch, name_of};
use crate::answer::Answer;
use crate::call::OperatorCall;
use crate::openapi::{AnswerDoc, Content, Doc, IF_MATCH};
use crate::problem::{Code, Problem};
use crate::request::wanted_version;
use api_types::DeletedPriceBook;
use store::price_book::Deleted;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Delete a price book",
    description: "Only one that no plan names or has named: what was used then has its prices.",
    headers: &[IF_MATCH],
    answers: &[AnswerDoc {
        status: 200,
        text: "Deleted",
        content: Content::Json("DeletedPriceBook"),
    }],
    problems: &[Code::NotFound, Code::Conflict, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` where a plan names it, or did; `version_mismatch`; what the database said.
pub async fn handle(call: OperatorCall) -> Result<Answer<DeletedPriceBook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    match store::price_book::delete(&call.state.admin, &name, if_version, call.by()).await? {
        Deleted::Yes => Ok(Answer::ok(DeletedPriceBook { name, deleted: true })),
        Deleted::InUse => {
            let detail = format!(
                "A plan names the price book `{name}`, or has named it: what was used then has its prices. It stays; plans may name another."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        Deleted::VersionMismatch { version } => Err(mismatch("price book", Some(version))),
        Deleted::NotFound => Err(Problem::no_such("price book")),
    }
}
