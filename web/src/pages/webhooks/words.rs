//! Paths and words that the pages of webhooks share.

use crate::visit::in_path;
use api_types::{Webhook, WebhookTry};

/// The page of a webhook.
pub(super) fn path(name: &str) -> String {
    format!("/webhooks/{}", in_path(name))
}

/// The page of a delivery.
pub(super) fn delivery_path(webhook: &str, id: &str) -> String {
    format!("{}/deliveries/{}", path(webhook), in_path(id))
}

/// `active`, `paused` or `disabled`.
pub(super) fn state(webhook: &Webhook) -> &'static str {
    match (webhook.disabled_at, webhook.paused) {
        (Some(_), _) => "disabled",
        (None, true) => "paused",
        (None, false) => "active",
    }
}

/// The types of events that are sent.
pub(super) fn events(webhook: &Webhook) -> String {
    if webhook.events.is_empty() { "all".to_owned() } else { webhook.events.join(", ") }
}

/// What a try came to: the status of the answer, and why it does not count.
pub(super) fn came_to(one: &WebhookTry) -> String {
    match (one.status, &one.error) {
        (Some(status), None) => format!("status {status}"),
        (Some(status), Some(error)) => format!("status {status}, {error}"),
        (None, Some(error)) => error.clone(),
        (None, None) => "no answer".to_owned(),
    }
}
