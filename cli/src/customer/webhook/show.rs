//! `berth webhook show` and `resume`; a webhook for people, and a new secret.
//!
//! As with keys, a secret goes to standard output, alone, and what is said about it to standard error.

use super::super::connection::Connection;
use super::super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, age};
use client::{ApiResponse, ClientError, Webhook};
use domain::id::WebhookName;
use domain::time::{Timestamp, format_time};
use runtime::clock;

/// Which webhook.
#[derive(Debug, clap::Args)]
pub struct NameArguments {
    /// Name.
    pub name: WebhookName,
}

/// Shows a webhook.
pub async fn run(connection: &Connection, arguments: &NameArguments) -> Result<(), Failure> {
    tell(connection, connection.client.webhook(&arguments.name).await)
}

/// Enables a webhook that was disabled.
pub async fn resume(connection: &Connection, arguments: &NameArguments) -> Result<(), Failure> {
    tell(connection, connection.client.resume_webhook(&arguments.name).await)
}

/// Shows a webhook as it is.
pub(super) fn tell(
    connection: &Connection,
    answer: Result<ApiResponse<Webhook>, ClientError>,
) -> Result<(), Failure> {
    let webhook = answer.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(webhook.json()),
        Format::Table => output::text(&details(&webhook, clock::wall())),
    }
}

/// Prints a secret that was made just now, after `what` was done.
pub(super) fn tell_secret(what: &str, secret: &str) -> Result<(), Failure> {
    output::remark(&format!(
        "{what} Store its secret now, for the receiver: it cannot be shown again:"
    ));
    output::line(secret)
}

/// `active`, `paused` or `disabled`.
pub(super) fn state(webhook: &Webhook) -> &'static str {
    match (webhook.disabled_at, webhook.paused) {
        (Some(_), _) => "disabled",
        (None, true) => "paused",
        (None, false) => "active",
    }
}

/// A webhook, a line for each of its fields. Values of headers, where keys may be, are left out.
fn details(webhook: &Webhook, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", format_time(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("name", &webhook.name);
    details.row("state", state(webhook));
    details.some("disabled", webhook.disabled_at.map(at));
    details.some("because", webhook.disabled_reason.as_deref());
    details.row("url", &webhook.url);
    let events = &webhook.events;
    details.row("events", if events.is_empty() { "all".to_owned() } else { events.join(", ") });
    details.some("task name", webhook.task_name.as_deref());
    for (key, value) in &webhook.labels {
        details.row("label", format!("{key}={value}"));
    }
    details.some("schedule", webhook.schedule.as_deref());
    details.some("workflow", webhook.workflow.as_deref());
    for name in webhook.headers.keys() {
        details.row("header", name);
    }
    let payload = webhook.payload.as_ref().and_then(|sent| serde_json::to_string(sent).ok());
    details.row("payload", payload.as_deref().unwrap_or("the event"));
    details.row("ordered", if webhook.ordered { "yes" } else { "no" });
    details.row("failures", webhook.failures);
    details.some("failing", webhook.failing_since.map(at));
    details.some("old secret until", webhook.old_secret_until.map(at));
    details.row("version", webhook.version);
    details.to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A webhook without anything.
    pub fn webhook() -> Webhook {
        serde_json::from_value(json!({
            "name": "ops", "version": 3, "url": "https://a.example/x", "events": [], "task_name": null, "labels": {},
            "schedule": null, "workflow": null, "headers": {"Authorization": "Bearer hunter2"}, "payload": null,
            "ordered": false, "paused": false, "disabled_at": null, "disabled_reason": null, "failures": 0,
            "failing_since": null, "old_secret_until": null, "created_at": "2030-01-31T12:00:00Z",
            "updated_at": "2030-01-31T12:00:00Z"}))
        .unwrap()
    }

    #[test]
    fn a_webhook_has_its_state_and_no_value_of_a_header() {
        let mut webhook = webhook();
        webhook.labels.insert("team".into(), "ml".into());
        let now = webhook.created_at;
        let text = details(&webhook, now);
        assert!(text.contains("state     active\n") && text.contains("events    all\n"), "{text}");
        assert!(text.contains("label     team=ml\n"), "{text}");
        assert!(text.contains("Authorization") && !text.contains("hunter2"), "{text}");
        webhook.paused = true;
        assert_eq!(state(&webhook), "paused");
        webhook.disabled_at = Some(now);
        webhook.disabled_reason = Some("30 tries in a row\u{1b}[31m".into());
        let text = details(&webhook, now);
        assert!(text.contains("disabled\n") && !text.contains('\u{1b}'), "{text}");
    }
}
