//! Values that are sent as text.

use domain::time::{Timestamp, format_duration};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A duration as it is sent, such as `"90s"` or `"PT5M"`. The server checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DurationText(String);

/// A time as it is sent (RFC 3339). The server checks it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeText(String);

impl DurationText {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Duration> for DurationText {
    fn from(duration: Duration) -> Self {
        Self(format_duration(duration))
    }
}

impl TimeText {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Timestamp> for TimeText {
    fn from(at: Timestamp) -> Self {
        Self(at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true))
    }
}
