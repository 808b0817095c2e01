//! `/tasks/{id}/do/{lever}`: says what a lever of a task will do, and does it when that is meant.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use crate::words::{Mark, mark_of};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, Explanation, Extensible, Task};
use askama::Template;
use domain::access::Permission;
use domain::explain::Reason;
use domain::task::State;
use serde_json::{Value, json};

/// What can be done with a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lever {
    /// Its part of the path, which is that of the API.
    pub word: &'static str,
    pub label: &'static str,
    title: &'static str,
    says: &'static str,
    /// What the form asks for; empty: nothing.
    note: &'static str,
    needs_note: bool,
    pub is_danger: bool,
    done: &'static str,
    pub permission: Permission,
    /// States in which it does something.
    states: &'static [State],
}

const WAITING: &[State] = &[State::Scheduled, State::Ready, State::Queued, State::Retrying];
const OPEN: &[State] = &[
    State::Scheduled,
    State::Ready,
    State::Queued,
    State::Retrying,
    State::Running,
    State::Cancelling,
];
const ENDED: &[State] = &[
    State::Succeeded,
    State::Failed,
    State::Aborted,
    State::Killed,
    State::Cancelled,
    State::Expired,
    State::Skipped,
];

const PLAIN: Lever = Lever {
    word: "",
    label: "",
    title: "",
    says: "",
    note: "",
    needs_note: false,
    is_danger: false,
    done: "",
    permission: Permission::SubmitTasks,
    states: &[],
};

/// Every lever.
pub(crate) const LEVERS: [Lever; 6] = [
    Lever {
        word: "run-now",
        label: "Run now",
        title: "Run this task now?",
        says: "It becomes due at once: it waits neither for its time nor for the tasks before it, but still for its turn and for room.",
        done: "run-now",
        states: &[State::Scheduled, State::Retrying],
        ..PLAIN
    },
    Lever {
        word: "retry",
        label: "Run again",
        title: "Run this task again?",
        says: "A new task, equal to this one, is submitted and due at once. It is billed as any other. This one stays as it is, and the new one refers to it.",
        done: "retried",
        states: ENDED,
        ..PLAIN
    },
    Lever {
        word: "approve",
        label: "Approve",
        title: "Approve this?",
        says: "The task ends as succeeded, and what waits for it goes on. Your name and the note are kept with it.",
        note: "Note",
        done: "approved",
        permission: Permission::ApproveTasks,
        states: &[State::Scheduled],
        ..PLAIN
    },
    Lever {
        word: "reject",
        label: "Reject",
        title: "Reject this?",
        says: "The task ends as aborted, and what needs its success does not run. Your name and the note are kept with it.",
        note: "Note",
        is_danger: true,
        done: "rejected",
        permission: Permission::ApproveTasks,
        states: &[State::Scheduled],
        ..PLAIN
    },
    Lever {
        word: "mark-succeeded",
        label: "Mark as succeeded",
        title: "Mark this task as succeeded?",
        says: "It ends as succeeded without running, and what waits for it goes on. The note is kept as its reason and in the audit log.",
        note: "How it was done, or why it need not be",
        needs_note: true,
        done: "marked",
        states: WAITING,
        ..PLAIN
    },
    Lever {
        word: "cancel",
        label: "Cancel",
        title: "Cancel this task?",
        says: "If it waits, it is cancelled at once. If it runs, it is asked to stop and then killed; it ends as cancelled, unless it succeeds first. What ran until then is billed.",
        is_danger: true,
        done: "cancelled",
        states: OPEN,
        ..PLAIN
    },
];

/// What a task waits for that its time does not bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// A person, who approves or rejects it.
    Approval,
    /// A signal.
    Signal,
    /// The tasks of its items.
    Items,
    /// None of these.
    No,
}

impl Waits {
    pub(super) fn of(explanation: &Explanation) -> Self {
        let held = |reason: &Extensible<Reason>| match reason.known()? {
            Reason::Approval { .. } => Some(Self::Approval),
            Reason::Signal { .. } => Some(Self::Signal),
            Reason::Items { .. } => Some(Self::Items),
            _ => None,
        };
        explanation.reasons.iter().find_map(held).unwrap_or(Self::No)
    }

    /// What is said instead of `scheduled`.
    pub(super) fn mark(self) -> Option<Mark> {
        match self {
            Self::Approval => Some(mark_of("waiting_for_approval")),
            Self::Signal => Some(mark_of("waiting_for_a_signal")),
            Self::Items | Self::No => None,
        }
    }
}

/// Those that do something with this task, for whoever asks.
pub(super) fn of(visit: &Visit, state: &Extensible<State>, waits: Waits) -> Vec<Lever> {
    let is_for = |lever: &Lever| match lever.word {
        "approve" | "reject" => waits == Waits::Approval,
        "run-now" => waits == Waits::No,
        _ => true,
    };
    let fits = |lever: &Lever| {
        state.is(|state| lever.states.contains(state))
            && visit.may(lever.permission)
            && is_for(lever)
    };
    LEVERS.into_iter().filter(fits).collect()
}

#[derive(Template)]
#[template(path = "tasks/lever.html")]
struct LeverPage {
    frame: Frame,
    lever: Lever,
    id: String,
    name: String,
    state: Mark,
    once: String,
    note: String,
    wrong: Option<String>,
}

fn named(visit: &Visit) -> Result<Lever, Fault> {
    let word = visit.part("lever");
    let found = LEVERS.into_iter().find(|lever| !word.is_empty() && lever.word == word);
    let lever = found.ok_or(Fault::NoPage)?;
    if visit.may(lever.permission) {
        return Ok(lever);
    }
    Err(Fault::NotAllowed(crate::needs::Needs::May(lever.permission)))
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    let shown = asking(&visit, lever, None).await?;
    page(&shown)
}

async fn asking(visit: &Visit, lever: Lever, wrong: Option<String>) -> Result<LeverPage, Fault> {
    let task: Task = visit.get(format!("/v1/tasks/{}", visit.part_in_path("id"))).await?;
    Ok(LeverPage {
        frame: Frame::new(visit, Section::Tasks, lever.title),
        lever,
        id: task.id.to_string(),
        name: task.name.clone().unwrap_or_default(),
        state: crate::words::mark(&task.state),
        once: visit.once(),
        note: visit.form.text("note").to_owned(),
        wrong,
    })
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    let target = format!("/v1/tasks/{}/{}", visit.part_in_path("id"), lever.word);
    let note = visit.form.text("note");
    let pulled: Result<Value, Fault> =
        if lever.note.is_empty() || (note.is_empty() && !lever.needs_note) {
            visit.act(Method::Post, target).await
        } else {
            visit.send(Method::Post, target, &json!({"note": note})).await
        };
    match pulled {
        Ok(task) => {
            // What was asked to stop goes on for a moment; what was run again is another task.
            let id = task["id"].as_str().unwrap_or_default();
            let done = match task["cancel"].as_str() {
                Some("requested" | "already_requested") => "stopping",
                Some("already_ended") => "ended",
                _ => lever.done,
            };
            Err(Fault::to(format!("/tasks/{}?done={done}", in_path(id))))
        }
        Err(Fault::Problem(problem)) if problem.code == ErrorCode::ValidationFailed => {
            let wrong = problem.errors.into_iter().next().map(|error| error.detail);
            let shown = asking(&visit, lever, wrong.or(Some(problem.detail))).await?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown)
        }
        Err(fault) => Err(fault),
    }
}
