//! The public API of the bus, over either carrier.
//!
//! Held by every role; cheap to clone. The rule: nothing here fails in a way that stops a role. A
//! publish returns its outcome, a consumer waits until there is a message, a wake-up may be lost.

use crate::consumer::{HintConsumer, Source};
use crate::error::ConnectError;
use crate::hint::HintBatch;
use crate::in_process::InProcess;
use crate::outcome::{ConnectionState, PublishOutcome};
use crate::queues::QueueReport;
use crate::rabbit::{Broker, Settings};
use crate::topic::Topic;
use crate::wakeups::{Raised, Wakeups};
use domain::id::PoolName;
use runtime::clock;
use runtime::config::{BusConfig, BusKind};
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use runtime::tasks::TaskGroup;
use std::sync::{Arc, Once};
use std::time::Duration;
use tokio::sync::watch;

/// Hints for resource managers, and wake-ups for all roles.
#[derive(Clone)]
pub struct Bus {
    inner: Arc<Inner>,
}

struct Inner {
    carrier: Carrier,
    tasks: TaskGroup,
    shutdown: Shutdown,
    dead_letters: Once,
    /// State of the in-process bus, which is always connected.
    in_process_state: watch::Sender<ConnectionState>,
}

enum Carrier {
    Rabbit(Box<Broker>),
    InProcess(InProcess),
}

impl Bus {
    /// The bus of `config`. Returns at once and connects in the background. Must be called within a tokio runtime.
    ///
    /// `shutdown` must come after the role has drained: deliveries that are settled later are
    /// requeued.
    ///
    /// # Errors
    /// When `bus.url` is no AMQP URL, or a certificate file cannot be used.
    pub fn connect(
        config: &BusConfig,
        tasks: &TaskGroup,
        shutdown: &Shutdown,
    ) -> Result<Self, ConnectError> {
        let carrier = match config.kind {
            BusKind::RabbitMq => {
                let settings = Settings::from_config(config)?;
                Carrier::Rabbit(Box::new(Broker::start(settings, tasks.clone(), shutdown.clone())))
            }
            BusKind::InProcess => {
                Carrier::InProcess(InProcess::new(config.hint_ttl, config.hint_max_length))
            }
        };
        Ok(Self {
            inner: Arc::new(Inner {
                carrier,
                tasks: tasks.clone(),
                shutdown: shutdown.clone(),
                dead_letters: Once::new(),
                in_process_state: watch::Sender::new(ConnectionState::Connected),
            }),
        })
    }

    /// Publishes batches of hints to a pool's queue, one message per batch; returns one outcome per batch, in their order.
    ///
    /// Takes at most `bus.publish_timeout`, and returns at once while there is no connection or the
    /// broker is blocked. May be called from many tasks at once. If the future is dropped before it is
    /// ready, any number of the batches may have been published.
    pub async fn publish(&self, pool: &PoolName, batches: Vec<HintBatch>) -> Vec<PublishOutcome> {
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => broker.publish(pool, &batches).await,
            Carrier::InProcess(bus) => bus.publish(pool, batches),
        }
    }

    /// Consumes a pool's hints, with at most `prefetch` messages delivered and not settled (0 counts as 1).
    #[must_use]
    pub fn consume(&self, pool: &PoolName, prefetch: u16) -> HintConsumer {
        let prefetch = prefetch.max(1);
        let source = match &self.inner.carrier {
            Carrier::Rabbit(broker) => Source::Rabbit(broker.consume(pool, prefetch)),
            Carrier::InProcess(bus) => Source::InProcess(bus.consume(pool, prefetch)),
        };
        HintConsumer::new(source, self.inner.shutdown.clone())
    }

    /// Wakes every listener of `topic` in all processes. Never waits and never fails; may be lost. Call it after the commit
    /// that made the work visible.
    ///
    /// Listeners in this process are woken at once. Over RabbitMQ the message to the others is published at once, unless the
    /// last one was less than `bus.wake_interval` ago; wake-ups of one topic until then are one message.
    pub fn wake(&self, topic: Topic) {
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => broker.wake(topic),
            Carrier::InProcess(bus) => bus.wake(topic),
        }
    }

    /// Wakes the listeners of `topic` in this process only: for work that no other process can do.
    pub fn wake_here(&self, topic: Topic) {
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => broker.wake_here(topic),
            Carrier::InProcess(bus) => bus.wake(topic),
        }
    }

    /// Whether a wake-up may be lost, so that a listener must poll as well: true over RabbitMQ, false in process.
    #[must_use]
    pub fn may_lose_wakeups(&self) -> bool {
        matches!(self.inner.carrier, Carrier::Rabbit(_))
    }

    /// Listens to wake-ups of `topics`. Over RabbitMQ each of them also fires once per subscription, that is when the
    /// connection is made and each time it is made again.
    #[must_use]
    pub fn wakeups(&self, topics: &[Topic]) -> Wakeups {
        let (topics, raised) = (topics.to_vec(), Arc::new(Raised::default()));
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => broker.listen(topics.clone(), &raised),
            Carrier::InProcess(bus) => bus.listen(topics.clone(), &raised),
        }
        Wakeups { raised, topics }
    }

    /// Counts dead hints in `berth_hints_dead_total{reason,pool}` from now on. Several processes may call it; each dead
    /// message is counted in one of them. A second call does nothing.
    pub fn watch_dead_letters(&self) {
        let inner = &self.inner;
        inner.dead_letters.call_once(|| match &inner.carrier {
            Carrier::Rabbit(broker) => broker.watch_dead_letters(),
            Carrier::InProcess(bus) => {
                let (bus, shutdown) = (bus.clone(), inner.shutdown.clone());
                inner.tasks.supervise("bus-dead-letters", inner.shutdown.clone(), move || {
                    bus.clone().sweep(shutdown.clone())
                });
            }
        });
    }

    /// Checks that the queues of these pools exist with the arguments that this release declares; changes nothing. Takes a few
    /// round trips per pool.
    pub async fn queues(&self, pools: &[PoolName]) -> QueueReport {
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => match broker.queue_faults(pools).await {
                Ok(faults) => QueueReport::Checked(faults),
                Err(fault) => QueueReport::Unreachable(ErrorChain(&fault).to_string()),
            },
            Carrier::InProcess(_) => QueueReport::NoBroker,
        }
    }

    /// The state of the publishing connection, and every change of it.
    #[must_use]
    pub fn connection(&self) -> watch::Receiver<ConnectionState> {
        match &self.inner.carrier {
            Carrier::Rabbit(broker) => broker.state(),
            Carrier::InProcess(_) => self.inner.in_process_state.subscribe(),
        }
    }

    /// Waits until messages can be published; false when that took longer than `limit`.
    pub async fn wait_connected(&self, limit: Duration) -> bool {
        let mut state = self.connection();
        let connected = state.wait_for(|state| *state == ConnectionState::Connected);
        matches!(clock::timeout(limit, connected).await, Ok(Ok(_)))
    }
}
