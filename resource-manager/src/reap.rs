//! Ends sessions whose term has passed, and fences executors that hold a lease past its hard end.
//!
//! After an outage of the database no session was renewed, so nothing is reaped until a full term of successful ticks
//! has passed: otherwise each outage would re-run everything.

use crate::fleet::Fleet;
use crate::metrics::LAPSED;
use bus::{Bus, Topic};
use domain::id::{NodeId, SessionId};
use parking_lot::Mutex;
use protocol::Refused;
use protocol::refused::Reason;
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use runtime::tick::TickOutcome;
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::lease::overdue;
use store::session::{end, lapse};
use tracing::info;

/// Sessions are about to be ended.
static BEFORE_COMMIT: FaultPoint = FaultPoint::new("resource_manager.reap.before_commit");
/// Sessions and their leases are over, and no wake-up was sent.
static COMMITTED: FaultPoint = FaultPoint::new("resource_manager.reap.committed");

/// Sessions ended in one round.
const BATCH: i64 = 16;

pub(crate) struct Reaper {
    pub db: RmDb,
    pub node: NodeId,
    pub fleet: Fleet,
    pub bus: Bus,
    pub term: Duration,
    pub good_since: Mutex<Option<Instant>>,
}

impl Reaper {
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let outcome = self.reap().await;
        let mut good_since = self.good_since.lock();
        match &outcome {
            Ok(_) => {
                good_since.get_or_insert_with(clock::monotonic);
            }
            Err(_) => *good_since = None,
        }
        outcome
    }

    async fn reap(&self) -> Result<TickOutcome, StoreError> {
        // Queried in any case: a response of the database makes the tick successful.
        let ours: Vec<SessionId> = self.fleet.sessions().iter().map(|s| s.session).collect();
        let overdue = overdue(&self.db, &ours).await?;
        let good_since = *self.good_since.lock();
        if good_since.is_none_or(|since| since.elapsed() < self.term) {
            // After an outage results wait in the spools: their leases are past the hard end without a fault.
            return Ok(TickOutcome::idle(0));
        }
        self.fence(overdue).await?;
        BEFORE_COMMIT.hit().await?;
        let lapsed = lapse(&self.db, self.term, BATCH).await?;
        if !lapsed.sessions.is_empty() {
            COMMITTED.hit().await?;
        }
        LAPSED.with(&["sessions"]).inc_by(lapsed.sessions.len() as u64);
        LAPSED.with(&["leases"]).inc_by(lapsed.leases);
        for session in &lapsed.sessions {
            info!(%session, "A session has lapsed");
            self.let_go(*session);
        }
        if lapsed.leases > 0 {
            // Their tasks are due again.
            self.bus.wake(Topic::ShardOwner);
        }
        let done = lapsed.sessions.len() as u64;
        Ok(if i64::try_from(done).is_ok_and(|n| n == BATCH) {
            TickOutcome::now(done)
        } else {
            TickOutcome::idle(done)
        })
    }

    /// Ends sessions of ours that hold a lease past its hard end.
    async fn fence(&self, overdue: Vec<SessionId>) -> Result<(), StoreError> {
        let ours = self.fleet.sessions();
        for session in overdue {
            let Some(epoch) = ours.iter().find(|s| s.session == session).map(|s| s.epoch) else {
                continue;
            };
            if let Some(leases) =
                end(&self.db, self.node, session, epoch, "held a lease past its hard end").await?
            {
                info!(%session, leases, "A session was fenced: it held a lease past its hard end");
                LAPSED.with(&["fenced"]).inc();
                self.bus.wake(Topic::ShardOwner);
            }
            self.let_go(session);
        }
        Ok(())
    }

    fn let_go(&self, session: SessionId) {
        if let Some(connection) = self.fleet.remove(session) {
            let detail = "the session has lapsed or was fenced".to_owned();
            connection.stream.send(Refused { reason: Reason::SessionOver.into(), detail });
        }
    }
}
