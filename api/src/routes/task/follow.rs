//! A task's output while it is written: server-sent events (WHATWG HTML, `text/event-stream`).
//!
//! Called by `logs`. Chunks are read when the hub says that there are new ones, and only as fast as the client takes them: a
//! slow reader has one step of them in memory and delays nobody. What it has is counted as any other answer; where its tenant
//! has no room for it, the stream ends. Each event's id is the place to go on from, in any process.

use super::chunk::log_chunk;
use super::log_range::LogRange;
use crate::auth::Authority;
use crate::call::Call;
use crate::live::{Pulses, Slot};
use crate::pieces::PIECE;
use crate::problem::{Code, Problem};
use crate::request::Hold;
use crate::state::State as Shared;
use actix_web::HttpResponse;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::web::Bytes;
use api_types::FollowedState;
use domain::access::Permission;
use domain::id::TaskId;
use domain::task::State;
use futures::stream::unfold;
use runtime::clock::{Instant, monotonic, sleep_until};
use runtime::error_chain::ErrorChain;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use store::output::{OutputPosition, Pulse};
use store::task::TaskRecord;
use store::{StoreError, TenantScope};
use tokio::sync::watch;

/// Chunks of each stream read at once; each has up to 64 KiB.
const STEP: u32 = 4;
/// Numbers in an event's id; those after the third only where one of them is not 0.
const ID_NUMBERS: [usize; 2] = [3, 5];
/// What a client waits before it connects again, ms.
const RETRY_MS: u32 = 1000;

static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// One client that follows one task.
struct Follower {
    shared: Arc<Shared>,
    scope: TenantScope,
    authority: Authority,
    task: TaskId,
    range: LogRange,
    position: OutputPosition,
    pulses: Pulses,
    closing: watch::Receiver<bool>,
    /// What was shown last of the task itself.
    shown: Option<State>,
    /// The pulse that is being read out.
    pulse: Option<Pulse>,
    step: Step,
    quiet_until: Instant,
    /// What is made and not sent yet.
    unsent: Bytes,
    /// Counts it, until all of it is taken.
    hold: Hold,
    _slot: Slot,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Greet,
    Read,
    Wait,
    Over,
}

/// The events of `task` from where the client was.
pub(super) async fn answer(
    call: &Call,
    task: TaskId,
    range: LogRange,
) -> Result<HttpResponse, Problem> {
    let resumed = resumed(call.request.headers())?;
    let found = store::task::get(&call.state.api, &call.scope(), task).await?;
    if found.is_none() {
        return Err(Problem::not_found());
    }
    let position = match resumed {
        Some(place) => place,
        None => range.begin(call, task).await?,
    };
    let shared = Arc::clone(&call.state);
    let (slot, closing) = (shared.slots.take(call.caller.tenant())?, shared.closing());
    let follower = Follower {
        scope: call.scope(),
        authority: Authority::new(call.request.headers(), Permission::ReadTasks),
        task,
        range,
        position,
        pulses: shared.hub.follow(call.caller.tenant(), task),
        closing,
        shown: None,
        pulse: None,
        step: Step::Greet,
        quiet_until: monotonic() + shared.stream_keep_alive,
        unsent: Bytes::new(),
        hold: call.hold.clone(),
        shared,
        _slot: slot,
    };
    let events = unfold(follower, |mut follower| async move {
        follower.next().await.map(|event| (Ok::<_, Infallible>(event), follower))
    });
    Ok(HttpResponse::Ok()
        .content_type("text/event-stream")
        // Proxies that buffer answers would turn live output into late output.
        .insert_header(("x-accel-buffering", "no"))
        // A connection that stayed open after the stream would hold up the end of a process that drains.
        .force_close()
        .streaming(events))
}

