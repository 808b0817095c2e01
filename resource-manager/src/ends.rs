//! Tells the batcher what attempts took, some times a second: tenants are charged what they use.

use domain::id::{NodeId, TaskId};
use runtime::clock::{self, Instant};
use runtime::tick::TickOutcome;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::StoreError;
use store::connect::RmDb;
use store::task::transition::EndedAttempt;
use tokio::sync::Notify;

/// Between two words to the batcher: estimates are charged meanwhile.
const APART: Duration = Duration::from_millis(100);

/// Ends that are not told yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    untold: Arc<Mutex<Vec<(TaskId, Duration)>>>,
    added: Arc<Notify>,
}

impl Ends {
    pub(crate) fn add<'a>(&self, ended: impl Iterator<Item = &'a EndedAttempt>) {
        let ended = ended.map(|e| (e.lease.task, Duration::from_millis(e.ran_ms)));
        self.untold.lock().unwrap_or_else(PoisonError::into_inner).extend(ended);
        self.added.notify_one();
    }

    /// Wakes whoever tells them.
    pub(crate) fn added(&self) -> Arc<Notify> {
        Arc::clone(&self.added)
    }

    fn take(&self) -> Vec<(TaskId, Duration)> {
        std::mem::take(&mut self.untold.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The words of one process.
pub(crate) struct Teller {
    pub db: RmDb,
    pub node: NodeId,
    pub ends: Ends,
    pub next: Mutex<i64>,
    pub told: Mutex<Option<Instant>>,
}

impl Teller {
    /// What cannot be told is lost: the batcher asks for what it does not hear of.
    pub(crate) async fn tick(&self) -> Result<TickOutcome, StoreError> {
        let told = *self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = told {
            // Not the ticker's pause, which an end cuts short: under load there is always one.
            clock::sleep_until(at + APART).await;
        }
        let ends = self.ends.take();
        if ends.is_empty() {
            return Ok(TickOutcome::idle(0));
        }
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(clock::monotonic());
        let words = store::attempt_end::words(&ends);
        let seq = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            // Used up whatever becomes of them: a word that arrived without an answer must not hide another of its number.
            let seq = *next;
            *next += i64::try_from(words.len()).unwrap_or(0);
            seq
        };
        store::attempt_end::tell(&self.db, self.node, seq, &words).await?;
        Ok(TickOutcome::idle(ends.len() as u64))
    }
}
