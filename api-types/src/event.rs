//! Events as CloudEvents 1.0.

use crate::DateTime;
use domain::event::{EventContent, EventRecord};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event: a CloudEvent 1.0 in its JSON format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// `1.0`.
    pub specversion: String,
    /// Unique within `source`; the same however often the event is sent.
    pub id: String,
    /// The installation, such as `urn:berth:live`.
    pub source: String,
    /// Its type, such as `berth.task.failed`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// Id of the task or schedule, or the name of the quota or spend cap that it is about.
    pub subject: String,
    /// When it was written.
    pub time: DateTime,
    /// `application/json`.
    pub datacontenttype: String,
    /// Orders the events of one subject: a decimal number of 20 digits.
    pub sequence: String,
    /// What happened. Of a task: `task`, `state`, `attempt`, `exit_code`, `reason`, `name`, `labels`, `schedule`, `schedule_name`,
    /// `workflow_run`, `workflow`, `node`.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub data: Value,
}

impl Event {
    /// A row of the log as `source` tells of it.
    #[must_use]
    pub fn of(record: &EventRecord, content: EventContent, source: &str) -> Self {
        Self {
            specversion: "1.0".to_owned(),
            id: record.id(),
            source: source.to_owned(),
            event_type: content.event_type,
            subject: content.subject,
            time: record.at,
            datacontenttype: "application/json".to_owned(),
            sequence: format!("{:020}", record.place.seq),
            data: content.data,
        }
    }
}
