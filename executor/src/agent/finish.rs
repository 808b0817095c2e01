//! Turns an ended attempt into a result on its way to disk and to the resource manager.

use super::state::Agent;
use super::work::Control;
use crate::driver::{Ended, Ending};
use crate::metrics::{RESULTS, SPOOL_ALARM, SPOOL_BYTES, UNANSWERED};
use crate::output::AttemptOutput;
use crate::spool::Written;
use bytes::Bytes;
use domain::task::{AttemptOutcome, LeaseKey};
use protocol::result::Outcome;
use protocol::{session_bytes, truncate_reason};
use runtime::clock::Instant;
use std::sync::Arc;
use std::time::Duration;

/// An attempt that has ended.
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) ran: Duration,
    pub(super) output: Option<Arc<AttemptOutput>>,
}

impl Finished {
    /// One that ended in the moment it was received.
    pub(super) const fn at_once(ending: Ending) -> Self {
        Self { ending, ran: Duration::ZERO, output: None }
    }
}

impl Agent {
    /// An attempt has ended by its driver's word and nothing of it is left.
    pub(super) fn ended(&mut self, lease: LeaseKey, ended: Ended, now: Instant) {
        let Some(running) = self.work.running.get_mut(&lease) else { return };
        running.billed_from = ended.billed_from.unwrap_or(now).min(now);
        let ending = ended.under(running.why);
        self.finish(lease, ending, now);
        self.begin_anew_if_dead();
    }

    /// A running attempt has ended like this.
    pub(super) fn finish(&mut self, lease: LeaseKey, ending: Ending, now: Instant) {
        let Some(running) = self.work.remove(&lease) else { return };
        let output = match running.control {
            Control::Driver { output, .. } => Some(output),
            Control::Timer { .. } => None,
        };
        self.settle(lease, Finished { ending, ran: now - running.billed_from, output });
    }

    /// Gives an accepted attempt its result.
    pub(super) fn settle(&mut self, lease: LeaseKey, finished: Finished) {
        let Finished { ending, ran, output } = finished;
        let (stdout_bytes, stderr_bytes) = output.as_ref().map_or((0, 0), |output| output.totals());
        let result = protocol::Result {
            ran_ms: u64::try_from(ran.as_millis()).unwrap_or(u64::MAX),
            stdout_bytes,
            stderr_bytes,
            ..result(lease, ending)
        };
        self.disk.spool.store(lease, result.clone());
        self.outbox.add(lease, result, output);
    }

    /// Refuses an assignment. Not written to disk: were it lost, the lease would end the same way,
    /// because no heartbeat of a later session lists it and it was never accepted.
    pub(super) fn not_started(&mut self, lease: LeaseKey, reason: String) {
        let result = result(lease, Ending::plain(AttemptOutcome::NotStarted, reason));
        self.outbox.add_ready(lease, result);
    }

    /// The spool's thread has written a group, or could not.
    pub(super) fn written(&mut self, written: Written, now: Instant) {
        if let Some(error) = &written.failure
            && self.disk.failure.is_none()
        {
            tracing::error!(%error, "Results cannot be written to disk; no new work is taken until they can: {error}");
        } else if written.failure.is_none() && self.disk.failure.is_some() {
            tracing::info!("Results can be written to disk again");
        }
        // After a failure they are sent all the same: a report that a crash could lose is better than none.
        self.outbox.written(&written.keys, now);
        self.disk.failure = written.failure;
        self.disk.live_bytes = written.live_bytes;
        let alarm =
            self.disk.failure.is_some() || self.disk.live_bytes >= self.settings.spool_max_bytes;
        SPOOL_ALARM.with(&[]).set(f64::from(u8::from(alarm)));
        #[expect(clippy::cast_precision_loss, reason = "metrics need no more than 52 bits")]
        {
            SPOOL_BYTES.with(&[]).set(self.disk.live_bytes as f64);
            UNANSWERED.with(&[]).set(self.outbox.len() as f64);
        }
    }
}

fn result(lease: LeaseKey, ending: Ending) -> protocol::Result {
    RESULTS.with(&[ending.outcome.as_str()]).inc();
    if ending.outcome != AttemptOutcome::Succeeded {
        tracing::debug!(task.id = %lease.task, attempt = lease.attempt, outcome = %ending.outcome, "Attempt {} of `{}` ended: {}", lease.attempt, lease.task, ending.reason);
    }
    let outcome = if ending.called { Outcome::Called } else { ending.outcome.into() };
    protocol::Result {
        lease: Some(lease.into()),
        session_id: session_bytes(lease.session),
        outcome: outcome.into(),
        exit_code: ending.exit_code,
        signal: ending.signal,
        reason: truncate_reason(ending.reason),
        retry_after_ms: ending
            .retry_after
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        value: ending.value.map(|value| Bytes::copy_from_slice(value.as_str().as_bytes())),
        ..protocol::Result::default()
    }
}
