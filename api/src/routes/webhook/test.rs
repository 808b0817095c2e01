//! `POST /v1/webhooks/{name}/test`: sends an event of no task, schedule, quota or cap.

use super::place::{name_of, no_such_webhook};
use super::view::delivery;
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use api_types::{Event, WebhookDelivery};
use domain::id::DeliveryId;
use runtime::clock::wall;
use serde_json::json;

/// Type of the event.
const TYPE: &str = "berth.webhook.test";

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Send a test to a webhook",
    description: "An event of type `berth.webhook.test`, as it is, without the webhook's filters and template. Read the delivery to see what \
                  the receiver answered.",
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
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WebhookDelivery>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    nothing(&call.body)?;
    repeatable(&call, async || {
        let id = DeliveryId::fresh();
        let event = Event {
            specversion: "1.0".to_owned(),
            id: id.to_string(),
            source: call.state.source.clone(),
            event_type: TYPE.to_owned(),
            subject: name.to_string(),
            time: wall(),
            datacontenttype: "application/json".to_owned(),
            sequence: format!("{:020}", 0),
            data: json!({"webhook": name.to_string()}),
        };
        let text = serde_json::to_string(&event).unwrap_or_default();
        let (db, scope) = (&call.state.api, call.scope());
        let made = store::webhook::test(db, &scope, &name, (id, TYPE), &text).await?;
        Ok(Answer::accepted(delivery(made.ok_or_else(no_such_webhook)?)))
    })
    .await
}
