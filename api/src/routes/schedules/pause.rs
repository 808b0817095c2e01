//! `POST /v1/schedules/{name}/pause`: due times come, are written down, and make no task.

use super::place::{name_in_path, no_such_schedule};
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::schedule::schedule;
use crate::task::{Findings, short_text};
use api_types::Schedule;
use api_types::request::SchedulePause;
use bus::Topic;

/// Longest reason.
const MAX_REASON: usize = 500;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Pause a schedule",
    description: "Due times have the outcome `paused` until it is resumed and are not caught up. A paused schedule keeps its first \
                  reason.",
    request: Some("SchedulePause"),
    answers: &[AnswerDoc {
        status: 200,
        text: "The paused schedule",
        content: Content::Json("Schedule"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `validation_failed`; `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Schedule>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    let SchedulePause { reason } =
        if call.body.is_empty() { SchedulePause::default() } else { json::parse(&call.body)? };
    if let Some(reason) = &reason {
        let mut found = Findings::default();
        short_text(&mut found, "/reason", reason, MAX_REASON);
        found.into_result()?;
    }
    repeatable(&call, async || {
        // Due times of its versions may take long to find.
        let _turn = call.state.computing.take(call.caller.tenant()).await?;
        let (db, scope) = (&call.state.api, call.scope());
        let paused = store::schedule::pause(db, &scope, name, reason.as_deref()).await?;
        call.state.bus.wake(Topic::ShardOwner);
        let paused = paused.ok_or_else(no_such_schedule)?;
        Ok(Answer::ok(schedule(paused, Vec::new())))
    })
    .await
}
