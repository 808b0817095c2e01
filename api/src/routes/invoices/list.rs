//! `GET /v1/invoices`: one a month and currency, newest first.

use crate::answer::Answer;
use crate::call::Call;
use crate::invoice::invoice;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::Problem;
use api_types::{Invoice, Page};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List invoices",
    description: "Newest first, all of them: one a month and currency. Months are of the tenant's zone. The present month is a draft, \
                  computed from what has been counted.",
    answers: &[AnswerDoc { status: 200, text: "The invoices", content: Content::Page("Invoice") }],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<Invoice>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// The list.
///
/// # Errors
/// What the database said.
pub async fn list(call: &Call) -> Result<Page<Invoice>, Problem> {
    call.query()?.finish()?;
    let (state, now) = (&call.state, runtime::clock::wall());
    let found = store::invoice::list(&state.api, &call.scope(), &state.seller, now).await?;
    Ok(Page::last(found.into_iter().map(invoice).collect()))
}
