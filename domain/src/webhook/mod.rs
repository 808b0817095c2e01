//! Webhooks: what is sent to a customer's receiver, how it is signed, and when it is tried again.
//!
//! Deliveries follow [Standard Webhooks](https://www.standardwebhooks.com): headers `webhook-id`, `webhook-timestamp` and
//! `webhook-signature`, the id the same over all tries, the timestamp of each try.

mod payload;
mod retry;
mod secret;

pub use payload::{MAX_PAYLOAD, PayloadError, PayloadTemplate};
pub use retry::{MAX_AGE, disables, next_try};
pub use secret::{ParseSecretError, SigningSecret};

use crate::event::{EventFilter, EventPlace, ParseTypePatternError, TypePattern};
use crate::id::DeliveryId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Webhooks of a tenant, at most.
pub const MOST_WEBHOOKS: u32 = 50;
/// Type patterns of a webhook, at most.
pub const MOST_EVENTS: usize = 50;
/// Headers of a webhook, at most.
pub const MOST_HEADERS: usize = 20;
/// Labels that a webhook asks for, at most.
pub const MOST_LABELS: usize = 20;

/// What a customer stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebhookSpec {
    /// Where deliveries go.
    pub url: String,
    /// Types of events, or beginnings of them with `*`; empty: all.
    pub events: Vec<String>,
    /// Only of tasks of this name.
    pub name: Option<String>,
    /// Only of tasks with these labels.
    pub labels: BTreeMap<String, String>,
    /// Only of this schedule and its tasks, by name.
    pub schedule: Option<String>,
    /// Only of tasks of runs of this workflow, by name.
    pub workflow: Option<String>,
    /// Headers of each request.
    pub headers: BTreeMap<String, String>,
    /// What is sent in place of the event.
    pub payload: Option<PayloadTemplate>,
    /// Whether an event is sent only after those before it of the same subject were received.
    pub ordered: bool,
    /// Whether nothing is sent for now.
    pub paused: bool,
}

impl WebhookSpec {
    /// Which events are delivered.
    ///
    /// # Errors
    /// The first that is no pattern of types; what is stored has none.
    pub fn filter(&self) -> Result<EventFilter, ParseTypePatternError> {
        let types: Result<Vec<TypePattern>, _> =
            self.events.iter().map(|text| text.parse()).collect();
        Ok(EventFilter {
            types: types?,
            name: self.name.clone(),
            labels: self.labels.clone(),
            schedule_name: self.schedule.clone(),
            workflow: self.workflow.clone(),
            ..EventFilter::default()
        })
    }

    /// Whether it may ask for events of tasks, which are recorded only for those who do.
    #[must_use]
    pub fn wants_tasks(&self) -> bool {
        self.filter().is_ok_and(|filter| {
            filter.types.is_empty() || filter.types.iter().any(TypePattern::is_of_tasks)
        })
    }

    /// What of it may be written to the audit log: no header's value, and no query of the URL, where keys may be.
    #[must_use]
    pub fn audited(&self) -> serde_json::Value {
        let url = url::Url::parse(&self.url).map_or_else(
            |_| String::new(),
            |mut url| {
                url.set_query(None);
                url.to_string()
            },
        );
        let headers: Vec<&String> = self.headers.keys().collect();
        serde_json::json!({
            "url": url, "events": self.events, "name": self.name, "labels": self.labels, "schedule": self.schedule,
            "workflow": self.workflow, "headers": headers, "payload": self.payload.is_some(), "ordered": self.ordered,
            "paused": self.paused,
        })
    }
}

/// The id of the delivery of an event to a webhook: the same however often it is computed. Its leading 48 bits are the time of the
/// event.
#[must_use]
pub fn delivery_of(webhook: Uuid, place: EventPlace, at: Timestamp) -> DeliveryId {
    let mut hash = Sha256::new();
    hash.update(webhook.as_bytes());
    hash.update(place.txid.to_be_bytes());
    hash.update(place.seq.to_be_bytes());
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    let millis = u64::try_from(at.timestamp_millis()).unwrap_or(0);
    DeliveryId(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid())
}

/// How a delivery stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryState {
    /// It is sent, or tried again later.
    Pending,
    /// The receiver took it.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One try of a delivery, as its log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeliveryTry {
    /// When it began.
    pub at: Timestamp,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The beginning of the answer's body.
    pub answer: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> WebhookSpec {
        WebhookSpec {
            url: "https://u:p@a.example/hook?key=k".into(),
            events: vec!["berth.task.failed".into()],
            name: None,
            labels: BTreeMap::new(),
            schedule: None,
            workflow: None,
            headers: [("Authorization".to_owned(), "Bearer hunter2".to_owned())].into(),
            payload: None,
            ordered: false,
            paused: false,
        }
    }

    #[test]
    fn the_audit_log_learns_no_key() {
        let text = spec().audited().to_string();
        assert!(text.contains("a.example/hook") && text.contains("Authorization"), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("key=k"), "{text}");
    }

    #[test]
    fn an_event_has_one_delivery_of_each_webhook() {
        let at = crate::time::parse_time("2030-01-31T12:00:00.5Z").unwrap();
        let of =
            |webhook, seq| delivery_of(Uuid::from_u128(webhook), EventPlace { txid: 9, seq }, at);
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(2, 1));
        assert_ne!(of(1, 1), of(1, 2));
        let (seconds, nanos) = of(1, 1).uuid().get_timestamp().unwrap().to_unix();
        assert_eq!((seconds.cast_signed(), nanos), (at.timestamp(), 500_000_000));
    }

    #[test]
    fn tasks_are_recorded_for_who_may_ask_for_them() {
        assert!(spec().wants_tasks());
        assert!(WebhookSpec { events: Vec::new(), ..spec() }.wants_tasks());
        let events = vec!["berth.quota.*".to_owned(), "berth.schedule.paused".to_owned()];
        assert!(!WebhookSpec { events, ..spec() }.wants_tasks());
    }
}
