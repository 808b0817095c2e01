//! From the words of the log to types of `CloudEvents`.

use crate::task::State;
use std::borrow::Cow;

/// What all types begin with.
pub const PREFIX: &str = "berth.";

/// The type of an event that the log keeps as `kind`, of a task with the state that it is in from then on.
#[must_use]
pub fn type_of(kind: &str, state: Option<State>) -> Cow<'static, str> {
    match (kind, state) {
        ("task_changed", Some(state)) => match state {
            State::Scheduled => "berth.task.scheduled",
            State::Ready => "berth.task.ready",
            State::Queued => "berth.task.queued",
            State::Running => "berth.task.started",
            State::Cancelling => "berth.task.cancelling",
            State::Retrying => "berth.task.retrying",
            State::Succeeded => "berth.task.succeeded",
            State::Failed => "berth.task.failed",
            State::Aborted => "berth.task.aborted",
            State::Killed => "berth.task.killed",
            State::Cancelled => "berth.task.cancelled",
            State::Expired => "berth.task.expired",
            State::Skipped => "berth.task.skipped",
        }
        .into(),
        ("quota_nearly_used", _) => "berth.quota.nearly_used".into(),
        ("spend_cap_used", _) => "berth.spend_cap.used".into(),
        ("fire_missed", _) => "berth.schedule.missed".into(),
        ("schedule_paused", _) => "berth.schedule.paused".into(),
        ("webhook_disabled", _) => "berth.webhook.disabled".into(),
        // Of a later version.
        (kind, _) => format!("{PREFIX}{kind}").into(),
    }
}
