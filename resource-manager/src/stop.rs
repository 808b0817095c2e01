//! Sends cancels to executors at once; heartbeat replies repeat them until confirmed.

use crate::fleet::Fleet;
use domain::id::SessionId;
use protocol::{Lease, Stops};
use runtime::tick::TickOutcome;
use std::collections::HashMap;
use store::StoreError;
use store::connect::RmDb;
use store::lease::stops;

/// Reads cancelled leases of connected executors and sends them.
pub(crate) async fn tick(db: &RmDb, fleet: &Fleet) -> Result<TickOutcome, StoreError> {
    let sessions = fleet.busy();
    if sessions.is_empty() {
        return Ok(TickOutcome::idle(0));
    }
    let mut by_session: HashMap<SessionId, Vec<Lease>> = HashMap::new();
    for key in stops(db, &sessions).await? {
        by_session.entry(key.session).or_default().push(key.into());
    }
    let mut done = 0;
    for (session, leases) in by_session {
        done += leases.len() as u64;
        if let Some(stream) = fleet.stream(session) {
            stream.send(Stops { leases });
        }
    }
    Ok(TickOutcome::idle(done))
}
