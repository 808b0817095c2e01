//! Reports the run time of finished attempts to the batcher, ten times a second, so that tenants are charged for actual
//! use.

use domain::id::NodeId;
use parking_lot::Mutex;
use runtime::tick::TickOutcome;
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::attempt_end::UsedTime;
use store::connect::RmDb;
use store::task::transition::EndedAttempt;

/// Report interval; estimates are charged meanwhile.
pub(crate) const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Ends that are not reported yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends(Arc<Mutex<Vec<UsedTime>>>);

impl Ends {
    pub(crate) fn add<'a>(&self, ended: impl Iterator<Item = &'a EndedAttempt>) {
        let ended =
            ended.map(|e| UsedTime { task: e.lease.task, used: Duration::from_millis(e.ran_ms) });
        self.0.lock().extend(ended);
    }

    fn take(&self) -> Vec<UsedTime> {
        std::mem::take(&mut self.0.lock())
    }
}

/// Reports the ends of one process.
pub(crate) struct EndReporter {
    pub db: RmDb,
    pub node: NodeId,
    pub ends: Ends,
    pub next: Mutex<i64>,
}

impl EndReporter {
    /// An end that cannot be reported is dropped: the batcher reads it from the database.
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let ends = self.ends.take();
        if ends.is_empty() {
            return Ok(TickOutcome::idle(0));
        }
        let words = store::attempt_end::words(&ends);
        let seq = {
            let mut next = self.next.lock();
            // The number is used even if the report fails: a report stored without a response must not hide another of
            // the same number.
            let seq = *next;
            *next += i64::try_from(words.len()).unwrap_or(0);
            seq
        };
        store::attempt_end::tell(&self.db, self.node, seq, &words).await?;
        Ok(TickOutcome::idle(ends.len() as u64))
    }
}
