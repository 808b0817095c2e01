//! What to say next, whenever the stream has room for one more message.
//!
//! Nothing waits to be grouped: a group is what came together while the last message was on its way.
//! Heartbeats go first, for they keep the lease; acceptances before anything else of an attempt.

use super::state::Agent;
use crate::stream::{Link, Stage};
use protocol::{
    Accepted, FromExecutor, Heartbeat, Hello, PROTOCOL_VERSION, Results, session_bytes,
};
use runtime::clock::Instant;
use tokio::sync::mpsc;

impl Agent {
    /// The stream's sender and its link's number, if there is something to say.
    pub(super) fn to_say(&self, now: Instant) -> Option<(u64, mpsc::Sender<FromExecutor>)> {
        let link: &Link = self.line.live()?;
        let something = now >= self.heart.due()
            || !self.accepted.is_empty()
            || self.outbox.has_ready()
            || self.flight.is_ready(&self.work.services.output);
        something.then(|| (link.number, link.sender.clone()))
    }

    /// The next message. `now` was read just before.
    pub(super) fn say(&mut self, now: Instant) -> Option<FromExecutor> {
        if now >= self.heart.due()
            && let Some(term) = self.session.term
        {
            self.outbox.repeat_overdue(now);
            let number = self.heart.beat(now, term.beat());
            let heartbeat = Heartbeat {
                number,
                last_assignment: self.session.last_assignment,
                held: self.held(),
                draining: self.drain.is_some(),
            };
            return Some(heartbeat.into());
        }
        if !self.accepted.is_empty() {
            let leases = self.accepted.drain(..).map(protocol::Lease::from).collect();
            return Some(Accepted { leases }.into());
        }
        self.output_was_last = !self.output_was_last;
        if self.output_was_last {
            self.say_output(now).or_else(|| self.say_results(now))
        } else {
            self.say_results(now).or_else(|| self.say_output(now))
        }
    }

    fn say_results(&mut self, now: Instant) -> Option<FromExecutor> {
        let results = self.outbox.take(now);
        (!results.is_empty()).then(|| Results { results }.into())
    }

    fn say_output(&mut self, now: Instant) -> Option<FromExecutor> {
        if !self.flight.is_ready(&self.work.services.output) {
            return None;
        }
        let output = self.flight.next(&self.work.services.output)?;
        // The last of an attempt's output lets its result go.
        self.outbox.release(now);
        Some(output.into())
    }

    pub(super) fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL_VERSION,
            executor_id: self.settings.id.to_string(),
            session_id: session_bytes(self.session.id),
            pool: self.settings.pool.to_string(),
            capacity: Some(self.settings.capacity),
            drivers: self.work.drivers.names().map(str::to_owned).collect(),
            last_assignment: self.session.last_assignment,
            held: self.held(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            earlier_session_ids: self.earlier.before(self.session.id).map(session_bytes).collect(),
            typed_runs: true,
            callbacks: true,
        }
    }

    /// When the link, as it is, needs attention.
    pub(super) fn next_link_step(&self) -> Option<Instant> {
        let link = self.line.link.as_ref()?;
        match link.stage {
            Stage::Greeting(sent) => Some(sent + super::streams::GREETING_TIMEOUT),
            Stage::Live(_) if link.retiring.is_some() => None,
            Stage::Live(_) => Some(self.heart.waiting_since()? + self.session.term?.doubt()),
        }
    }
}
