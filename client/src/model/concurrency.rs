//! Limits on tasks that run at once under a concurrency key.

use domain::time::Timestamp;
use serde::Deserialize;

/// How many tasks of a key run at once.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ConcurrencyLimit {
    /// The key.
    pub key: String,
    /// Tasks queued, running or cancelling at once; 0: none starts.
    pub running: u32,
    /// False where nothing was stored: then it is 1.
    pub stored: bool,
    /// When it was changed last; `None` where nothing is stored.
    pub updated_at: Option<Timestamp>,
    /// Tasks queued, running or cancelling now, counted up to 10 000; `None` where it was not asked for.
    pub held: Option<u64>,
}