impl Follower {
    /// The next bytes to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            // In pieces, as each large answer: the server copies what it is given into its own buffer.
            if !self.unsent.is_empty() {
                return Some(self.unsent.split_to(PIECE.min(self.unsent.len())));
            }
            self.hold.shrink_to(0);
            // Whoever drains lets go at once: the client goes on elsewhere from its last id.
            if *self.closing.borrow() {
                self.step = Step::Over;
            }
            if self.step == Step::Read
                && let Err(problem) = self.authority.check(&self.shared.authenticator).await
            {
                tracing::debug!(task.id = %self.task, code = ?problem.code(), "Whoever follows `{}` may not any more", self.task);
                self.step = Step::Over;
            }
            let event = match self.step {
                Step::Over => return None,
                Step::Greet => {
                    self.step = Step::Wait;
                    Some(format!("retry: {RETRY_MS}\n\n"))
                }
                Step::Wait => self.wait().await,
                Step::Read => match self.read().await {
                    Ok(event) => event,
                    Err(error) => {
                        let error = ErrorChain(&error).to_string();
                        tracing::warn!(task.id = %self.task, error, "The live output of `{}` was cut off: {error}", self.task);
                        return None;
                    }
                },
            };
            if let Some(event) = event.filter(|event| !event.is_empty()) {
                if self.hold.grow(event.len()).is_err() {
                    tracing::debug!(task.id = %self.task, "The live output of `{}` was cut off: no memory for it", self.task);
                    return None;
                }
                self.quiet_until = monotonic() + self.shared.stream_keep_alive;
                // Without the room that the text has to grow.
                self.unsent = Bytes::from(event.into_boxed_str().into_boxed_bytes());
            }
        }
    }

    /// Waits for news; shows a state that the task is in, unless it is its last.
    async fn wait(&mut self) -> Option<String> {
        tokio::select! {
            changed = self.pulses.changed() => if changed.is_err() { self.step = Step::Over; return None },
            _ = self.closing.changed() => return None,
            () = sleep_until(self.quiet_until) => return Some(": still here\n\n".to_owned()),
        }
        let pulse = (*self.pulses.borrow_and_update())?;
        self.pulse = Some(pulse);
        self.step = Step::Read;
        if self.shown == Some(pulse.state) || pulse.state.is_terminal() {
            return None;
        }
        self.shown = Some(pulse.state);
        let data = FollowedState {
            state: pulse.state.into(),
            attempt: pulse.attempt,
            exit_code: None,
            reason: None,
        };
        Some(self.event("state", &data))
    }

    /// Reads on from the present place; at the end of what there is, goes back to waiting, or says that it is over.
    async fn read(&mut self) -> Result<Option<String>, StoreError> {
        let db = &self.shared.api;
        let filter = self.range.filter(self.position);
        let page = store::output::read(db, &self.scope, self.task, filter, STEP).await?;
        let mut events = String::new();
        for chunk in page.chunks {
            self.position = self.position.after(&chunk);
            events.push_str(&self.event("output", &log_chunk(chunk)));
        }
        if !page.more {
            // Output is stored before the end is, and the pulse was read before the output: there is no more.
            let over = self.pulse.is_some_and(|pulse| pulse.state.is_terminal());
            self.step = if over { Step::Over } else { Step::Wait };
            if over {
                let task = store::task::get(db, &self.scope, self.task).await?;
                events.push_str(&self.end(task));
            }
        }
        Ok(Some(events))
    }

    fn end(&self, task: Option<TaskRecord>) -> String {
        // A task that was dropped from history in this moment ends without its last words.
        let Some(task) = task else { return String::new() };
        let (state, attempt) = (task.state.into(), task.attempts);
        let last = FollowedState { state, attempt, exit_code: None, reason: None };
        let end = FollowedState { exit_code: task.exit_code, reason: task.reason, ..last.clone() };
        format!("{}{}", self.event("state", &last), self.event("end", &end))
    }

    /// One event; JSON has no line breaks of its own.
    fn event<T: Serialize>(&self, name: &str, data: &T) -> String {
        let id = id(self.position);
        // Written from types that always can be; `null` would be seen as what it is.
        let json = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
        format!("event: {name}\nid: {id}\ndata: {json}\n\n")
    }
}

/// Where the client was, from the id of the last event it saw; none where it saw none.
fn resumed(headers: &HeaderMap) -> Result<Option<OutputPosition>, Problem> {
    let Some(header) = headers.get(&LAST_EVENT_ID) else { return Ok(None) };
    let text = header.to_str().unwrap_or("?");
    if text.is_empty() {
        return Ok(None);
    }
    position(text).map(Some).ok_or_else(|| {
        let detail = "must be the id of an event of this stream; omit it to start at the beginning";
        Problem::at(Code::InvalidParameter, "header:Last-Event-ID", detail)
    })
}

fn id(place: OutputPosition) -> String {
    let OutputPosition { attempt, stdout, stderr, stdout_skip, stderr_skip } = place;
    if (stdout_skip, stderr_skip) == (0, 0) {
        return format!("{attempt}.{stdout}.{stderr}");
    }
    format!("{attempt}.{stdout}.{stderr}.{stdout_skip}.{stderr_skip}")
}

fn position(text: &str) -> Option<OutputPosition> {
    let number = |part: &str| {
        let digits = (1..=10).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    };
    let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    if !ID_NUMBERS.contains(&numbers.len()) {
        return None;
    }
    let mut numbers = numbers.into_iter();
    let mut next = || numbers.next().unwrap_or(0);
    Some(OutputPosition {
        attempt: next(),
        stdout: next(),
        stderr: next(),
        stdout_skip: next(),
        stderr_skip: next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_what_is_none_is_refused() {
        let at = OutputPosition { attempt: 2, stdout: 17, ..OutputPosition::default() };
        assert_eq!((position("2.17.0"), id(at)), (Some(at), "2.17.0".to_owned()));
        let within = OutputPosition { stderr_skip: 9, ..at };
        assert_eq!((position("2.17.0.0.9"), id(within)), (Some(within), "2.17.0.0.9".to_owned()));
        for bad in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "1.2.3.4.5.6",
            "-1.0.0",
            "1.2.x",
            "1.2.99999999999",
            "+1.0.0",
            "1..0",
        ] {
            assert_eq!(position(bad), None, "{bad}");
        }
    }
}
