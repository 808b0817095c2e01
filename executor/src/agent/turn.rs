//! The agent's loop.
//!
//! Wait, look at the lease, then act: in this order, so that after a pause of any length (SIGSTOP, a
//! frozen machine) nothing is sent, started or believed before the fence.

use super::event::Event;
use super::state::Agent;
use crate::driver::Ended;
use crate::spool::Written;
use domain::task::LeaseKey;
use protocol::FromExecutor;
use runtime::clock::{self, Instant};
use runtime::fault::FaultPoint;
use runtime::shutdown::Shutdown;
use std::future::pending;
use std::time::Duration;
use tokio::sync::mpsc::{self, OwnedPermit};

/// Most events handled before the clock is looked at again.
const BURST: usize = 64;
/// Longest sleep; nothing depends on it.
const IDLE: Duration = Duration::from_secs(5);
/// The loop's name where it shows that it turns, and how old its last turn may be.
const LOOP: &str = "agent";
const HUNG: Duration = Duration::from_secs(30);
/// How often a failed spool is tried.
const MEND: Duration = Duration::from_secs(1);

/// Where the agent hears of things.
pub(super) struct Inbox {
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) ended: mpsc::Receiver<(LeaseKey, Ended)>,
    pub(super) written: mpsc::UnboundedReceiver<Written>,
    pub(super) shutdown: Shutdown,
}

/// A word of the resource manager has come, such as an assignment or an answer, and is not heeded yet.
static HEARD: FaultPoint = FaultPoint::new("executor.heard");
/// Results are on disk and were not sent.
static SPOOLED: FaultPoint = FaultPoint::new("executor.spooled");

enum Happened {
    Event(Event),
    /// By its driver's word.
    Ended(LeaseKey, Ended),
    Written(Written),
    /// The link with this number has room.
    Room(u64, OwnedPermit<FromExecutor>),
    Shutdown,
    Time,
}

impl Agent {
    /// Runs until it is drained after a shutdown.
    pub(super) async fn run(mut self, mut inbox: Inbox) -> Self {
        self.health.register_tick(LOOP, HUNG);
        loop {
            let now = clock::monotonic();
            self.on_time(now);
            self.health.ticked(LOOP);
            if self.is_drained(now) {
                return self;
            }
            self.dial_if_wanted();
            let happened = self.wait(&mut inbox, now).await;
            // Only kills make sense at both: there is nobody to whom an error could be told.
            match &happened {
                Happened::Event(Event::Stream(_)) => HEARD.hit().await.ok(),
                Happened::Written(_) => SPOOLED.hit().await.ok(),
                _ => None,
            };
            let now = clock::monotonic();
            self.keep_the_lease(now);
            self.heed(happened, &mut inbox, now);
        }
    }

    /// Everything that is due by the clock.
    fn on_time(&mut self, now: Instant) {
        self.keep_the_lease(now);
        self.mind_the_link(now);
        self.wake_sleepers(now);
        self.outbox.release(now);
        self.go_on_draining(now);
    }

    async fn wait(&self, inbox: &mut Inbox, now: Instant) -> Happened {
        let room = async {
            match self.to_say(now) {
                Some((link, sender)) => match sender.reserve_owned().await {
                    Ok(permit) => Happened::Room(link, permit),
                    // Its stream has ended; the event that says so is on the way.
                    Err(_) => pending().await,
                },
                None => pending().await,
            }
        };
        tokio::select! {
            Some(event) = inbox.events.recv() => Happened::Event(event),
            Some((lease, ended)) = inbox.ended.recv() => Happened::Ended(lease, ended),
            Some(written) = inbox.written.recv() => Happened::Written(written),
            happened = room => happened,
            () = inbox.shutdown.cancelled(), if self.drain.is_none() => Happened::Shutdown,
            () = self.work.services.output.filled() => Happened::Time,
            () = clock::sleep_until(self.next_deadline(now)) => Happened::Time,
        }
    }

    fn next_deadline(&self, now: Instant) -> Instant {
        let beat = Some(self.heart.due()).filter(|due| *due > now && self.line.live().is_some());
        let steps = [
            self.session.term.map(|term| term.ends()),
            self.work.sleepers.next_wake(),
            self.outbox.next_release(),
            self.next_drain_step(),
            self.next_link_step(),
            self.disk.failure.as_ref().map(|_| now + MEND),
            beat,
        ];
        steps.into_iter().flatten().fold(now + IDLE, Instant::min)
    }

    fn heed(&mut self, happened: Happened, inbox: &mut Inbox, now: Instant) {
        match happened {
            Happened::Event(event) => {
                self.heed_event(event, now);
                for _ in 0..BURST {
                    let Ok(event) = inbox.events.try_recv() else { break };
                    self.heed_event(event, now);
                }
            }
            Happened::Ended(lease, ended) => {
                self.ended(lease, ended, now);
                for _ in 0..BURST {
                    let Ok((lease, ended)) = inbox.ended.try_recv() else { break };
                    self.ended(lease, ended, now);
                }
            }
            Happened::Written(written) => {
                self.written(written, now);
                for _ in 0..BURST {
                    let Ok(written) = inbox.written.try_recv() else { break };
                    self.written(written, now);
                }
            }
            Happened::Room(link, permit) => {
                if self.line.newest(link).is_some()
                    && let Some(message) = self.say(now)
                {
                    permit.send(message);
                }
            }
            Happened::Shutdown => self.begin_drain(now),
            Happened::Time if self.disk.failure.is_some() => self.disk.spool.mend(),
            Happened::Time => {}
        }
    }

    fn heed_event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Dialled(dialled) => self.dialled(dialled, now),
            Event::NotStarted { lease, reason } => self.not_started(lease, reason),
            Event::Stream(event) => self.heard(event, now),
        }
    }
}
