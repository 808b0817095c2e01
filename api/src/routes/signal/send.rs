//! `POST /v1/signals/{key}`.

use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::{json, text_in_path};
use crate::task::{Findings, duration};
use api_types::Signal;
use api_types::request::NewSignal;
use bus::Topic;
use domain::plan::Quota;
use domain::workflow::{MAX_PAYLOAD, MAX_SIGNAL_KEY, is_signal_key};
use std::time::Duration;
use store::workflow::{SentSignal, SignalAnswer, send_signal};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Send a signal",
    description: "Nodes of your workflow runs that wait for this key succeed and return the payload. Nodes that begin to wait for it later \
                  do so at once, until the signal expires. A signal with the same key takes the place of an earlier one.",
    request: Some("SignalSend"),
    answers: &[AnswerDoc { status: 200, text: "Sent", content: Content::Json("Signal") }],
    problems: &[Code::QuotaExceeded, Code::OutcomeUnknown],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `validation_failed`; `quota_exceeded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Signal>, Problem> {
    call.query()?.finish()?;
    let key = text_in_path(&call.request, "key").filter(|key| is_signal_key(key)).ok_or_else(|| {
        let detail = format!("must be percent-encoded UTF-8, 1 to {MAX_SIGNAL_KEY} characters, without control characters");
        Problem::at(Code::InvalidParameter, "path:key", detail)
    })?;
    let NewSignal { payload, keep } =
        if call.body.is_empty() { NewSignal::default() } else { json::parse(&call.body)? };
    let mut found = Findings::default();
    let kept = duration(&mut found, "/keep", keep, Duration::ZERO..=30 * DAY, DAY);
    let payload = payload.unwrap_or_default().to_string();
    if payload.len() > MAX_PAYLOAD {
        found.wrong("/payload", format!("must have {MAX_PAYLOAD} bytes at most"));
    }
    found.into_result()?;
    let most = call.caller.limits().of(Quota::Signals);
    let sent_by = call.caller.actor().to_string().into();
    let signal = SentSignal { key, payload, kept, sent_by, most };
    // Sending twice does no harm: who waited has gone on.
    repeatable(&call, async || match send_signal(&call.state.api, &call.scope(), &signal).await? {
        SignalAnswer::Sent { nodes, expires_at } => {
            if nodes > 0 {
                call.state.bus.wake(Topic::Batcher);
                call.state.bus.wake(Topic::ShardOwner);
            }
            Ok(Answer::ok(Signal { key: signal.key.clone(), nodes, expires_at }))
        }
        SignalAnswer::QuotaReached => {
            Err(call.state.refusals.used_up(&call.caller, Quota::Signals, most).await)
        }
    })
    .await
}
