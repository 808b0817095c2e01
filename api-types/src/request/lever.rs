//! Levers of one task.

use serde::{Deserialize, Serialize};

/// Marks a task as succeeded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TaskMarkSucceeded))]
pub struct MarkSucceeded {
    /// How it was done, or why it need not be. In `reason` of the task, and in the audit log.
    #[cfg_attr(
        feature = "openapi",
        schema(min_length = 1, max_length = 500, example = "loaded by hand")
    )]
    pub note: String,
}
