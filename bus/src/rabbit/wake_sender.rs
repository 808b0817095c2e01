//! Sends wake-ups: on the thread that raises one where that takes no waiting, and else from a background task. No request waits for them.
//!
//! Past the broker where somebody is known to listen ([`super::direct`]), and else through it. Fed by `Bus::wake`. The rule: at most
//! one message a topic is on its way, and at most one every 2 ms, or 5 ms while there is plenty to do: what is raised meanwhile is the same wake-up. The first one goes at once. Without a
//! connection wake-ups are dropped; everybody who can be woken also polls.

use super::direct::{Told, WakeCaller};
use super::fault::{Fault, within};
use super::link::Link;
use super::session::Session;
use super::topology;
use crate::metrics;
use crate::topic::Topic;
use domain::id::NodeId;
use lapin::options::BasicPublishOptions;
use lapin::types::ShortString;
use lapin::{BasicProperties, Channel};
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
use runtime::fine_timer::FineTimer;
use runtime::shutdown::Shutdown;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tracing::debug;

/// The pause after each round.
const GAP: Duration = Duration::from_millis(2);
/// The pause where work is plenty: then whoever is woken takes it in large groups.
const BUSY_GAP: Duration = Duration::from_millis(5);
/// So many tasks since the wake-ups before are plenty: some thousands a second.
const PLENTY: usize = 10;
const TRANSIENT: u8 = 1;

/// The pause after wake-ups that were raised for so many tasks.
const fn gap(tasks: usize) -> Duration {
    if tasks < PLENTY { GAP } else { BUSY_GAP }
}

#[derive(Clone)]
pub(crate) struct WakeSender(Arc<Shared>);

struct Shared {
    /// Tells its messages from those of others.
    origin: ShortString,
    /// A bit a topic.
    wanted: AtomicU8,
    /// Tasks that they were raised for.
    tasks: AtomicUsize,
    raised: Notify,
    line: Mutex<Line>,
}

/// The way to the broker, and past it.
#[derive(Default)]
struct Line {
    direct: Option<Arc<WakeCaller>>,
    /// `None` too while the background task sends on it.
    open: Option<(Arc<Session>, Channel)>,
    /// Handed over, and not written yet when last looked at.
    unwritten: Option<(Topic, Sending)>,
    rests_until: Option<Instant>,
}

type Sending = Pin<Box<dyn Future<Output = lapin::Result<()>> + Send>>;

impl WakeSender {
    pub(crate) fn new() -> Self {
        let origin = NodeId::fresh().to_string().into();
        let (wanted, tasks, raised, line) = Default::default();
        Self(Arc::new(Shared { origin, wanted, tasks, raised, line }))
    }

    /// Stands in each of its messages.
    pub(crate) fn origin(&self) -> ShortString {
        self.0.origin.clone()
    }

    /// Notes that `topic` is to be woken, for so many tasks. Never waits.
    pub(crate) fn wake(&self, topic: Topic, tasks: usize) {
        self.0.tasks.fetch_add(tasks, Ordering::AcqRel);
        let before = self.0.wanted.fetch_or(topic.bit(), Ordering::AcqRel);
        // A thread that is woken to send it may find its processor busy for longer than all of this takes.
        if before & topic.bit() == 0 && !self.send_here(topic) {
            self.0.raised.notify_one();
        }
    }

    /// Sends what is noted for `topic`; false where that would be to wait.
    fn send_here(&self, topic: Topic) -> bool {
        let Ok(mut line) = self.0.line.try_lock() else { return false };
        let now = clock::monotonic();
        let Some((session, channel)) = line.free(now) else { return false };
        // First: whoever notes it again from here on finds it sent, and sends another.
        self.0.wanted.fetch_and(!topic.bit(), Ordering::AcqRel);
        let tasks = self.0.tasks.swap(0, Ordering::AcqRel);
        line.rests_until = Some(now + gap(tasks));
        let Some(properties) = self.call(line.direct.as_deref(), topic, now) else { return true };
        line.unwritten = Some((topic, sending(&session, channel, topic, properties)));
        if line.failed().is_none() {
            metrics::wake_sent(topic).inc();
            return true;
        }
        self.0.wanted.fetch_or(topic.bit(), Ordering::AcqRel);
        false
    }

    /// Sends what is noted and was not sent where it was raised; ends with the process.
    pub(crate) async fn run(self, link: Link, shutdown: Shutdown) {
        // A coarser one makes of five milliseconds six or seven.
        let timer = FineTimer::new();
        loop {
            let direct = self.line().direct.clone();
            tokio::select! {
                () = self.0.raised.notified() => {}
                () = answers(direct.as_deref()) => {}
                () = shutdown.cancelled() => return,
            }
            let rests_until = self.line().rests_until;
            if let Some(until) = rests_until {
                timer.until(until).await;
            }
            let wanted = self.0.wanted.swap(0, Ordering::AcqRel);
            let tasks = self.0.tasks.swap(0, Ordering::AcqRel);
            for topic in Topic::ALL.into_iter().filter(|topic| wanted & topic.bit() != 0) {
                if let Err(fault) = self.send(&link, topic).await {
                    metrics::wake_lost(topic).inc();
                    let cause = ErrorChain(&fault).to_string();
                    debug!(topic = topic.as_str(), cause, "A wake-up was lost: {cause}");
                }
            }
            self.line().rests_until = Some(clock::monotonic() + gap(tasks));
        }
    }

