//! Sends wake-ups from a background task that no request waits for.
//!
//! Fed by `Bus::wake`. The rule: at most one message a topic is on its way, and at most one every
//! 2 ms, or 5 ms while there is always one: what is raised meanwhile is the same wake-up. The first one goes at once. Without a
//! connection wake-ups are dropped; everybody who can be woken also polls.

use super::fault::{Fault, within};
use super::link::Link;
use super::session::Session;
use super::topology;
use crate::metrics;
use crate::topic::Topic;
use lapin::options::BasicPublishOptions;
use lapin::{BasicProperties, Channel};
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tracing::debug;

/// The pause after each round.
const GAP: Duration = Duration::from_millis(2);
/// The pause where the last one ended with more to send: then work is plenty, and whoever is woken takes it in large groups.
const BUSY_GAP: Duration = Duration::from_millis(5);
const TRANSIENT: u8 = 1;

#[derive(Clone, Default)]
pub(crate) struct WakeSender(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// A bit a topic.
    wanted: AtomicU8,
    raised: Notify,
}

impl WakeSender {
    /// Notes that `topic` is to be woken. Never waits.
    pub(crate) fn wake(&self, topic: Topic) {
        let before = self.0.wanted.fetch_or(topic.bit(), Ordering::AcqRel);
        if before & topic.bit() == 0 {
            self.0.raised.notify_one();
        }
    }

    /// Sends what is noted; ends with the process.
    pub(crate) async fn run(self, link: Link, shutdown: Shutdown) {
        let mut channel: Option<(Arc<Session>, Channel)> = None;
        let mut gap = GAP;
        loop {
            tokio::select! {
                () = self.0.raised.notified() => {}
                () = shutdown.cancelled() => return,
            }
            let wanted = self.0.wanted.swap(0, Ordering::AcqRel);
            for topic in Topic::ALL.into_iter().filter(|topic| wanted & topic.bit() != 0) {
                match send(&link, &mut channel, topic).await {
                    Ok(()) => metrics::wake_sent(topic).inc(),
                    Err(fault) => {
                        metrics::wake_lost(topic).inc();
                        let cause = ErrorChain(&fault).to_string();
                        debug!(topic = topic.as_str(), cause, "A wake-up was lost: {cause}");
                        channel = None;
                    }
                }
            }
            clock::sleep(gap).await;
            gap = if self.0.wanted.load(Ordering::Acquire) == 0 { GAP } else { BUSY_GAP };
        }
    }
}

async fn send(
    link: &Link,
    channel: &mut Option<(Arc<Session>, Channel)>,
    topic: Topic,
) -> Result<(), Fault> {
    // A blocked broker would take it from us only to keep it: better to lose it.
    let session = link.session().filter(|session| !session.is_blocked()).ok_or(Fault::NoSession)?;
    let open = match channel.take() {
        Some((of, open)) if Arc::ptr_eq(&of, &session) && open.status().connected() => open,
        _ => {
            let open = session.channel().await?;
            topology::declare_wake(&session, &open).await?;
            open
        }
    };
    let exchange = topology::wake_exchange(&session.settings.prefix);
    let properties = BasicProperties::default().with_delivery_mode(TRANSIENT);
    let options = BasicPublishOptions::default();
    let work = open.basic_publish(exchange.into(), topic.as_str().into(), options, &[], properties);
    within(session.limit(), work).await?;
    *channel = Some((session, open));
    Ok(())
}
