//! A process's connections to RabbitMQ and the background tasks on them.
//!
//! Created by `Bus::connect`. The rule: creation does not wait; everything works as soon as the broker
//! is reachable. The consuming link is created on first use, because many processes only publish.

use super::consumer::HintReceiver;
use super::dead_letters;
use super::fault::Fault;
use super::healer::Healer;
use super::link::Link;
use super::publisher::Publisher;
use super::queue_check;
use super::settings::Settings;
use super::wake_receiver::WakeReceiver;
use super::wake_sender::WakeSender;
use crate::hint::HintBatch;
use crate::inbox::Inbox;
use crate::outcome::{ConnectionState, PublishOutcome};
use crate::queues::QueueFault;
use crate::topic::Topic;
use crate::wakeups::{Listeners, Raised};
use domain::id::PoolName;
use runtime::clock;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

pub(crate) struct Broker {
    settings: Settings,
    tasks: TaskGroup,
    shutdown: Shutdown,
    link: Link,
    publisher: Publisher,
    wakes: WakeSender,
    listeners: Listeners,
    consuming: OnceLock<Link>,
}

impl Broker {
    pub(crate) fn start(settings: Settings, tasks: TaskGroup, shutdown: Shutdown) -> Self {
        let link = Link::new("publish", settings.clone());
        let healer = Healer::new(tasks.clone(), shutdown.clone());
        let publisher = Publisher::new(link.clone(), settings.publish_timeout, healer);
        let wakes = WakeSender::new(settings.wake_interval);
        let consuming = OnceLock::new();
        let listeners = Listeners::default();
        let broker =
            Self { settings, tasks, shutdown, link, publisher, wakes, listeners, consuming };
        broker.keep_connected(&broker.link);
        let (publisher, shutdown) = (broker.publisher.clone(), broker.shutdown.clone());
        broker.tasks.supervise("bus-publisher", broker.shutdown.clone(), move || {
            publisher.clone().run(shutdown.clone())
        });
        let (wakes, link, shutdown) =
            (broker.wakes.clone(), broker.link.clone(), broker.shutdown.clone());
        broker.tasks.supervise("bus-wake-sender", broker.shutdown.clone(), move || {
            wakes.clone().run(link.clone(), shutdown.clone())
        });
        broker
    }

    pub(crate) fn state(&self) -> watch::Receiver<ConnectionState> {
        self.link.state()
    }

    pub(crate) async fn publish(
        &self,
        pool: &PoolName,
        batches: &[HintBatch],
    ) -> Vec<PublishOutcome> {
        self.publisher.publish(pool, batches).await
    }

    pub(crate) fn consume(&self, pool: &PoolName, prefetch: u16) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::new());
        let (link, pool) = (self.consuming().clone(), pool.clone());
        let receiver = HintReceiver { link, pool, prefetch, inbox: Arc::clone(&inbox) };
        let receiver = Arc::new(receiver);
        let (end, shutdown) = self.shutdown.child();
        self.tasks.supervise("bus-consumer", shutdown.clone(), move || {
            let (receiver, end, shutdown) = (Arc::clone(&receiver), end.clone(), shutdown.clone());
            async move {
                receiver.run(shutdown).await;
                // It ended regularly: the supervisor must not start it again.
                end.shut_down();
            }
        });
        inbox
    }

    pub(crate) fn wake(&self, topic: Topic) {
        // Listeners in this process are woken without the broker; the message is ignored when it comes back.
        self.wake_here(topic);
        self.wakes.wake(topic);
    }

    pub(crate) fn wake_here(&self, topic: Topic) {
        self.listeners.raise(topic);
    }

    pub(crate) fn listen(&self, topics: Vec<Topic>, raised: &Arc<Raised>) {
        self.listeners.add(topics.clone(), raised);
        let (link, raised) = (self.consuming().clone(), Arc::downgrade(raised));
        let own_id = self.wakes.sender_id();
        let receiver = Arc::new(WakeReceiver { link, topics, own_id, raised });
        let (end, shutdown) = self.shutdown.child();
        self.tasks.supervise("bus-wake-receiver", shutdown.clone(), move || {
            let (receiver, end, shutdown) = (Arc::clone(&receiver), end.clone(), shutdown.clone());
            async move {
                receiver.run(shutdown).await;
                end.shut_down();
            }
        });
    }

    /// Queues of these pools, and the dead-letter queue, that differ from what this release declares.
    pub(crate) async fn queue_faults(&self, pools: &[PoolName]) -> Result<Vec<QueueFault>, Fault> {
        // The state is `Connected` shortly before there is a session.
        let session = clock::timeout(self.settings.publish_timeout, self.link.connected()).await;
        queue_check::check_queues(&*session.map_err(|_| Fault::NoSession)?, pools).await
    }

    pub(crate) fn watch_dead_letters(&self) {
        let (link, shutdown) = (self.consuming().clone(), self.shutdown.clone());
        self.tasks.supervise("bus-dead-letters", self.shutdown.clone(), move || {
            dead_letters::watch(link.clone(), shutdown.clone())
        });
    }

    fn consuming(&self) -> &Link {
        self.consuming.get_or_init(|| {
            let link = Link::new("consume", self.settings.clone());
            self.keep_connected(&link);
            link
        })
    }

    fn keep_connected(&self, link: &Link) {
        let (link, shutdown) = (link.clone(), self.shutdown.clone());
        self.tasks.supervise("bus-connection", self.shutdown.clone(), move || {
            link.clone().run(shutdown.clone())
        });
    }
}
