//! `/v1/webhooks`: receivers of events, and what was sent to them.

use crate::DateTime;
use crate::request::Given;
use domain::id::{DeliveryId, WebhookName};
use domain::webhook::{DeliveryState, PayloadTemplate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A webhook to store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookPut {
    /// Where deliveries go: http or https.
    #[cfg_attr(feature = "openapi", schema(example = "https://hooks.example.com/berth"))]
    pub url: String,
    /// Types of events, such as `berth.task.failed` or `berth.task.*`. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only of tasks of exactly this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_name: Option<String>,
    /// Only of tasks with all these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Only of the schedule of this name, and of tasks that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Only of tasks of runs of the workflow of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Headers of each request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// What is sent in place of the event: a JSON object in which `{"$event": "/data/name"}` stands for the value at that JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<PayloadTemplate>,
    /// Whether an event is sent only after those before it of the same subject were received. Default: false.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub ordered: bool,
    /// Whether nothing is sent for now. What happens meanwhile is sent afterwards, up to three days back. Default: false.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub paused: bool,
    /// What signs: `whsec_` and the padded base64 of 24 to 64 random bytes. Default: a new webhook gets a random one, another keeps its own.
    /// If it differs from the present one, both sign for 24 hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Webhook {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: WebhookName,
    /// Version, from 1; counts changes of what is stored.
    pub version: i64,
    /// Where deliveries go.
    pub url: String,
    /// Types of events; empty: all.
    pub events: Vec<String>,
    /// Only of tasks of this name; null: any.
    pub task_name: Option<String>,
    /// Only of tasks with these labels.
    pub labels: BTreeMap<String, String>,
    /// Only of this schedule and its tasks; null: any.
    pub schedule: Option<String>,
    /// Only of tasks of this workflow's runs; null: any.
    pub workflow: Option<String>,
    /// Headers of each request.
    pub headers: BTreeMap<String, String>,
    /// What is sent in place of the event; null: the event.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<PayloadTemplate>,
    /// Whether events of one subject are sent in order.
    pub ordered: bool,
    /// Whether nothing is sent for now.
    pub paused: bool,
    /// When it was disabled: nothing is sent until it is resumed; null: it is not.
    pub disabled_at: Option<DateTime>,
    /// Why it was disabled.
    pub disabled_reason: Option<String>,
    /// Tries in a row without a success.
    pub failures: u64,
    /// When the first of them was.
    pub failing_since: Option<DateTime>,
    /// Until when the secret before the present one signs as well; null: it does not.
    pub old_secret_until: Option<DateTime>,
    /// The secret: only in the response to the request that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = false))]
    pub secret: Option<String>,
    /// When it was created.
    pub created_at: DateTime,
    /// When it was last changed.
    pub updated_at: DateTime,
}

/// A deleted webhook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeletedWebhook {
    /// Its name.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub name: WebhookName,
    /// True.
    pub deleted: bool,
}

/// Another secret for a webhook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookRotate {
    /// The secret. Default: a random one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// How long the present one signs as well, up to 720h. Default: 24h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "24h"))]
    pub keep_old: Option<Given<Duration>>,
}

/// Deliveries to send again: those that have ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookReplay {
    /// Of events from then on.
    pub from: DateTime,
    /// Of events before that. Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime>,
    /// Only those that were given up (`failed`, the default), or those that were received, too (`all`).
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub only: ReplayOf,
}

/// Which deliveries are sent again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ReplayOf {
    /// Those that were given up.
    #[default]
    Failed,
    /// All that have ended.
    All,
}

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookReplayed {
    /// Deliveries that are sent again, 10000 at most.
    pub deliveries: u64,
    /// There may be more: ask again when these are received.
    pub is_cut: bool,
}

/// An event that was sent to a webhook, or is to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookDelivery {
    /// Its id, the receiver's `webhook-id`: the same in all tries.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: DeliveryId,
    /// Id of the event; null: a test.
    pub event_id: Option<String>,
    /// Type of the event.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What the event is about.
    pub subject: String,
    /// When the event was written.
    pub time: DateTime,
    /// `pending`, `delivered` or `failed`.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::openapi::words::DeliveryState))]
    pub state: DeliveryState,
    /// Tries so far, since it was last sent again by hand.
    pub tries: u64,
    /// When it is tried next; null: it has ended.
    pub due_at: Option<DateTime>,
    /// When it was received or given up.
    pub ended_at: Option<DateTime>,
    /// The latest 25 tries, oldest first.
    pub log: Vec<WebhookTry>,
    /// What is sent; only of one that is asked for by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, required = false))]
    pub body: Option<String>,
}

/// One try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookTry {
    /// When it began.
    pub at: DateTime,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Status of the response.
    pub status: Option<u16>,
    /// Why there was none, or why it does not count.
    pub error: Option<String>,
    /// The first 1024 bytes of the response's body.
    pub answer: Option<String>,
}
