//! Receives wake-ups on a small queue of this process's own, and past the broker those of who was told that this process acts on them.
//!
//! Started by `Bus::wakeups`. The rule: a wake-up may be lost, but after a gap everybody is woken
//! once, so that what was missed while there was no connection is looked for at once.

use super::direct::{CallerAt, WakeListener};
use super::fault::{Fault, within};
use super::link::Link;
use super::session::Session;
use super::topology::{self, number, table};
use crate::topic::Topic;
use crate::wakeups::Raised;
use domain::id::NodeId;
use futures::StreamExt;
use lapin::options::{BasicConsumeOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Consumer};
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tracing::warn;

/// Wake-ups are taken faster than they come; this only bounds a process that hangs.
const MAX_LENGTH: u32 = 16;
/// How often a receiver looks whether anybody still wants its wake-ups.
const LOOK_EVERY: Duration = Duration::from_secs(5);
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The topic on which this process may be the one that acts.
pub(crate) struct Acting {
    pub(crate) topic: Topic,
    /// It is, now.
    pub(crate) acts: Box<dyn Fn() -> bool + Send + Sync>,
}

pub(crate) struct WakeReceiver {
    pub(crate) link: Link,
    pub(crate) topics: Vec<Topic>,
    /// What this process sends, which was told to its listeners at once.
    pub(crate) own: ShortString,
    pub(crate) raised: Weak<Raised>,
    pub(crate) acting: Option<Acting>,
}

impl WakeReceiver {
    /// Receives until nobody listens or the process ends.
    pub(crate) async fn run(&self, shutdown: Shutdown) {
        tokio::select! {
            () = self.receive_for_ever() => {}
            () = shutdown.cancelled() => {}
        }
    }

    async fn receive_for_ever(&self) {
        let mut backoff = Backoff::new(RETRY.0, RETRY.1);
        while self.raised.strong_count() > 0 {
            let Ok(session) = clock::timeout(LOOK_EVERY, self.link.connected()).await else {
                continue;
            };
            match self.receive(&session).await {
                Ok(()) => backoff.reset(),
                Err(fault) => {
                    let cause = ErrorChain(&fault).to_string();
                    warn!(cause, "Wake-ups cannot be received, trying on: {cause}");
                    session.give_up_if_silent(&fault);
                }
            }
            clock::sleep(backoff.pause()).await;
        }
    }

    /// Ends without an error when the session or the queue ends, or nobody listens.
    async fn receive(&self, session: &Session) -> Result<(), Fault> {
        let mut consumer = self.subscribe(session).await?;
        let mut listener = self.listener(session);
        for topic in &self.topics {
            self.raise(*topic);
        }
        loop {
            tokio::select! {
                delivery = consumer.next() => match delivery {
                    Some(Ok(delivery)) => {
                        let own = delivery.properties.app_id().as_ref() == Some(&self.own);
                        if !own && let Some(topic) = Topic::from_name(delivery.routing_key.as_str()) {
                            self.delivered(topic, &delivery.properties, &mut listener);
                        }
                    }
                    Some(Err(error)) if session.is_connected() => return Err(error.into()),
                    Some(Err(_)) | None => return Ok(()),
                },
                (from, is_news) = called(&mut listener) => {
                    if is_news && let Some(acting) = &self.acting {
                        self.raise(acting.topic);
                    }
                    self.answer(from, &mut listener);
                }
                () = clock::sleep(LOOK_EVERY) => if self.raised.strong_count() == 0 { return Ok(()) },
                () = session.ended() => return Ok(()),
            }
        }
    }

    fn listener(&self, session: &Session) -> Option<WakeListener> {
        WakeListener::open(session.wake_ip()?, self.acting.as_ref()?.topic)
    }

    fn delivered(
        &self,
        topic: Topic,
        properties: &BasicProperties,
        listener: &mut Option<WakeListener>,
    ) {
        let acting = self.acting.as_ref().is_some_and(|acting| acting.topic == topic);
        let Some(hears) = listener.as_mut().filter(|_| acting) else { return self.raise(topic) };
        let (from, is_news) = hears.introduced(properties);
        // First: whoever waits for it waits for no answer.
        if is_news {
            self.raise(topic);
        }
        if let Some(from) = from {
            self.answer(from, listener);
        }
    }

    /// Tells who called that this process acts, if it does.
    fn answer(&self, from: CallerAt, listener: &mut Option<WakeListener>) {
        let listens = self.raised.strong_count() > 0;
        let acts = listens && self.acting.as_ref().is_some_and(|acting| (acting.acts)());
        if let Some(listener) = listener.as_mut().filter(|_| acts) {
            listener.answer(from, clock::monotonic());
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
        // A name of its own each time: the one before is locked until the broker has noticed that its connection is gone. And
        // under the prefix, because the names that a broker makes up need rights of their own.
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

/// Never, where nobody can call.
async fn called(listener: &mut Option<WakeListener>) -> (CallerAt, bool) {
    match listener {
        Some(listener) => listener.called().await,
        None => std::future::pending().await,
    }
}
