//! `/v1/concurrency-limits`: limits of concurrency keys.

use crate::DateTime;
use serde::{Deserialize, Serialize};

/// Concurrency limit of a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConcurrencyLimit {
    /// The key.
    pub key: String,
    /// Tasks queued, running or cancelling; 0: none starts.
    pub running: u32,
    /// False: no limit is stored, so it is 1.
    pub stored: bool,
    /// When it was last changed; null if none is stored.
    pub updated_at: Option<DateTime>,
}

/// Concurrency limit of a key and its use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConcurrencyUse {
    /// The limit.
    #[serde(flatten)]
    pub limit: ConcurrencyLimit,
    /// Tasks queued, running or cancelling now; counted up to 10000.
    pub held: u64,
}
