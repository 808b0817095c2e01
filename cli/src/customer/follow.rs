//! Following a task to its end: its output where it was written to, its states beside it.
//!
//! Used by `berth submit --follow` and `berth logs -f`. Ctrl-C ends the following, never the task.

use super::connection::Connection;
use super::ended::ended;
use super::failure::failure;
use super::log_reader::Reader;
use crate::failure::{Exit, Failure};
use crate::output::{self, Format, paint};
use client::{ClientError, FollowEvent, FollowedState, LogChunk, LogFilter};
use domain::id::TaskId;
use serde_json::{Value, json};

/// Writes what happens until the task has ended; fails where it did not succeed.
pub(super) async fn follow(
    connection: &Connection,
    task: TaskId,
    filter: LogFilter,
    mut reader: Reader,
) -> Result<(), Failure> {
    let mut following = connection.client.follow(task, filter);
    while let Some(event) = following.next().await.map_err(|error| lost(&error, task))? {
        match (connection.format, &event) {
            (Format::Json, event) => output::line(&shown(event).to_string())?,
            (Format::Table, FollowEvent::Output(chunk)) => reader.write(chunk)?,
            (Format::Table, FollowEvent::State(now)) if output::is_terminal_for_remarks() => {
                let attempt = if now.attempt > 0 {
                    format!(" (attempt {})", now.attempt)
                } else {
                    String::new()
                };
                output::remark(&format!(
                    "berth: {}{attempt}",
                    paint::state_for_remarks(&now.state)
                ));
            }
            (Format::Table, FollowEvent::State(_) | FollowEvent::End(_)) => {}
        }
        if let FollowEvent::End(FollowedState { state, exit_code, reason, .. }) = event {
            return ended(task, &state, exit_code, reason.as_deref());
        }
    }
    Ok(())
}

fn lost(error: &ClientError, task: TaskId) -> Failure {
    let failure = failure(error);
    if failure.exit() != Exit::Unreachable {
        return failure;
    }
    failure.adding(&format!(" The task continues; to follow it again: berth logs -f {task}"))
}

/// An event for programs: what the API sent, with its name.
fn shown(event: &FollowEvent) -> Value {
    let state = |name: &str, state: &FollowedState| {
        json!({"event": name, "state": state.state, "attempt": state.attempt,
               "exit_code": state.exit_code, "reason": state.reason})
    };
    match event {
        FollowEvent::State(now) => state("state", now),
        FollowEvent::End(last) => state("end", last),
        FollowEvent::Output(LogChunk { attempt, stream, seq, offset, at, data }) => {
            let mut chunk = json!({"event": "output", "attempt": attempt, "stream": stream, "seq": seq,
                                   "offset": offset, "at": at});
            match std::str::from_utf8(data) {
                Ok(text) => chunk["text"] = text.into(),
                // Bytes as numbers: rare, and nothing is lost.
                Err(_) => chunk["bytes"] = data.clone().into(),
            }
            chunk
        }
    }
}
