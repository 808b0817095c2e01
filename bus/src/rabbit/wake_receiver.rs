//! Receives wake-ups on a small exclusive queue, one per receiver and connection.
//!
//! Started by `Bus::wakeups`. The rule: a wake-up may be lost, but each new subscription raises every topic once, because
//! wake-ups may have been missed while there was no connection.

use super::fault::{Fault, within};
use super::link::Link;
use super::session::Session;
use super::topology::{self, number, table};
use crate::topic::Topic;
use crate::wakeups::Raised;
use domain::id::NodeId;
use futures::StreamExt;
use lapin::Consumer;
use lapin::options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tracing::warn;

/// Wake-ups are received faster than they are sent; this only bounds the queue of a process that hangs.
const MAX_LENGTH: u32 = 16;
/// How often a receiver checks whether its [`crate::Wakeups`] still exists.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

pub(crate) struct WakeReceiver {
    pub(crate) link: Link,
    pub(crate) topics: Vec<Topic>,
    /// `app_id` of this process's own messages. They are ignored: `Bus::wake` raises them without the broker.
    pub(crate) own_id: ShortString,
    pub(crate) raised: Weak<Raised>,
}

impl WakeReceiver {
    /// Receives until the [`crate::Wakeups`] is dropped or the process ends.
    pub(crate) async fn run(&self, shutdown: Shutdown) {
        tokio::select! {
            () = self.receive_forever() => {}
            () = shutdown.cancelled() => {}
        }
    }

    async fn receive_forever(&self) {
        let mut backoff = Backoff::new(RETRY.0, RETRY.1);
        while self.raised.strong_count() > 0 {
            let Ok(session) = clock::timeout(CHECK_INTERVAL, self.link.connected()).await else {
                continue;
            };
            match self.receive(&session).await {
                Ok(()) => backoff.reset(),
                Err(fault) => {
                    let cause = ErrorChain(&fault).to_string();
                    warn!(cause, "Wake-ups cannot be received, retrying: {cause}");
                    session.give_up_if_silent(&fault);
                }
            }
            clock::sleep(backoff.pause()).await;
        }
    }

    /// Ends without an error when the session or the queue ends, or the [`crate::Wakeups`] is dropped.
    async fn receive(&self, session: &Session) -> Result<(), Fault> {
        let mut consumer = self.subscribe(session).await?;
        for topic in &self.topics {
            self.raise(*topic);
        }
        loop {
            tokio::select! {
                delivery = consumer.next() => match delivery {
                    Some(Ok(delivery)) => {
                        let is_own = delivery.properties.app_id().as_ref() == Some(&self.own_id);
                        if !is_own && let Some(topic) = Topic::from_name(delivery.routing_key.as_str()) {
                            self.raise(topic);
                        }
                    }
                    Some(Err(error)) if session.is_connected() => return Err(error.into()),
                    Some(Err(_)) | None => return Ok(()),
                },
                () = clock::sleep(CHECK_INTERVAL) => if self.raised.strong_count() == 0 { return Ok(()) },
                () = session.ended() => return Ok(()),
            }
        }
    }

    async fn subscribe(&self, session: &Session) -> Result<Consumer, Fault> {
        let (limit, channel) = (session.limit(), session.channel().await?);
        topology::declare_wake(session, &channel).await?;
        let options = QueueDeclareOptions {
            exclusive: true,
            auto_delete: true,
            ..QueueDeclareOptions::default()
        };
        let arguments = table([("x-max-length", number(MAX_LENGTH))]);
        // A new name each time: the broker keeps the previous queue locked until it notices that its connection is gone. The
        // name has the prefix, because names that the broker generates need permissions of their own.
        let prefix = &session.settings.prefix;
        let queue: ShortString = topology::wake_queue(prefix, NodeId::fresh()).into();
        within(limit, channel.queue_declare(queue.clone(), options, arguments)).await?;
        let exchange = topology::wake_exchange(prefix);
        for topic in &self.topics {
            let (exchange, key) = (exchange.as_str().into(), topic.as_str().into());
            let options = QueueBindOptions::default();
            let work =
                channel.queue_bind(queue.clone(), exchange, key, options, FieldTable::default());
            within(limit, work).await?;
        }
        let options =
            BasicConsumeOptions { no_ack: true, exclusive: true, ..BasicConsumeOptions::default() };
        let work = channel.basic_consume(queue, "".into(), options, FieldTable::default());
        within(limit, work).await
    }

    fn raise(&self, topic: Topic) {
        if let Some(raised) = self.raised.upgrade() {
            Arc::as_ref(&raised).raise(topic);
        }
    }
}
