//! Whether this scheduler is the batcher.
//!
//! Renewed every quarter of the lease, and watched by all others: one that was killed is followed within a moment, one that is frozen or cut
//! off after its lease. The holder trusts itself for two thirds of the lease, counted from before it asked;
//! the database refuses an old epoch besides, so local trust only spares useless work.

use domain::id::NodeId;
use parking_lot::Mutex;
use runtime::clock::{self, Instant};
use runtime::metrics::{self, Gauge};
use runtime::tick::TickOutcome;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::StoreError;
use store::connect::SchedulerDb;
use store::leadership::{self, LeaderEpoch};
use tokio::sync::watch;
use tracing::{info, warn};

static LEADS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_batcher_leads", "1 while this scheduler is the batcher", &[]).with(&[])
});

/// Whoever does not lead looks as often whether it may.
const WATCH: Duration = Duration::from_millis(250);

/// The batcher's row as this process sees it.
#[derive(Debug)]
pub(crate) struct Leader {
    db: SchedulerDb,
    node: NodeId,
    lease: Duration,
    held: Mutex<Option<(LeaderEpoch, Instant)>>,
    /// The last epoch under which this process has led.
    last: watch::Sender<Option<LeaderEpoch>>,
    /// Set by `release`: a renewal that was on its way then must not take the row back.
    over: AtomicBool,
    /// The present epoch must not be used any more, not even by this process.
    renounced: AtomicBool,
}

impl Leader {
    pub(crate) fn new(db: SchedulerDb, node: NodeId, lease: Duration) -> Self {
        let (renounced, over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (held, last) = (Mutex::new(None), watch::Sender::new(None));
        Self { db, node, lease, held, last, renounced, over }
    }

    pub(crate) const fn node(&self) -> NodeId {
        self.node
    }

    /// The epoch under which this process leads now.
    pub(crate) fn epoch(&self) -> Option<LeaderEpoch> {
        if self.renounced.load(Ordering::Acquire) {
            return None;
        }
        let held = *self.held.lock();
        held.filter(|(_, until)| clock::monotonic() < *until).map(|(epoch, _)| epoch)
    }

    /// Does `work`, which is the batcher's under `epoch`, until this process leads under a later one. Then the database has answered, on
    /// another connection, and whoever still waits for it would wait in vain; what it has not done by then it will refuse.
    pub(crate) async fn under<T>(
        &self,
        epoch: LeaderEpoch,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut last = self.last.subscribe();
        tokio::select! {
            biased;
            done = work => done,
            // The sender is in `self`.
            _ = last.wait_for(|last| *last > Some(epoch)) => Err(StoreError::overtaken()),
        }
    }

    /// The database said that another leads.
    pub(crate) fn lost(&self) {
        self.set(None);
    }

    /// Nothing is known of a statement that named the present epoch: it may still take effect. The row is given up and taken
    /// anew, under the next epoch: giving it up waits for that statement where it runs, and voids it where it does not yet.
    pub(crate) fn renounce(&self) {
        self.renounced.store(true, Ordering::Release);
        self.set(None);
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if self.renounced.load(Ordering::Acquire) {
            leadership::release(&self.db, self.node).await?;
            // A renewal that was on its way when it was renounced may have noted the old epoch again.
            self.set(None);
            self.renounced.store(false, Ordering::Release);
        }
        let asked = clock::monotonic();
        if self.over.load(Ordering::SeqCst) {
            return Ok(TickOutcome::idle(0));
        }
        let epoch = leadership::acquire(&self.db, self.node, self.lease).await?;
        if self.over.load(Ordering::SeqCst) {
            leadership::release(&self.db, self.node).await?;
            return Ok(TickOutcome::idle(0));
        }
        self.set(epoch.map(|epoch| (epoch, asked + self.lease * 2 / 3)));
        // Another's death is seen when it is looked for.
        Ok(if epoch.is_some() {
            TickOutcome::idle(1)
        } else {
            TickOutcome::after(WATCH.min(self.lease / 4), 0)
        })
    }

    /// Gives the row up, for good.
    pub(crate) async fn release(&self) {
        self.over.store(true, Ordering::SeqCst);
        let led = self.held.lock().is_some() || self.renounced.load(Ordering::Acquire);
        self.set(None);
        // Also where our own trust has run out, or was given up: the row may still bar another.
        if led && let Err(error) = leadership::release(&self.db, self.node).await {
            warn!(%error, "The batcher's row could not be given up; it expires by itself");
        }
    }

    fn set(&self, now: Option<(LeaderEpoch, Instant)>) {
        let mut held = self.held.lock();
        match (held.map(|h| h.0), now.map(|n| n.0)) {
            (before, Some(epoch)) if before != Some(epoch) => {
                info!(epoch = epoch.0, "This scheduler is the batcher now");
                self.last.send_replace(Some(epoch));
            }
            (Some(epoch), None) => info!(epoch = epoch.0, "This scheduler is the batcher no more"),
            _ => {}
        }
        *held = now;
        LEADS.set(if now.is_some() { 1.0 } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::load_from;
    use std::future::{pending, ready};

    const TERM: Duration = Duration::from_secs(3);

    /// Of a database that nobody asks.
    fn leader() -> Leader {
        let url = ("BERTH_DATABASE__URL".to_owned(), "postgres://127.0.0.1/berth".to_owned());
        let config = load_from(None, [url]).unwrap();
        Leader::new(SchedulerDb::connect(&config.database).unwrap(), NodeId::fresh(), TERM)
    }

    fn leads(leader: &Leader, epoch: i64) {
        leader.set(Some((LeaderEpoch(epoch), clock::monotonic() + TERM)));
    }

    #[tokio::test]
    async fn what_hears_nothing_is_given_up_when_a_later_epoch_begins_and_not_before() {
        let leader = leader();
        leads(&leader, 4);
        let mut silent =
            Box::pin(leader.under(LeaderEpoch(4), pending::<Result<(), StoreError>>()));
        let mut waits = async || tokio::time::timeout(Duration::from_millis(20), &mut silent).await;
        assert!(waits().await.is_err());
        leads(&leader, 4);
        assert!(waits().await.is_err(), "renewed");
        leader.set(None);
        assert!(waits().await.is_err(), "that it leads no more says nothing of the database");
        leads(&leader, 5);
        let error = waits().await.unwrap().unwrap_err();
        assert!(error.outcome_unknown(), "{error:?}");
    }

    #[tokio::test]
    async fn what_was_answered_counts_also_when_a_later_epoch_has_begun() {
        let leader = leader();
        leads(&leader, 5);
        assert_eq!(leader.under(LeaderEpoch(4), ready(Ok(7))).await.unwrap(), 7);
    }
}
