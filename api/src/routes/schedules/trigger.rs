//! `POST /v1/schedules/{name}/trigger`: fire now, whatever its times, pause and overlap say.
//!
//! It counts as a task that is submitted. It must not happen twice, and its key is not in its own transaction: a key that was begun and
//! never answered is not tried again, and whoever sends it is told to look.

use super::place::{name_in_path, no_such_schedule};
use crate::answer::{raw_json, to_json};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::{Call, idempotency_key, key_reused, nothing, replayed};
use crate::schedule::FireView;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use bus::Topic;
use domain::plan::Quota;
use store::idempotency::Begun;
use store::schedule::TriggerAnswer;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Fire a schedule now",
    description: "Whatever its times, its pause and its overlap say. Its due times stay as they are, and it does not count against \
                  `max_fires`.",
    answers: &[AnswerDoc {
        status: 201,
        text: "The fire, with its task",
        content: Content::Json("Fire"),
    }],
    problems: &[
        Code::NotFound,
        Code::Conflict,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `conflict` where a task of its `unique_key` has not ended; `rate_limited`, `quota_exceeded`; `idempotency_key_reuse`; what the
/// database said.
pub async fn handle(call: Call) -> Result<HttpResponse, Problem> {
    call.caller.require_active()?;
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    let Some(key) = idempotency_key(&call)? else {
        admit(&call).await?;
        return Ok(raw_json(StatusCode::CREATED, fire(&call, name).await?));
    };
    let (db, scope) = (&call.state.api, call.scope());
    // What is refused leaves no key behind.
    if !store::idempotency::stands(&call.state.submit, &scope, &key).await? {
        admit(&call).await?;
    }
    match store::idempotency::begin(db, &scope, &key).await? {
        Begun::Replayed { status, body } => Ok(replayed(status, body)),
        Begun::KeyReused => Err(key_reused()),
        Begun::Unfinished => {
            let detail = "A trigger with this Idempotency-Key was begun, and whether it fired was not kept. Look at the \
                          schedule's fires; to fire it again, take a new key.";
            Err(Problem::new(Code::Conflict, detail))
        }
        Begun::Fresh => {
            let body = fire(&call, name).await?;
            let status = StatusCode::CREATED;
            store::idempotency::finish(db, &scope, &key, status.as_u16(), &body).await?;
            Ok(raw_json(status, body))
        }
    }
}

/// It is a task more: of the rates and of the backlog.
async fn admit(call: &Call) -> Result<(), Problem> {
    let limiter = &call.state.limiter;
    if let Some(shortage) = limiter.admit(&call.meter, 1).await.shortage {
        return Err(limiter.refuse(shortage, &call.caller));
    }
    let room = call.state.backlog.room(&call.caller, 1).await?;
    if room.tasks() == 0 {
        return Err(call.state.refusals.used_up(&call.caller, Quota::Backlog, room.used()).await);
    }
    room.settle(1);
    Ok(())
}

async fn fire(call: &Call, name: &str) -> Result<Vec<u8>, Problem> {
    let key_id = call.caller.actor().to_string();
    let (db, scope) = (&call.state.submit, call.scope());
    match store::schedule::trigger(db, &scope, name, &key_id).await? {
        TriggerAnswer::Fired(fire) => {
            call.state.bus.wake(Topic::Batcher);
            to_json(&FireView::from(&fire))
        }
        TriggerAnswer::Existing(task) => {
            let detail = format!(
                "The schedule's tasks have a `unique_key`, and `{task}` with it has not ended."
            );
            Err(Problem::new(Code::Conflict, detail))
        }
        TriggerAnswer::NotFound => Err(no_such_schedule()),
    }
}
