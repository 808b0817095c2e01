//! A webhook as it is stored.

use crate::StoreError;
use crate::statement::{RowCount, named};
use domain::id::WebhookName;
use domain::time::Timestamp;
use domain::webhook::{SigningSecret, WebhookSpec};
use sqlx::PgConnection;
use uuid::Uuid;

/// A webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookRecord {
    /// Its name.
    pub name: WebhookName,
    /// Counts changes of what is stored, from 1.
    pub version: i64,
    /// What is stored.
    pub spec: WebhookSpec,
    /// Until when the secret before the present one signs as well.
    pub old_secret_until: Option<Timestamp>,
    /// Why nothing is sent until somebody enables it.
    pub disabled: Option<Disabled>,
    /// Tries in a row without a success.
    pub failures: u64,
    /// When the first of them was.
    pub failing_since: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// A webhook to which nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disabled {
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

pub(super) struct WebhookRow {
    pub id: Uuid,
    pub name: String,
    pub version: i64,
    pub spec: String,
    pub old_secret_until: Option<Timestamp>,
    pub disabled_at: Option<Timestamp>,
    pub disabled_reason: Option<String>,
    pub failures: i64,
    pub failing_since: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl RowCount for WebhookRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl WebhookRow {
    pub(super) fn record(self) -> Result<WebhookRecord, StoreError> {
        let disabled = self.disabled_at.zip(self.disabled_reason);
        Ok(WebhookRecord {
            spec: spec_of(&self.name, &self.spec)?,
            name: self.name.parse().map_err(|_| malformed("webhook.name", &self.name, ""))?,
            version: self.version,
            old_secret_until: self.old_secret_until,
            disabled: disabled.map(|(at, reason)| Disabled { at, reason }),
            failures: self.failures.unsigned_abs(),
            failing_since: self.failing_since,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

pub(super) fn spec_of(name: &str, text: &str) -> Result<WebhookSpec, StoreError> {
    serde_json::from_str(text).map_err(|_| malformed("webhook.spec", name, text))
}

pub(super) fn secret_of(name: &str, text: &str) -> Result<SigningSecret, StoreError> {
    // What it is stays out of logs.
    text.parse().map_err(|_| malformed("webhook.secret", name, ""))
}

fn malformed(what: &'static str, name: &str, value: &str) -> StoreError {
    let value = value.chars().take(200).collect();
    StoreError::Malformed { what, row: format!("webhook {name}"), value }
}

/// The name of a webhook among the consumers of its tenant's events.
pub(super) fn consumer(id: Uuid) -> String {
    format!("webhook_{}", id.simple())
}

/// Sends nothing to a webhook that cannot be read until somebody stores or enables it: it delays no other.
pub(super) async fn disable_unreadable(tx: &mut PgConnection, id: Uuid) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update webhook set disabled_at = now(), disabled_reason = 'it was stored by another version of Berth' where id = $1",
        id
    );
    named("webhook.disable_unreadable", query.execute(tx)).await.map(drop)
}
