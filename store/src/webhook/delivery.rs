//! A delivery as it is stored.

use crate::StoreError;
use crate::statement::RowCount;
use domain::id::DeliveryId;
use domain::time::Timestamp;
use domain::webhook::{DeliveryState, DeliveryTry};
use uuid::Uuid;

/// A delivery's place in the list, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryPlace {
    /// When its event was written.
    pub at: Timestamp,
    /// Its id.
    pub id: DeliveryId,
}

/// A delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Its place.
    pub place: DeliveryPlace,
    /// Of the event; `None`: a test.
    pub event_id: Option<String>,
    /// Type of the event.
    pub event_type: String,
    /// What the event is about.
    pub subject: String,
    /// How it stands.
    pub state: DeliveryState,
    /// Tries since it was stored, or sent again by hand.
    pub tries: u64,
    /// When it is tried next, while it is pending.
    pub due_at: Option<Timestamp>,
    /// When it was received, or given up.
    pub ended_at: Option<Timestamp>,
    /// The latest tries, oldest first.
    pub log: Vec<DeliveryTry>,
    /// What is sent; only of one that was asked for by its id.
    pub body: Option<String>,
}

pub(super) struct DeliveryRow {
    pub id: Uuid,
    pub at: Timestamp,
    pub event_id: Option<String>,
    pub event_type: String,
    pub subject: String,
    pub state: String,
    pub tries: i64,
    pub due_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub log: String,
    pub body: Option<String>,
}

impl RowCount for DeliveryRow {
    fn rows(&self) -> u64 {
        1
    }
}

impl DeliveryRow {
    pub(super) fn delivery(self) -> Result<Delivery, StoreError> {
        let id = DeliveryId(self.id);
        let malformed = |what, value: &str| StoreError::Malformed {
            what,
            row: id.to_string(),
            value: value.chars().take(200).collect(),
        };
        let state: DeliveryState =
            self.state.parse().map_err(|_| malformed("webhook_delivery.state", &self.state))?;
        Ok(Delivery {
            place: DeliveryPlace { at: self.at, id },
            event_id: self.event_id,
            event_type: self.event_type,
            subject: self.subject,
            state,
            tries: self.tries.unsigned_abs(),
            due_at: (state == DeliveryState::Pending).then_some(self.due_at),
            ended_at: self.ended_at,
            log: serde_json::from_str(&self.log)
                .map_err(|_| malformed("webhook_delivery.log", &self.log))?,
            body: self.body,
        })
    }
}
