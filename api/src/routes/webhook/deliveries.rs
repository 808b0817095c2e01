//! What was sent: `GET /v1/webhooks/{name}/deliveries` and `GET /v1/webhooks/{name}/deliveries/{id}`.

use super::place::{delivery_of, from_bytes, name_of, no_such_delivery, no_such_webhook, to_bytes};
use super::view::delivery;
use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{PageRequest, outdated_cursor, page};
use crate::problem::{Code, Problem};
use crate::request::wrong_parameter;
use api_types::{Page, WebhookDelivery};
use domain::webhook::DeliveryState;
use store::webhook::DeliveryFilter;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List deliveries of a webhook, newest first",
    description: "Each with its latest tries: when, how long, and what the receiver answered.",
    query: &[
        Param {
            name: "state",
            text: "How it stands",
            form: Form::OneOf(&["pending", "delivered", "failed"]),
        },
        Param { name: "type", text: "Exact type of the event", form: Form::Text },
        PAGE[0],
        PAGE[1],
    ],
    answers: &[AnswerDoc {
        status: 200,
        text: "A page",
        content: Content::Page("WebhookDelivery"),
    }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// The document's words.
pub const ONE_DOC: Doc = Doc {
    summary: "Read a delivery",
    description: "With what is sent.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The delivery",
        content: Content::Json("WebhookDelivery"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<WebhookDelivery>>, Problem> {
    let name = name_of(&call)?;
    let mut query = call.query()?;
    let asked = PageRequest::take(&mut query)?;
    let state = query.one("state")?;
    let state = state
        .map(|text| text.parse::<DeliveryState>())
        .transpose()
        .map_err(|_| wrong_parameter("state", "must be pending, delivered or failed"))?;
    let filter = DeliveryFilter { state, event_type: query.one("type")? };
    query.finish()?;
    let (sealer, tenant) = (&call.state.sealer, call.caller.tenant());
    let parts = [
        name.as_str(),
        filter.state.map_or("", DeliveryState::as_str),
        filter.event_type.as_deref().unwrap_or(""),
    ];
    let context = Context::new(List::WebhookDeliveries, parts);
    let after = asked.position(sealer, tenant, context)?;
    let after = after.map(|bytes| from_bytes(&bytes).ok_or_else(outdated_cursor)).transpose()?;
    let (db, scope, limit) = (&call.state.api, call.scope(), asked.limit + 1);
    let found = store::webhook::deliveries(db, &scope, &name, &filter, (after, limit)).await?;
    let mut rows = found.ok_or_else(no_such_webhook)?;
    let more = asked.cut(&mut rows);
    let shown = page(
        rows,
        more,
        |row| Ok(delivery(row)),
        |row| row.place,
        |place| sealer.seal(tenant, context, &to_bytes(place)),
    );
    Ok(Answer::ok(shown?))
}

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn one(call: Call) -> Result<Answer<WebhookDelivery>, Problem> {
    call.query()?.finish()?;
    let (name, id) = (name_of(&call)?, delivery_of(&call)?);
    let found = store::webhook::delivery(&call.state.api, &call.scope(), &name, id).await?;
    Ok(Answer::ok(delivery(found.ok_or_else(no_such_delivery)?)))
}
