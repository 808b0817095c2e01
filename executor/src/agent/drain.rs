//! Ends an executor without losing anything.
//!
//! At once no new work; what runs may finish within the grace, then it is stopped and handed back, which
//! costs the task nothing. The process ends when every result is answered, or a bounded time later:
//! what is still on disk then is delivered by the next boot.

use super::state::{Agent, Drain};
use crate::driver::Why;
use domain::task::LeaseKey;
use runtime::clock::Instant;
use std::time::Duration;

/// Most time between the polite and the hard kill of what is handed back.
pub(super) const LAST_GRACE: Duration = Duration::from_secs(2);
/// Time from the grace's end to the process's, whatever happens.
const AFTER_GRACE: Duration = Duration::from_secs(4);
/// Time for answers once nothing runs any more.
const FLUSH: Duration = Duration::from_secs(3);

impl Agent {
    pub(super) fn begin_drain(&mut self, now: Instant) {
        if self.drain.is_some() {
            return;
        }
        let attempts = self.work.running.len();
        tracing::info!(attempts, "Draining: {attempts} attempts may finish");
        let hand_back_at = now + self.settings.drain_grace;
        self.drain = Some(Drain {
            hand_back_at: Some(hand_back_at),
            give_up_at: hand_back_at + AFTER_GRACE,
            idle_since: None,
            began_at: now,
            // One that was never welcomed is known to nobody, and nothing can be on its way.
            known: self.session.term.is_none(),
        });
        self.health.mark_draining();
        self.heart.hasten(now);
    }

    /// The heartbeat sent at `sent` was answered.
    pub(super) fn drain_is_known(&mut self, sent: Instant) {
        if let Some(drain) = &mut self.drain {
            drain.known |= sent >= drain.began_at;
        }
    }

    pub(super) fn go_on_draining(&mut self, now: Instant) {
        let idle = self.work.running.is_empty();
        let Some(drain) = &mut self.drain else { return };
        if idle {
            drain.idle_since.get_or_insert(now);
        }
        if drain.hand_back_at.is_some_and(|at| now >= at) {
            drain.hand_back_at = None;
            let leases: Vec<LeaseKey> = self.work.leases().collect();
            for lease in leases {
                self.end_attempt(lease, Why::Drain, now);
            }
        }
    }

    /// True when the process may end.
    pub(super) fn is_drained(&self, now: Instant) -> bool {
        let Some(drain) = &self.drain else { return false };
        // One that left before its resource manager knew would be given work on the way out.
        let delivered = drain.known && self.work.running.is_empty() && self.outbox.is_empty();
        let flushed = drain.idle_since.is_some_and(|since| now >= since + FLUSH);
        if !delivered && (flushed || now >= drain.give_up_at) {
            let (attempts, results) = (self.work.running.len(), self.outbox.len());
            tracing::warn!(
                attempts,
                results,
                "Ending with {attempts} attempts running and {results} results to be delivered by the next boot"
            );
        }
        delivered || flushed || now >= drain.give_up_at
    }

    pub(super) fn next_drain_step(&self) -> Option<Instant> {
        let drain = self.drain.as_ref()?;
        let flush = drain.idle_since.map_or(drain.give_up_at, |since| since + FLUSH);
        Some(drain.hand_back_at.map_or(flush, |at| at.min(flush)).min(drain.give_up_at))
    }
}
