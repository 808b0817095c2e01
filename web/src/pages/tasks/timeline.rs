//! The life of a task from its submit to its end: waits, attempts, retries.

use crate::words::{Moment, length, mark_of, ms};
use api_types::{Attempt, AttemptState, Extensible, Task};
use domain::task::Run;
use domain::time::Timestamp;

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub tone: &'static str,
    pub title: String,
    pub when: Option<Moment>,
    pub more: String,
}

/// The steps, in order.
pub(crate) fn steps(task: &Task, attempts: &[Attempt], now: Timestamp) -> Vec<Step> {
    let mut steps = vec![submitted(task)];
    // From when it could have started: its time, or that of its retry.
    let mut since = task.due_at.max(task.created_at);
    if task.due_at > task.created_at {
        let title = if task.due_at > now { "Due later" } else { "Due" };
        let tone = if task.due_at > now { "calm" } else { "done" };
        steps.push(Step {
            tone,
            title: title.to_owned(),
            when: Some(Moment(task.due_at)),
            more: String::new(),
        });
    }
    let is_call = is_call(task);
    for attempt in attempts {
        steps.push(started(attempt, since));
        if let Some(ended) = attempt.ended_at {
            steps.push(ended_step(attempt, ended, is_call));
            since = ended;
        }
    }
    let waits_again = task.finished_at.is_none()
        && attempts.last().is_some_and(|attempt| attempt.ended_at.is_some());
    if waits_again {
        let title =
            if task.run_at > now { "Next attempt due" } else { "Waits for its next attempt" };
        steps.push(Step {
            tone: "warn",
            title: title.to_owned(),
            when: Some(Moment(task.run_at)),
            more: String::new(),
        });
    }
    steps.extend(end(task));
    steps
}

/// What is an exit code of a command is the status of the answer to a call.
pub(super) fn is_call(task: &Task) -> bool {
    matches!(&task.run, Some(Extensible::Known(Run::Http(_))))
}

fn submitted(task: &Task) -> Step {
    let by = task.schedule_name.as_ref().map(|name| format!("by the schedule {name}"));
    let node = task.node.as_ref().map(|node| format!("as the node {node} of a workflow run"));
    let more = by.or(node).unwrap_or_default();
    Step { tone: "done", title: "Submitted".to_owned(), when: Some(Moment(task.created_at)), more }
}

fn started(attempt: &Attempt, since: Timestamp) -> Step {
    let waited = attempt.placed_at - since;
    let waited =
        (waited.num_milliseconds() > 0).then(|| format!("after a wait of {}", length(waited)));
    let on = attempt.executor.as_ref().map(|executor| format!("on {executor}"));
    let more: Vec<String> = [on, waited].into_iter().flatten().collect();
    let running = attempt.state == AttemptState::Running;
    Step {
        tone: if running { "busy" } else { "done" },
        title: format!("Attempt {} placed", attempt.attempt),
        when: Some(Moment(attempt.placed_at)),
        more: more.join(", "),
    }
}

fn ended_step(attempt: &Attempt, ended: Timestamp, is_call: bool) -> Step {
    let mark = mark_of(&attempt.state.to_string());
    let mut more = vec![format!("ran for {}", length(ended - attempt.placed_at))];
    if let Some(code) = attempt.exit_code {
        let what = if is_call { "status" } else { "exit code" };
        more.push(format!("{what} {code}"));
    }
    if let Some(signal) = attempt.signal {
        more.push(format!("signal {signal}"));
    }
    let code = attempt.exit_code.map(|code| format!("ended with exit code {code}"));
    more.extend(attempt.reason.clone().filter(|reason| Some(reason) != code.as_ref()));
    more.push(match attempt.charged {
        true => format!("{} billed", ms(attempt.usage_ms)),
        false => "lost to infrastructure: not billed, and not counted".to_owned(),
    });
    if attempt.output_over_quota {
        more.push("a part of its output was not kept: your plan's quota was used up".to_owned());
    }
    Step {
        tone: mark.tone(),
        title: format!("Attempt {} {}", attempt.attempt, mark.word()),
        when: Some(Moment(ended)),
        more: more.join(", "),
    }
}

fn end(task: &Task) -> Option<Step> {
    let at = task.finished_at?;
    let mark = mark_of(&task.state.to_string());
    let title = format!("The task ended: {}", mark.word());
    let more = task.reason.clone().unwrap_or_default();
    Some(Step { tone: mark.tone(), title, when: Some(Moment(at)), more })
}
