//! Stops attempts that a resource manager names.
//!
//! It repeats itself until a result confirms, so everything here may come twice. What has ended already
//! keeps its outcome; its result is on the way.

use super::state::Agent;
use crate::driver::Why;
use domain::task::LeaseKey;
use protocol::Lease;
use runtime::clock::Instant;
use std::collections::HashSet;

impl Agent {
    pub(super) fn stop(&mut self, leases: &[Lease], now: Instant) {
        let session = self.session.id;
        for lease in leases.iter().filter_map(|lease| lease.key(session).ok()) {
            self.end_attempt(lease, Why::Stop, now);
        }
    }

    /// Kills what a new resource manager does not know: it may run elsewhere already.
    pub(super) fn kill_unlisted(&mut self, listed: &[Lease], now: Instant) {
        let listed: HashSet<LeaseKey> =
            listed.iter().filter_map(|lease| lease.key(self.session.id).ok()).collect();
        let unlisted: Vec<LeaseKey> =
            self.work.leases().filter(|lease| !listed.contains(lease)).collect();
        for lease in unlisted {
            tracing::info!(task.id = %lease.task, attempt = lease.attempt, "Attempt {} of `{}` is not ours any more", lease.attempt, lease.task);
            self.end_attempt(lease, Why::Fence, now);
        }
    }
}
