//! Limits of concurrency keys.

use domain::time::Timestamp;
use serde::Deserialize;

/// Concurrency limit of a key.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ConcurrencyLimit {
    /// The key.
    pub key: String,
    /// Tasks queued, running or cancelling; 0: none starts.
    pub running: u32,
    /// False: no limit is stored, so it is 1.
    pub stored: bool,
    /// When it was last changed; `None` if none is stored.
    pub updated_at: Option<Timestamp>,
    /// Tasks queued, running or cancelling now, counted up to 10 000; `None` if not requested.
    pub held: Option<u64>,
}
