//! Publishes wake-ups from one background task that no request waits for.
//!
//! Fed by `Bus::wake`. The rule: a wake-up is published at once, unless the last one of this process was published less than
//! `bus.wake_interval` ago; all that are raised until the interval is over are one message per topic. Without a connection, and
//! while the broker is blocked, wake-ups are dropped: every receiver also polls.

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
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tracing::debug;

/// AMQP delivery mode: the broker keeps the message in memory only.
const TRANSIENT: u8 = 1;

#[derive(Clone)]
pub(crate) struct WakeSender(Arc<Shared>);

struct Shared {
    /// Identifies this process in its messages (`app_id`).
    sender_id: ShortString,
    /// Shortest time from one round of messages to the next.
    min_interval: Duration,
    /// One bit per topic.
    pending: AtomicU8,
    raised: Notify,
}

/// An open channel and the session it belongs to.
type OpenChannel = Option<(Arc<Session>, Channel)>;

impl WakeSender {
    pub(crate) fn new(min_interval: Duration) -> Self {
        let sender_id = NodeId::fresh().to_string().into();
        let (pending, raised) = Default::default();
        Self(Arc::new(Shared { sender_id, min_interval, pending, raised }))
    }

    /// The `app_id` of each message, by which this process recognises its own.
    pub(crate) fn sender_id(&self) -> ShortString {
        self.0.sender_id.clone()
    }

    /// Requests a wake-up of `topic`. Never waits.
    pub(crate) fn wake(&self, topic: Topic) {
        let before = self.0.pending.fetch_or(topic.bit(), Ordering::AcqRel);
        if before & topic.bit() == 0 {
            self.0.raised.notify_one();
        }
    }

    /// Publishes what is pending; ends with the process.
    pub(crate) async fn run(self, link: Link, shutdown: Shutdown) {
        let mut channel = None;
        loop {
            tokio::select! {
                () = self.0.raised.notified() => {}
                () = shutdown.cancelled() => return,
            }
            let pending = self.0.pending.swap(0, Ordering::AcqRel);
            for topic in Topic::ALL.into_iter().filter(|topic| pending & topic.bit() != 0) {
                match self.publish(&link, &mut channel, topic).await {
                    Ok(()) => metrics::wake_sent(topic).inc(),
                    Err(fault) => {
                        metrics::wake_lost(topic).inc();
                        let cause = ErrorChain(&fault).to_string();
                        debug!(topic = topic.as_str(), cause, "A wake-up was lost: {cause}");
                    }
                }
            }
            shutdown.sleep(self.0.min_interval).await;
        }
    }

    /// After a fault `channel` is empty, and the next wake-up opens one.
    async fn publish(
        &self,
        link: &Link,
        channel: &mut OpenChannel,
        topic: Topic,
    ) -> Result<(), Fault> {
        let earlier = channel.take();
        // A blocked broker does not read, so the message would arrive long after it was of use.
        let session =
            link.session().filter(|session| !session.is_blocked()).ok_or(Fault::NoSession)?;
        let open = match earlier {
            Some((of, open)) if Arc::ptr_eq(&of, &session) && open.status().connected() => open,
            _ => {
                let open = open_channel(&session).await;
                open.inspect_err(|fault| session.give_up_if_silent(fault))?
            }
        };
        let exchange = topology::wake_exchange(&session.settings.prefix).into();
        let (options, key) = (BasicPublishOptions::default(), topic.as_str().into());
        let properties =
            BasicProperties::default().with_delivery_mode(TRANSIENT).with_app_id(self.sender_id());
        let work = open.basic_publish(exchange, key, options, &[], properties);
        within(session.limit(), work).await?;
        *channel = Some((session, open));
        Ok(())
    }
}

/// Opens a channel and declares the exchange of wake-ups.
async fn open_channel(session: &Session) -> Result<Channel, Fault> {
    let channel = session.channel().await?;
    topology::declare_wake(session, &channel).await?;
    Ok(channel)
}
