//! A problem document (RFC 9457): how the API reports an error.

use crate::{ErrorCode, Extensible, RateName, RequestId};
use domain::id::PlanName;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A problem document. The code is for programs, `detail` for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// `urn:berth:problem:` followed by the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Short, the same for each problem of this code.
    pub title: Cow<'static, str>,
    /// HTTP status.
    pub status: u16,
    /// What happened and what to do.
    pub detail: String,
    /// For programs.
    pub code: Extensible<ErrorCode>,
    /// The same request may succeed later.
    pub retryable: bool,
    /// For the operator's log. `None` within a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// `rate_limited`: the exceeded limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Extensible<RateName>>,
    /// `rate_limited`: when to retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// `rate_limited`: a plan with a higher limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifted_by: Option<PlanName>,
    /// Each invalid field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

/// One mistake in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body; `query:<name>` or `header:<name>` for what is not in it.
    pub pointer: String,
    /// What is wrong and what is expected.
    pub detail: String,
}
