//! Takes up assignments, or says at once why not.
//!
//! Numbers at or below the last one are repeats and change nothing. An attempt that is refused here never
//! ran and costs the task nothing; one that is taken up is told as accepted before anything else of it.

use super::event::Event;
use super::finish::Finished;
use super::state::Agent;
use super::work::{Control, Running};
use crate::command::UNABLE_HOLD;
use crate::driver::{Attempt, Ending, Started};
use crate::due::Due;
use domain::task::{AttemptOutcome, LeaseKey};
use protocol::{Assignment, Assignments, UnreadableRun};
use runtime::clock::{self, Instant};
use std::time::Duration;

/// Longest cap that is believed; far above what the API allows.
const MAX_CAP: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

impl Agent {
    pub(super) fn take_up_all(&mut self, assignments: Assignments, now: Instant) {
        for assignment in assignments.assignments {
            if assignment.number <= self.session.last_assignment {
                tracing::debug!(number = assignment.number, "An assignment came again");
                continue;
            }
            self.session.last_assignment = assignment.number;
            let lease = assignment.lease.as_ref().map(|lease| lease.key(self.session.id));
            match lease {
                Some(Ok(lease)) => self.take_up(lease, assignment, now),
                // It cannot even be refused by name; the next heartbeat does not list it.
                None | Some(Err(_)) => {
                    tracing::error!(
                        number = assignment.number,
                        "An assignment names no valid lease"
                    );
                }
            }
        }
    }

    fn take_up(&mut self, lease: LeaseKey, mut assignment: Assignment, now: Instant) {
        if self.work.running.contains_key(&lease) || self.outbox.contains(&lease) {
            tracing::debug!(task.id = %lease.task, attempt = lease.attempt, "Attempt {} of `{}` is held already", lease.attempt, lease.task);
            return;
        }
        if self.drain.is_some() {
            return self.not_started(lease, "the executor is draining".to_owned());
        }
        if let Some(reason) = self.cannot_keep_results() {
            return self.not_started_soon(lease, reason);
        }
        let run = match assignment.take_run() {
            Err(UnreadableRun::UnknownDriver(name)) => return self.no_driver(lease, &name),
            Ok(run) if !self.work.drivers.has(&run) => return self.no_driver(lease, run.driver()),
            Err(malformed @ UnreadableRun::Malformed(_)) => Err(malformed.to_string()),
            Ok(_) if assignment.cap_ms == 0 => Err("malformed assignment: no cap".to_owned()),
            Ok(run) => Ok(run),
        };
        self.accepted.push(lease);
        tracing::debug!(task.id = %lease.task, attempt = lease.attempt, "Attempt {} of `{}` starts", lease.attempt, lease.task);
        let attempt = Attempt {
            lease,
            due: Due::of(&mut assignment),
            traceparent: assignment.traceparent,
            resources: assignment.resources.unwrap_or_default(),
            policy: self.session.policy,
            received: now,
            cap: Duration::from_millis(assignment.cap_ms).min(MAX_CAP),
            kill_grace: self.session.kill_grace,
        };
        let started = match run {
            Ok(run) => self.work.drivers.start(run, attempt, &self.work.services),
            Err(reason) => Started::Ended(Ending::plain(AttemptOutcome::Failed, reason)),
        };
        let control = match started {
            Started::Ended(ending) => return self.settle(lease, Finished::at_once(ending)),
            Started::Sleeps { until, then } => {
                self.work.sleepers.add(until, lease);
                Control::Timer { then }
            }
            Started::Runs { stop, output } => Control::Driver { stop, output },
        };
        self.work.add(lease, Running { billed_from: now, why: None, control });
    }

    fn no_driver(&self, lease: LeaseKey, name: &str) {
        self.not_started_soon(lease, format!("this executor has no driver `{name}`"));
    }

    /// Refuses an assignment after a moment: an executor that can do nothing must not draw all work to itself by being
    /// free again at once. A heartbeat that comes before does not list it, which ends it in the same way.
    fn not_started_soon(&self, lease: LeaseKey, reason: String) {
        tracing::warn!(task.id = %lease.task, attempt = lease.attempt, "Attempt {} of `{}` cannot be taken up: {reason}", lease.attempt, lease.task);
        let events = self.events.clone();
        self.tasks.spawn_detached("executor_refusal", async move {
            clock::sleep(UNABLE_HOLD).await;
            events.send(Event::NotStarted { lease, reason }).await.ok();
        });
    }

    /// Why no result could be kept safe now; none when it can.
    fn cannot_keep_results(&self) -> Option<String> {
        if self.disk.live_bytes >= self.settings.spool_max_bytes {
            return Some("the executor's spool is full".to_owned());
        }
        self.disk
            .failure
            .as_ref()
            .map(|error| format!("the executor's spool cannot be written: {error}"))
    }

    /// Ends the sleep of those whose time has come.
    pub(super) fn wake_sleepers(&mut self, now: Instant) {
        while let Some(lease) = self.work.sleepers.pop(now) {
            // Not there any more: it was stopped.
            let Some(running) = self.work.running.get(&lease) else { continue };
            if let Control::Timer { then } = &running.control {
                self.finish(lease, then.clone(), now);
            }
        }
    }
}
