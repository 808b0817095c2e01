//! Begins streams, hears what comes over the newest, and gives them up.

use super::event::Event;
use super::state::Agent;
use crate::metrics::{CONNECTED, STREAMS};
use crate::stream::{DialError, Greeting, Link, Retiring, Stage, StreamEvent, open};
use crate::term::Term;
use domain::pool::PoolPolicy;
use protocol::refused::Reason;
use protocol::to_executor::Message;
use protocol::{Refused, Welcome};
use runtime::clock::Instant;
use runtime::error_chain::ErrorChain;
use std::time::Duration;
use tonic::transport::Channel;

/// How long a resource manager may take to answer `Hello`.
pub(super) const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait before a name that is taken is asked for again.
const NAME_TAKEN_RETRY: Duration = Duration::from_secs(1);
/// A shorter term than this is taken for a mistake.
const MIN_TERM: Duration = Duration::from_millis(300);

impl Agent {
    /// Dials if a link is wanted. Not between two sessions.
    pub(super) fn dial_if_wanted(&mut self) {
        if self.session.is_over {
            return;
        }
        if let Some(pause) = self.line.dial_due() {
            let dial = self.line.dialer.dial(pause);
            let events = self.events.clone();
            self.tasks.spawn("executor_dial", async move {
                events.send(Event::Dialled(dial.await)).await.ok();
            });
        }
    }

    /// From here on only the new link counts: the old one is dropped before `Hello` says what we hold.
    pub(super) fn dialled(&mut self, dialled: Result<(Channel, String), DialError>, now: Instant) {
        let (channel, address) = match dialled {
            Ok(connected) => connected,
            Err(error) => {
                STREAMS.with(&["unreachable"]).inc();
                tracing::debug!(error = %ErrorChain(&error), "No connection: {}", ErrorChain(&error));
                return self.line.dial_failed();
            }
        };
        let number = self.line.dialled();
        if self.session.is_over || !self.line.is_wanted() {
            return;
        }
        let authorization = self.settings.authorization.clone();
        let greeting = Greeting { link: number, authorization, hello: self.hello() };
        let (sender, receiving) = open(channel, greeting, self.events.clone());
        self.tasks.spawn("executor_stream", receiving);
        let stage = Stage::Greeting(now);
        self.line.link = Some(Link { number, address, stage, sender, retiring: None });
    }

    pub(super) fn heard(&mut self, event: StreamEvent, now: Instant) {
        let (number, message) = match event {
            StreamEvent::Message { link, message } => (link, Ok(message)),
            StreamEvent::Closed { link, why } => (link, Err(why)),
        };
        // An older stream: whatever it says no longer counts.
        let Some(link) = self.line.newest(number) else { return };
        match (message, link.stage) {
            (Err(why), _) => self.lose_link(&why, now),
            (Ok(Message::Welcome(welcome)), Stage::Greeting(sent)) => {
                self.welcomed(&welcome, sent, now)
            }
            (Ok(Message::Refused(refused)), _) => self.refused(&refused, now),
            (Ok(_), Stage::Greeting(_)) => self.lose_link("spoke before it welcomed us", now),
            (Ok(message), Stage::Live(_)) => self.on_message(message, now),
        }
    }

    fn on_message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Assignments(assignments) => self.take_up_all(assignments, now),
            Message::Heartbeat(answer) => self.heartbeat_answered(&answer, now),
            Message::Results(answers) => self.results_answered(&answers, now),
            Message::Stops(stops) => self.stop(&stops.leases, now),
            Message::Output(answer) => self.flight.answered(&answer),
            Message::GoAway(go_away) => {
                tracing::info!(reason = go_away.reason, "Asked to go elsewhere");
                self.line.retire(Retiring::Asked, now);
            }
            Message::Welcome(_) | Message::Refused(_) => {
                self.lose_link("welcomed us twice", now);
            }
        }
    }

    fn welcomed(&mut self, welcome: &Welcome, sent: Instant, now: Instant) {
        let Some(link) = &mut self.line.link else { return };
        link.stage = Stage::Live(now);
        STREAMS.with(&["welcomed"]).inc();
        CONNECTED.with(&[]).set(1.0);
        tracing::info!(session.id = %self.session.id, epoch = welcome.epoch, address = link.address, "Welcomed by {}", link.address);
        self.health.set_ready(true);
        self.health.set_check("stream", Ok(()));
        let length = Duration::from_millis(welcome.term_ms.into()).max(MIN_TERM);
        let mut term = Term::new(length, sent);
        if let Some(earlier) = self.session.term {
            term.confirm_as(&earlier);
        }
        self.work.lease_lasts(term.ends());
        self.session.term = Some(term);
        self.session.kill_grace = Duration::from_millis(welcome.kill_grace_ms.into());
        let policy = welcome.pool_policy.unwrap_or_default();
        self.session.policy = PoolPolicy {
            command_network: policy.command_network,
            private_targets: policy.private_targets,
        };
        self.heart.restart(now);
        self.outbox.restart();
        self.flight.restart();
        // Those accepted over the last stream may not have been heard of.
        self.accepted = self.work.leases().collect();
        self.kill_unlisted(&welcome.leases, now);
    }

    fn refused(&mut self, refused: &Refused, now: Instant) {
        let detail = &refused.detail;
        match refused.reason() {
            Reason::SessionOver => {
                STREAMS.with(&["session_over"]).inc();
                self.fence("session_over", now);
            }
            Reason::NameTaken => {
                STREAMS.with(&["name_taken"]).inc();
                self.lose_link(&format!("refused: {detail}"), now);
                // Until a term runs out, of which the resource manager knows.
                self.line.wait_at_most(NAME_TAKEN_RETRY);
            }
            Reason::Unavailable => self.lose_link(&format!("refused: {detail}"), now),
            // No use in trying again soon, but a person may mend the other side.
            Reason::Protocol | Reason::Invalid | Reason::Unspecified => {
                tracing::error!(
                    detail,
                    "The resource manager refuses this executor for good: {detail}"
                );
                self.lose_link(&format!("refused: {detail}"), now);
            }
        }
    }

    /// The link is of no use any more.
    pub(super) fn lose_link(&mut self, why: &str, now: Instant) {
        let address = self.line.link.as_ref().map_or("", |link| &link.address);
        STREAMS.with(&["lost"]).inc();
        CONNECTED.with(&[]).set(0.0);
        tracing::warn!(address, "The stream to {address} is lost: {why}");
        self.health.set_check("stream", Err(why.to_owned()));
        self.line.hang_up(now);
    }

    /// Gives up a link that does not answer, and looks for another beside one that is late.
    pub(super) fn mind_the_link(&mut self, now: Instant) {
        if self.next_link_step().is_none_or(|at| now < at) {
            return;
        }
        match self.line.link.as_ref().map(|link| link.stage) {
            Some(Stage::Greeting(_)) => self.lose_link("no welcome in time", now),
            Some(Stage::Live(_)) => {
                tracing::info!("A heartbeat is unanswered; looking for another stream");
                self.line.retire(Retiring::Doubt, now);
            }
            None => {}
        }
    }
}
