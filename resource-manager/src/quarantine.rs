//! Stores which executors are in quarantine, for the doctor.

use crate::fleet::Fleet;
use crate::metrics::QUARANTINED;
use domain::id::{NodeId, SessionId};
use parking_lot::Mutex;
use runtime::tick::TickOutcome;
use std::collections::HashSet;
use store::StoreError;
use store::connect::RmDb;
use store::session::{SessionQuarantine, quarantine};

/// Stored quarantines of the sessions of this process.
pub(crate) struct QuarantineWriter {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub noted: Mutex<HashSet<SessionId>>,
}

impl QuarantineWriter {
    /// Writes changes, if any.
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let now = self.fleet.quarantined();
        QUARANTINED.set(now.len() as f64);
        let before = self.noted.lock().clone();
        let changed: Vec<SessionQuarantine> = now
            .symmetric_difference(&before)
            .map(|session| SessionQuarantine { session: *session, held: now.contains(session) })
            .collect();
        if changed.is_empty() {
            return Ok(TickOutcome::idle(0));
        }
        quarantine(&self.db, self.node, &changed).await?;
        *self.noted.lock() = now;
        Ok(TickOutcome::idle(changed.len() as u64))
    }
}
