//! `berth webhook deliveries` and `berth webhook delivery`: what was sent.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::pages::PageArguments;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table, age, cell};
use client::{DeliveryQuery, PageRequest, WebhookDelivery, WebhookTry};
use domain::id::{DeliveryId, WebhookName};
use domain::time::{Timestamp, format_time};
use domain::webhook::DeliveryState;
use runtime::clock;
use std::fmt::Write;

/// Which deliveries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth webhook deliveries ops --state failed --limit 20")]
pub struct DeliveriesArguments {
    /// Name of the webhook.
    pub name: WebhookName,
    /// pending, delivered or failed.
    #[arg(long)]
    pub state: Option<DeliveryState>,
    /// Exact type of the event, such as berth.task.failed.
    #[arg(long = "type", value_name = "TYPE")]
    pub event_type: Option<String>,
    /// Which pages.
    #[command(flatten)]
    pub pages: PageArguments,
}

/// Which delivery.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  berth webhook delivery ops delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071"
)]
pub struct DeliveryArguments {
    /// Name of the webhook.
    pub name: WebhookName,
    /// Id of the delivery.
    pub id: DeliveryId,
}

const COLUMNS: [&str; 7] = ["ID", "AT", "STATE", "TYPE", "SUBJECT", "TRIES", "LAST"];

/// Shows deliveries, newest first.
pub async fn list(connection: &Connection, arguments: &DeliveriesArguments) -> Result<(), Failure> {
    let query = DeliveryQuery { state: arguments.state, event_type: arguments.event_type.clone() };
    let ask = async |page: &PageRequest| {
        connection.client.webhook_deliveries(&arguments.name, &query, page).await
    };
    arguments.pages.show(connection.format, Table::new(COLUMNS), ask, row).await
}

/// Shows a delivery with its tries and what is sent.
pub async fn one(connection: &Connection, arguments: &DeliveryArguments) -> Result<(), Failure> {
    let found = connection.client.webhook_delivery(&arguments.name, arguments.id).await;
    let found = found.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(found.json()),
        Format::Table => output::text(&details(&found, clock::wall())),
    }
}

fn row(delivery: &WebhookDelivery) -> [String; 7] {
    [
        delivery.id.to_string(),
        format_time(delivery.time),
        delivery.state.as_str().to_owned(),
        delivery.event_type.clone(),
        delivery.subject.clone(),
        delivery.tries.to_string(),
        delivery.log.last().map(came_to).unwrap_or_default(),
    ]
}

/// What a try came to: why it failed, or the status of the answer.
pub(super) fn came_to(one: &WebhookTry) -> String {
    match (one.status, &one.error) {
        (Some(status), None) => format!("status {status}"),
        (Some(status), Some(error)) => format!("status {status}, {}", cell::plain(error)),
        (None, Some(error)) => cell::plain(error),
        (None, None) => "no answer".to_owned(),
    }
}

/// A delivery, a line for each of its fields and tries; then what is sent.
pub(super) fn details(delivery: &WebhookDelivery, now: Timestamp) -> String {
    let at = |at: Timestamp| format!("{} ({})", format_time(at), age::ago(at, now));
    let mut details = Details::default();
    details.row("id", delivery.id);
    details.row("state", delivery.state.as_str());
    details.row("event", delivery.event_id.as_deref().unwrap_or("none: a test"));
    details.row("type", &delivery.event_type);
    details.row("subject", &delivery.subject);
    details.row("time", at(delivery.time));
    details.row("tries", delivery.tries);
    details.some("tried next", delivery.due_at.map(at));
    details.some("ended", delivery.ended_at.map(at));
    for one in &delivery.log {
        let answer = one.answer.as_deref().filter(|answer| !answer.trim().is_empty());
        let answer = answer.map(|answer| format!(": {}", answer.trim())).unwrap_or_default();
        details.row(
            "try",
            format!("{}, {} ms, {}{answer}", format_time(one.at), one.ms, came_to(one)),
        );
    }
    let mut text = details.to_string();
    if let Some(body) = &delivery.body {
        // A document on one line, whose strings have no control character.
        write!(text, "\n{}\n", cell::plain(body)).ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_delivery_has_its_tries_and_its_body() {
        let try_ = |status: Option<u16>, error: Option<&str>| json!({"at": "2030-01-31T12:00:01Z", "ms": 20, "status": status, "error": error, "answer": "busy\n"});
        let mut delivery: WebhookDelivery = serde_json::from_value(json!({
            "id": "delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "event_id": "7-9", "type": "berth.task.failed",
            "subject": "task_1", "time": "2030-01-31T12:00:00Z", "state": "failed", "tries": 2, "due_at": null,
            "ended_at": "2030-01-31T12:00:09Z", "log": [try_(Some(503), None), try_(None, Some("timed out"))],
            "body": "{\"id\":\"7-9\"}"}))
        .unwrap();
        assert_eq!(
            row(&delivery)[2..],
            ["failed", "berth.task.failed", "task_1", "2", "timed out"]
        );
        let text = details(&delivery, delivery.time);
        assert!(text.contains("20 ms, status 503: busy\n"), "{text}");
        assert!(text.contains("20 ms, timed out: busy\n"), "{text}");
        assert!(text.ends_with("\n\n{\"id\":\"7-9\"}\n"), "{text}");
        (delivery.event_id, delivery.body) = (None, None);
        delivery.log.clear();
        assert!(details(&delivery, delivery.time).contains("none: a test\n"));
        assert_eq!(row(&delivery)[6], "");
    }
}
