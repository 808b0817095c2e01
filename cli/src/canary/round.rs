//! A round: one task from its submit to its end.

use crate::customer::failure;
use crate::failure::Failure;
use client::{Client, ClientError, IdempotencyKey, Task};
use domain::canary::{ACCEPT_LIMIT_S, Course, END_LIMIT_S, Seen};
use domain::id::TaskId;
use domain::time::Timestamp;
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Between two looks at a task that has not ended.
const PAUSE: Duration = Duration::from_millis(200);

/// What it submits: a task that does nothing, and is to start soon.
pub(super) fn task(name: &str) -> Value {
    json!({
        "name": name, "tier": "basic", "run": {"noop": {}}, "delay_tolerance": format!("{}s", domain::canary::TOLERANCE_S),
        "execution_cap": "30s"})
}

/// What became of a task, from when it was due; `None` where the state is of another version of Berth.
pub(super) fn course_of(task: &Task, due: Timestamp) -> Option<Course> {
    Some(Course {
        state: *task.state.known()?,
        attempts: task.attempts,
        started_after: task.started_at.map(|at| at - due),
        ended_after: task.finished_at.map(|at| at - due),
    })
}

/// What a round found.
#[derive(Debug)]
pub(super) enum Found {
    /// The submit was not accepted, and why.
    NotAccepted(String),
    /// It was, and so went on.
    Accepted {
        /// The task.
        id: TaskId,
        /// How long that took.
        took: Duration,
        /// What became of it. `None`: no answer.
        course: Option<Course>,
    },
}

impl Found {
    /// Counts it.
    pub(super) fn count(&self, seen: &mut Seen) {
        seen.add_submit(matches!(self, Self::Accepted { .. }));
        if let Self::Accepted { course, .. } = self {
            seen.add_due(course.as_ref());
        }
    }

    /// What was wrong, as a sentence.
    pub(super) fn fault(&self) -> Option<String> {
        match self {
            Self::NotAccepted(why) => Some(format!("A submit was not accepted: {why}.")),
            Self::Accepted { id, course, .. } => {
                fault_of(course.as_ref()).map(|fault| format!("`{id}` {fault}."))
            }
        }
    }
}

/// What was wrong with the course of a task.
pub(super) fn fault_of(course: Option<&Course>) -> Option<String> {
    if Seen::default().add_due(course) {
        return None;
    }
    let Some(course) = course else { return Some("gave no answer".to_owned()) };
    let after = |after: Option<chrono::TimeDelta>| match after {
        Some(after) => format!("after {} ms", after.num_milliseconds()),
        None => "never".to_owned(),
    };
    let (state, attempts) = (course.state, course.attempts);
    let (started, ended) = (after(course.started_after), after(course.ended_after));
    Some(format!("is {state} after {attempts} attempts; started {started}, ended {ended}"))
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.fault(), self) {
            (Some(fault), _) => f.write_str(&fault),
            (None, Self::Accepted { id, took, course: Some(course) }) => {
                let ms = |after: Option<chrono::TimeDelta>| {
                    after.map_or(0, |after| after.num_milliseconds())
                };
                let (started, ended) = (ms(course.started_after), ms(course.ended_after));
                write!(
                    f,
                    "`{id}` accepted in {} ms, started after {started} ms, ended after {ended} ms.",
                    took.as_millis()
                )
            }
            (None, _) => Ok(()),
        }
    }
}

/// Submits a task and looks what becomes of it.
///
/// Fails only where the canary itself is wrong: its key, or its task.
pub(super) async fn go(client: &Client) -> Result<Found, Failure> {
    let began = clock::monotonic();
    let body = task("canary").to_string();
    let submit = client.submit_json(body, IdempotencyKey::fresh());
    let limit = Duration::from_secs(ACCEPT_LIMIT_S.into());
    let task = match clock::timeout(limit, submit).await {
        Err(_) => return Ok(Found::NotAccepted(format!("no answer within {ACCEPT_LIMIT_S} s"))),
        Ok(Err(error)) if is_own(&error) => return Err(failure(&error)),
        Ok(Err(error)) => return Ok(Found::NotAccepted(ErrorChain(&error).to_string())),
        Ok(Ok(task)) => task,
    };
    let took = began.elapsed();
    let until = began + Duration::from_secs(END_LIMIT_S.into());
    let course = followed(client, &task, until).await;
    Ok(Found::Accepted { id: task.id, took, course })
}

/// Refused for what the canary sent: no fault of the service.
pub(super) fn is_own(error: &ClientError) -> bool {
    error.api().is_some_and(|problem| [400, 401, 403, 422].contains(&problem.status))
}

async fn followed(client: &Client, task: &Task, until: Instant) -> Option<Course> {
    let mut last = None;
    loop {
        if let Ok(Ok(now)) = clock::timeout(until - clock::monotonic(), client.get(task.id)).await {
            last = course_of(&now, task.due_at);
        }
        let is_over = last.is_some_and(|course| course.state.is_terminal());
        if is_over || clock::monotonic() + PAUSE >= until {
            return last;
        }
        clock::sleep(PAUSE).await;
    }
}
