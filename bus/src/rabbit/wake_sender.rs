//! Sends wake-ups from a background task that no request waits for.
//!
//! Fed by `Bus::wake`. The rule: at most one message a topic is on its way, and at most one every
//! 2 ms, or 5 ms while there is plenty to do: what is raised meanwhile is the same wake-up. The first one goes at once. Without a
//! connection wake-ups are dropped; everybody who can be woken also polls.

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
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::fine_timer::FineTimer;
use runtime::shutdown::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
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
}

impl WakeSender {
    pub(crate) fn new() -> Self {
        let origin = NodeId::fresh().to_string().into();
        let (wanted, tasks, raised) = Default::default();
        Self(Arc::new(Shared { origin, wanted, tasks, raised }))
    }

    /// Stands in each of its messages.
    pub(crate) fn origin(&self) -> ShortString {
        self.0.origin.clone()
    }

    /// Notes that `topic` is to be woken, for so many tasks. Never waits.
    pub(crate) fn wake(&self, topic: Topic, tasks: usize) {
        self.0.tasks.fetch_add(tasks, Ordering::AcqRel);
        let before = self.0.wanted.fetch_or(topic.bit(), Ordering::AcqRel);
        if before & topic.bit() == 0 {
            self.0.raised.notify_one();
        }
    }

    /// Sends what is noted; ends with the process.
    pub(crate) async fn run(self, link: Link, shutdown: Shutdown) {
        let mut channel: Option<(Arc<Session>, Channel)> = None;
        // A coarser one makes of five milliseconds six or seven.
        let timer = FineTimer::new();
        loop {
            tokio::select! {
                () = self.0.raised.notified() => {}
                () = shutdown.cancelled() => return,
            }
            let wanted = self.0.wanted.swap(0, Ordering::AcqRel);
            let tasks = self.0.tasks.swap(0, Ordering::AcqRel);
            for topic in Topic::ALL.into_iter().filter(|topic| wanted & topic.bit() != 0) {
                match self.send(&link, &mut channel, topic).await {
                    Ok(()) => metrics::wake_sent(topic).inc(),
                    Err(fault) => {
                        metrics::wake_lost(topic).inc();
                        let cause = ErrorChain(&fault).to_string();
                        debug!(topic = topic.as_str(), cause, "A wake-up was lost: {cause}");
                        channel = None;
                    }
                }
            }
            timer.until(clock::monotonic() + gap(tasks)).await;
        }
    }

    async fn send(
        &self,
        link: &Link,
        channel: &mut Option<(Arc<Session>, Channel)>,
        topic: Topic,
    ) -> Result<(), Fault> {
        // A blocked broker would take it from us only to keep it: better to lose it.
        let session =
            link.session().filter(|session| !session.is_blocked()).ok_or(Fault::NoSession)?;
        let open = match channel.take() {
            Some((of, open)) if Arc::ptr_eq(&of, &session) && open.status().connected() => open,
            _ => {
                let open = session.channel().await?;
                topology::declare_wake(&session, &open).await?;
                open
            }
        };
        let exchange = topology::wake_exchange(&session.settings.prefix);
        let properties =
            BasicProperties::default().with_delivery_mode(TRANSIENT).with_app_id(self.origin());
        let options = BasicPublishOptions::default();
        let work =
            open.basic_publish(exchange.into(), topic.as_str().into(), options, &[], properties);
        within(session.limit(), work).await?;
        *channel = Some((session, open));
        Ok(())
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
