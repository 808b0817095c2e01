//! Gives a session up with all its work, and begins a new one when that work is dead.
//!
//! Called when the term was not confirmed in time and when the resource manager says that the session is
//! over. Between the two sessions nothing is dialled: an executor must not offer room that is still taken.

use super::state::{Agent, Session};
use super::work::Control;
use crate::driver::{Ending, Why};
use crate::metrics::{CONNECTED, FENCED};
use domain::task::LeaseKey;
use runtime::clock::Instant;

impl Agent {
    /// The first thing after every awakening.
    pub(super) fn keep_the_lease(&mut self, now: Instant) {
        if self.session.term.is_some_and(|term| term.is_over(now)) {
            self.fence("term", now);
        }
    }

    /// Gives the session up. `reason`: `term` or `session_over`.
    pub(super) fn fence(&mut self, reason: &'static str, now: Instant) {
        if self.session.is_over {
            return;
        }
        let attempts = self.work.running.len();
        FENCED.with(&[reason]).inc();
        tracing::warn!(session.id = %self.session.id, attempts, reason, "The session is given up and its {attempts} attempts are killed");
        self.session.is_over = true;
        self.session.term = None;
        self.line.hang_up(now);
        self.line.hurry();
        CONNECTED.with(&[]).set(0.0);
        self.forget_output();
        let leases: Vec<LeaseKey> = self.work.leases().collect();
        for lease in leases {
            self.end_attempt(lease, Why::Fence, now);
        }
        self.begin_anew_if_dead();
    }

    /// Asks one running attempt to end. One that only sleeps ends at once.
    pub(super) fn end_attempt(&mut self, lease: LeaseKey, why: Why, now: Instant) {
        let kill_grace = self.session.kill_grace;
        let Some(running) = self.work.running.get_mut(&lease) else { return };
        // Only a fence overrides what was asked before.
        if running.why.is_some() && (why != Why::Fence || running.why == Some(Why::Fence)) {
            return;
        }
        running.why = Some(why);
        let grace = match why {
            Why::Stop => Some(kill_grace),
            Why::Drain => Some(kill_grace.min(super::drain::LAST_GRACE)),
            Why::Fence => None,
        };
        match &running.control {
            Control::Timer { .. } => self.finish(lease, Ending::ours(why), now),
            // That it has ended is said by its driver.
            Control::Driver { stop, .. } => stop.stop(grace),
        }
    }

    /// Begins a new session once nothing of the old one runs.
    pub(super) fn begin_anew_if_dead(&mut self) {
        if self.session.is_over && self.work.running.is_empty() {
            let old = self.session.id;
            self.session = Session::fresh();
            self.earlier.begin(self.session.id);
            self.forget_output();
            self.work.sleepers.clear();
            tracing::info!(session.id = %self.session.id, "Session {} follows {old}, whose work is dead", self.session.id);
        }
    }

    /// Output of a session that is over has nowhere to go.
    fn forget_output(&mut self) {
        self.work.services.output.clear();
        self.flight.clear();
        self.accepted.clear();
    }
}
