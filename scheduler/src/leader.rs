//! Whether this scheduler is the batcher.
//!
//! The lease is renewed every quarter of its term and polled by all others: a clean exit hands over at once, a dead
//! leader is replaced after its lease. Local trust ends after two thirds of the term, counted from before the request.
//! The database refuses an old epoch in addition, so local trust only saves useless work.

use domain::epoch::Epoch;
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
use store::leadership;
use tokio::sync::watch;
use tracing::{info, warn};

static LEADS: LazyLock<Gauge> = LazyLock::new(|| {
    metrics::gauge("berth_batcher_leads", "1 while this scheduler is the batcher", &[]).with(&[])
});

/// Poll interval of a process that does not lead.
const WATCH: Duration = Duration::from_millis(250);

/// The leader row as this process knows it.
#[derive(Debug)]
pub(crate) struct Leader {
    db: SchedulerDb,
    node: NodeId,
    lease: Duration,
    held: Mutex<Option<(Epoch, Instant)>>,
    /// The last epoch under which this process has led.
    last: watch::Sender<Option<Epoch>>,
    /// Set by `release`: a renewal in flight must not claim the row again.
    over: AtomicBool,
    /// The current epoch must no longer be used, also not by this process.
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

    /// The epoch under which this process leads.
    pub(crate) fn epoch(&self) -> Option<Epoch> {
        if self.renounced.load(Ordering::Acquire) {
            return None;
        }
        let held = *self.held.lock();
        held.filter(|(_, until)| clock::monotonic() < *until).map(|(epoch, _)| epoch)
    }

    /// Runs `work` under `epoch` until this process leads under a later one. By then the database has answered on
    /// another connection and refuses what is left of `work`, so waiting longer is useless.
    pub(crate) async fn under<T>(
        &self,
        epoch: Epoch,
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

    /// Another process leads, by the database.
    pub(crate) fn lost(&self) {
        self.set(None);
    }

    /// Gives up the row and claims it under the next epoch, because the outcome of a statement under the current one is
    /// unknown. The release waits for that statement if it runs, and makes it stale if it does not yet.
    pub(crate) fn renounce(&self) {
        self.renounced.store(true, Ordering::Release);
        self.set(None);
    }

    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        if self.renounced.load(Ordering::Acquire) {
            leadership::release(&self.db, self.node).await?;
            // A renewal in flight may have stored the renounced epoch again.
            self.set(None);
            self.renounced.store(false, Ordering::Release);
        }
        let sent_at = clock::monotonic();
        if self.over.load(Ordering::SeqCst) {
            return Ok(TickOutcome::idle(0));
        }
        let epoch = leadership::acquire(&self.db, self.node, self.lease).await?;
        if self.over.load(Ordering::SeqCst) {
            leadership::release(&self.db, self.node).await?;
            return Ok(TickOutcome::idle(0));
        }
        self.set(epoch.map(|epoch| (epoch, sent_at + self.lease * 2 / 3)));
        // The death of a leader is detected by this poll.
        Ok(if epoch.is_some() {
            TickOutcome::idle(1)
        } else {
            TickOutcome::after(WATCH.min(self.lease / 4), 0)
        })
    }

    /// Releases the row at shutdown.
    pub(crate) async fn release(&self) {
        self.over.store(true, Ordering::SeqCst);
        let led = self.held.lock().is_some() || self.renounced.load(Ordering::Acquire);
        self.set(None);
        // Also after local trust has ended: the row may still block another process.
        if led && let Err(error) = leadership::release(&self.db, self.node).await {
            warn!(%error, "The batcher's row could not be given up; it expires by itself");
        }
    }

    fn set(&self, now: Option<(Epoch, Instant)>) {
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

    /// A leader without a database.
    fn leader() -> Leader {
        let url = ("BERTH_DATABASE__URL".to_owned(), "postgres://127.0.0.1/berth".to_owned());
        let config = load_from(None, [url]).unwrap();
        Leader::new(SchedulerDb::connect(&config.database).unwrap(), NodeId::fresh(), TERM)
    }

    fn leads(leader: &Leader, epoch: i64) {
        leader.set(Some((Epoch(epoch), clock::monotonic() + TERM)));
    }

    #[tokio::test]
    async fn what_hears_nothing_is_given_up_when_a_later_epoch_begins_and_not_before() {
        let leader = leader();
        leads(&leader, 4);
        let mut silent = Box::pin(leader.under(Epoch(4), pending::<Result<(), StoreError>>()));
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
        assert_eq!(leader.under(Epoch(4), ready(Ok(7))).await.unwrap(), 7);
    }
}
