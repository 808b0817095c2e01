//! `POST /v1/webhooks/{name}/resume`: enables a webhook that was disabled.

use super::place::{name_of, no_such_webhook};
use super::view::view;
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::Webhook;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Enable a webhook that was disabled",
    description: "What waits is sent first, then what happened meanwhile, up to three days back. One that is not disabled stays as it is; \
                  what is `paused` is stored with another value.",
    answers: &[AnswerDoc { status: 200, text: "The webhook", content: Content::Json("Webhook") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Webhook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    nothing(&call.body)?;
    repeatable(&call, async || {
        let resumed = store::webhook::resume(&call.state.api, &call.scope(), &name).await?;
        Ok(Answer::ok(view(resumed.ok_or_else(no_such_webhook)?, None)))
    })
    .await
}
