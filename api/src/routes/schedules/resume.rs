//! `POST /v1/schedules/{name}/resume`: its due times make tasks again.

use super::place::{name_in_path, no_such_schedule};
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::nothing;
use crate::schedule::schedule;
use api_types::Schedule;
use bus::Topic;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Resume a paused schedule",
    description: "From its next due time. Due times of the pause are not caught up; use `/backfill`. No effect on a schedule that is \
                  not paused.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The active schedule",
        content: Content::Json("Schedule"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `idempotency_key_reuse`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Schedule>, Problem> {
    let name = name_in_path(&call)?;
    call.query()?.finish()?;
    nothing(&call.body)?;
    repeatable(&call, async || {
        // Due times of its versions may take long to find.
        let _turn = call.state.computing.take(call.caller.tenant()).await?;
        let resumed = store::schedule::resume(&call.state.api, &call.scope(), name).await?;
        call.state.bus.wake(Topic::ShardOwner);
        let resumed = resumed.ok_or_else(no_such_schedule)?;
        Ok(Answer::ok(schedule(resumed, Vec::new())))
    })
    .await
}
