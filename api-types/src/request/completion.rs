//! How a task ended whose call was taken on.

use super::Given;
use crate::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// How the attempt ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CompletionOutcome {
    /// It did what it was asked.
    Succeeded,
    /// It failed; another attempt follows as the task's `retry` says.
    Failed,
    /// It failed, and another attempt is not worth it: the task ends `aborted`.
    Aborted,
}

/// How an attempt of an HTTP task with `"complete": "callback"` ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCompletion {
    /// The header `Berth-Completion-Token` of the attempt's call.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub token: Secret,
    /// How it ended.
    pub outcome: CompletionOutcome,
    /// With `succeeded`: what the task returns, any JSON up to 64 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// With `failed` and `aborted`: why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 1000))]
    pub reason: Option<String>,
    /// With `failed`: no other attempt before that time, at most `"1h"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub retry_after: Option<Given<Duration>>,
}
