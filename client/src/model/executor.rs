//! Connected executors.

use domain::id::PoolName;
use domain::resources::Resources;
use domain::time::Timestamp;
use serde::Deserialize;

/// A connected executor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Executor {
    /// Its name.
    pub id: String,
    /// Its session as logs show it.
    pub session: String,
    /// Its pool.
    pub pool: PoolName,
    /// Whether it only finishes what runs.
    pub draining: bool,
    /// Version of its program.
    pub version: String,
    /// When the session began.
    pub started_at: Timestamp,
    /// When the session ends unless a heartbeat renews it.
    pub expires_at: Timestamp,
    /// Since when it is in quarantine, if it is.
    pub quarantined_at: Option<Timestamp>,
    /// Attempts that run on it.
    pub running: u64,
    /// What it has.
    pub capacity: Resources,
    /// What is left of it.
    pub free: Resources,
}
