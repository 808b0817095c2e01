//! What a person decides: shared by `approve` and `reject`.

use super::get::read;
use crate::answer::Answer;
use crate::call::{Call, repeatable};
use crate::problem::{Code, Problem};
use crate::request::json;
use crate::task::{Findings, short_text, task};
use api_types::Task;
use api_types::request::Decision as Body;
use bus::Topic;
use store::workflow::{ApprovalAnswer, Decision, decide};

/// Longest note.
const MAX_NOTE: usize = 500;

pub(super) async fn decided(call: &Call, approved: bool) -> Result<Answer<Task>, Problem> {
    let id = call.task_id()?;
    call.query()?.finish()?;
    let Body { note } =
        if call.body.is_empty() { Body::default() } else { json::parse(&call.body)? };
    if let Some(note) = &note {
        let mut found = Findings::default();
        short_text(&mut found, "/note", note, MAX_NOTE);
        found.into_result()?;
    }
    let by = call.caller.actor().to_string().into();
    let decision = Decision { task: id, approved, by, note };
    // With an idempotency key: it may have been decided, and the answer be lost.
    repeatable(call, async || {
        match decide(&call.state.api, &call.scope(), &decision).await? {
            ApprovalAnswer::Decided => {
                call.state.bus.wake(Topic::Batcher);
                call.state.bus.wake(Topic::ShardOwner);
                Ok(Answer::ok(task(read(call, id).await?)))
            }
            ApprovalAnswer::NotWaiting => {
                let detail = "The task does not wait for approval: not yet, not any more, or its node waits for no person.";
                Err(Problem::new(Code::Conflict, detail))
            }
            ApprovalAnswer::NotFound => Err(Problem::not_found()),
        }
    })
    .await
}
