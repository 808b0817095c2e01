//! `POST /v1/webhooks/{name}/rotate`: another secret, and both sign for a while.

use super::place::{name_of, no_such_webhook};
use super::view::view;
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json as body;
use crate::task::{Findings, duration};
use api_types::{Webhook, WebhookRotate};
use domain::webhook::{ParseSecretError, SigningSecret};
use std::time::Duration;

/// The longest that two secrets sign.
const LONGEST: Duration = Duration::from_hours(720);
/// How long they do where nothing is said.
const USUAL: Duration = Duration::from_hours(24);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Give a webhook another secret",
    description: "Deliveries have two signatures until `old_secret_until`, so that the receiver can change its secret meanwhile. The \
                  response has the new one, which is not shown again; that to a repeated call has none.",
    request: Some("WebhookRotate"),
    answers: &[AnswerDoc { status: 200, text: "The webhook", content: Content::Json("Webhook") }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Webhook>, Problem> {
    call.query()?.finish()?;
    let name = name_of(&call)?;
    let given: WebhookRotate =
        if call.body.is_empty() { WebhookRotate::default() } else { body::parse(&call.body)? };
    let mut found = Findings::default();
    let bounds = Duration::ZERO..=LONGEST;
    let keep = duration(&mut found, "/keep_old", given.keep_old, bounds, USUAL);
    let secret = given.secret.as_deref().map(str::parse::<SigningSecret>).transpose();
    if let Err(error) = &secret {
        let error: &ParseSecretError = error;
        found.wrong("/secret", error.to_string());
    }
    found.into_result()?;
    let secret = match secret.unwrap_or_default() {
        Some(secret) => secret,
        None => identity::signing_secret()?,
    };
    let mut made = None;
    let answer = repeatable(&call, async || {
        let (db, scope) = (&call.state.api, call.scope());
        let rotated = store::webhook::rotate(db, &scope, &name, &secret, keep).await?;
        let rotated = rotated.ok_or_else(no_such_webhook)?;
        made = Some(rotated.clone());
        Ok(Answer::ok(view(rotated, None)))
    });
    let answer = answer.await?;
    // The secret is in this response alone: what is kept for a repeated call has none.
    Ok(made.map_or(answer, |made| Answer::ok(view(made, Some(&secret)))))
}