    /// After a fault the next one opens a channel of its own.
    async fn send(&self, link: &Link, topic: Topic) -> Result<(), Fault> {
        let (mut open, unwritten) = {
            let mut line = self.line();
            (line.open.take(), line.unwritten.take())
        };
        // A blocked broker would take it from us only to keep it: better to lose it.
        let session =
            link.session().filter(|session| !session.is_blocked()).ok_or(Fault::NoSession)?;
        if let Some((earlier, unwritten)) = unwritten
            && within(session.limit(), unwritten).await.is_err()
        {
            metrics::wake_lost(earlier).inc();
            open = None;
        }
        let channel = match open {
            Some((of, open)) if Arc::ptr_eq(&of, &session) && open.status().connected() => open,
            _ => {
                let open = open_way(&session).await;
                let open = open.inspect_err(|fault| session.give_up_if_silent(fault))?;
                self.line().direct = session.wake_ip().and_then(WakeCaller::open).map(Arc::new);
                open
            }
        };
        let direct = self.line().direct.clone();
        if let Some(properties) = self.call(direct.as_deref(), topic, clock::monotonic()) {
            let sending = sending(&session, channel.clone(), topic, properties);
            within(session.limit(), sending).await?;
            metrics::wake_sent(topic).inc();
        }
        self.line().open = Some((session, channel));
        Ok(())
    }

    /// Calls whoever is known to act on `topic`; what is to go through the broker besides, if anything.
    fn call(
        &self,
        direct: Option<&WakeCaller>,
        topic: Topic,
        now: Instant,
    ) -> Option<BasicProperties> {
        let properties =
            || BasicProperties::default().with_delivery_mode(TRANSIENT).with_app_id(self.origin());
        let Some(direct) = direct else { return Some(properties()) };
        match direct.call(topic, now) {
            Told::Directly => {
                metrics::wake_sent(topic).inc();
                metrics::wake_direct(topic).inc();
                None
            }
            Told::Perhaps(number) => Some(direct.introduce(number, properties())),
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.0.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn sending(
    session: &Session,
    channel: Channel,
    topic: Topic,
    properties: BasicProperties,
) -> Sending {
    let exchange = topology::wake_exchange(&session.settings.prefix);
    Box::pin(async move {
        let (options, key) = (BasicPublishOptions::default(), topic.as_str().into());
        channel.basic_publish(exchange.into(), key, options, &[], properties).await?;
        Ok(())
    })
}

/// A channel, and the exchange that wake-ups go to.
async fn open_way(session: &Session) -> Result<Channel, Fault> {
    let channel = session.channel().await?;
    topology::declare_wake(session, &channel).await?;
    Ok(channel)
}

/// Hears answers, for ever; nothing, where nobody can be called.
async fn answers(direct: Option<&WakeCaller>) {
    match direct {
        Some(direct) => direct.hear().await,
        None => std::future::pending().await,
    }
}

impl Line {
    /// What a wake-up may be sent on now.
    fn free(&mut self, now: Instant) -> Option<(Arc<Session>, Channel)> {
        if self.rests_until.is_some_and(|until| now < until) {
            return None;
        }
        if let Some(earlier) = self.failed() {
            metrics::wake_lost(earlier).inc();
            return None;
        }
        let (session, channel) = self.open.as_ref().filter(|_| self.unwritten.is_none())?;
        let takes = session.is_connected() && !session.is_blocked() && channel.status().connected();
        takes.then(|| (Arc::clone(session), channel.clone()))
    }

    /// Looks whether what was handed over is written. Where that failed: whose wake-up it was, and the way is closed.
    fn failed(&mut self) -> Option<Topic> {
        let (topic, sending) = self.unwritten.as_mut()?;
        let topic = *topic;
        // Nobody waits for it: it is looked at again when the next one is to go.
        let polled = sending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(ended) = polled else { return None };
        self.unwritten = None;
        ended.err().map(|_| {
            self.open = None;
            topic
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_task_after_the_other_never_makes_wake_ups_rarer() {
        let wakes = WakeSender::new();
        wakes.wake(Topic::Batcher, PLENTY);
        assert_eq!(gap(wakes.0.tasks.swap(0, Ordering::AcqRel)), BUSY_GAP);
        // While that pause lasts one more comes, as at 200 a second: it is not the same as plenty.
        wakes.wake(Topic::Batcher, 1);
        assert_eq!(gap(wakes.0.tasks.swap(0, Ordering::AcqRel)), GAP);
    }
}
