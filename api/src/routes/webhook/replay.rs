//! Sends deliveries again: `POST /v1/webhooks/{name}/replay` and `POST /v1/webhooks/{name}/deliveries/{id}/replay`.

use super::place::{delivery_of, name_of, no_such_delivery, no_such_webhook};
use super::view::delivery;
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::{json as body, nothing};
use api_types::{ReplayOf, WebhookDelivery, WebhookReplay, WebhookReplayed};
use runtime::clock::wall;
use store::webhook::ReplayFilter;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Send deliveries again",
    description: "Deliveries that have ended, oldest events first, with the same ids and bodies: what was given up (`failed`), or `all`. At \
                  most 10000 a call.",
    request: Some("WebhookReplay"),
    answers: &[AnswerDoc {
        status: 202,
        text: "What is sent again",
        content: Content::Json("WebhookReplayed"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// The document's words.
pub const ONE_DOC: Doc = Doc {
    summary: "Send a delivery again",
    description: "With the same id and body, at once; one that waits for its next try does not wait.",
    answers: &[AnswerDoc {
        status: 202,
        text: "The delivery",
        content: Content::Json("WebhookDelivery"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WebhookReplayed>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let WebhookReplay { from, until, only } = body::parse(&call.body)?;
    let until = until.unwrap_or_else(wall);
    if until <= from {
        let detail = "must be after `from`".to_owned();
        return Err(Problem::at(Code::ValidationFailed, "/until", detail));
    }
    let filter = ReplayFilter { from, until, only_failed: only == ReplayOf::Failed };
    repeatable(&call, async || {
        let replayed =
            store::webhook::replay(&call.state.api, &call.scope(), &name, filter).await?;
        let replayed = replayed.ok_or_else(no_such_webhook)?;
        let (deliveries, is_cut) = (replayed.deliveries, replayed.is_cut);
        Ok(Answer::accepted(WebhookReplayed { deliveries, is_cut }))
    })
    .await
}

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn one(call: Call) -> Result<Answer<WebhookDelivery>, Problem> {
    call.query()?.finish()?;
    let (name, id) = (name_of(&call)?, delivery_of(&call)?);
    nothing(&call.body)?;
    repeatable(&call, async || {
        let sent = store::webhook::replay_one(&call.state.api, &call.scope(), &name, id).await?;
        Ok(Answer::accepted(delivery(sent.ok_or_else(no_such_delivery)?)))
    })
    .await
}
