//! Consumes one pool's hint queue, across lost connections and deleted queues.
//!
//! Started by `Bus::consume`, one background task per consumer. The rule: hints whose channel is gone
//! cannot be acked any more and are still delivered to the reader, because the row decides; the
//! broker delivers them again, and that claim is stale.

use super::fault::{Fault, within};
use super::link::Link;
use super::receiving::Receiving;
use super::session::Session;
use super::topology;
use crate::inbox::{Inbox, Wish};
use crate::metrics;
use domain::id::PoolName;
use lapin::options::BasicQosOptions;
use runtime::backoff::{Backoff, jittered};
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tracing::{debug, warn};

/// The longest wait before a consumer that failed on a live connection tries again.
const RETRY_MAX: Duration = Duration::from_secs(1);
const RETRY_FIRST: Duration = Duration::from_millis(100);
/// A consumer that receives nothing for this long subscribes again. When a queue is deleted and
/// declared again within milliseconds, RabbitMQ can lose its consumers without a notification (seen
/// with 3.10.8: the channel lists the consumer, the queue does not). Costs a few round trips each time,
/// on idle pools only.
const RENEW_AFTER: Duration = Duration::from_secs(2);
/// Most settlements that are sent to the broker in one round.
const SETTLE_BATCH: usize = 1024;

/// Why consuming stopped.
enum Ended {
    /// The reader is dropped and everything it held is settled.
    Stopped,
    /// The session ended.
    SessionOver,
    /// The broker cancelled the subscription: the queue was deleted.
    Cancelled,
    /// Nothing arrived for [`RENEW_AFTER`].
    Idle,
}

pub(crate) struct HintReceiver {
    pub(crate) link: Link,
    pub(crate) pool: PoolName,
    /// Most messages that are delivered and not settled.
    pub(crate) prefetch: u16,
    pub(crate) inbox: Arc<Inbox>,
}

impl HintReceiver {
    /// Consumes until the reader is dropped or the process ends.
    pub(crate) async fn run(&self, shutdown: Shutdown) {
        tokio::select! {
            () = self.consume_forever() => {}
            () = shutdown.cancelled() => {}
        }
    }

    async fn consume_forever(&self) {
        let mut wish = self.inbox.watch_wish();
        let mut backoff = Backoff::new(RETRY_FIRST, RETRY_MAX);
        loop {
            let session = tokio::select! {
                session = self.link.connected() => session,
                () = stopped(&mut wish) => return,
            };
            match self.consume(&session, &mut wish, &mut backoff).await {
                Ok(Ended::Stopped) => return,
                Ok(Ended::SessionOver | Ended::Idle) => {}
                Ok(Ended::Cancelled) => {
                    debug!(pool = %self.pool, "The hint queue of pool `{}` was deleted", self.pool);
                }
                Err(fault) => {
                    let (pool, cause) = (&self.pool, ErrorChain(&fault).to_string());
                    warn!(%pool, cause, "Consuming the hints of pool `{pool}` failed, retrying: {cause}");
                    session.give_up_if_silent(&fault);
                    clock::sleep(backoff.pause()).await;
                }
            }
            // In each case the queue may be deleted.
            session.forget_pool(&self.pool).await;
        }
    }

    async fn consume(
        &self,
        session: &Session,
        wish: &mut watch::Receiver<Wish>,
        backoff: &mut Backoff,
    ) -> Result<Ended, Fault> {
        session.ensure_pool(&self.pool).await?;
        let channel = session.channel().await?;
        within(session.limit(), channel.basic_qos(self.prefetch, BasicQosOptions::default()))
            .await?;
        let queue = topology::hint_queue(&session.settings.prefix, &self.pool);
        let (settler, mut settled) = mpsc::unbounded_channel();
        let mut receiving = Receiving::new(channel, queue, session.limit(), settler);
        let mut batch = Vec::new();
        let mut renew_at = clock::monotonic() + jittered(RENEW_AFTER, 0.3);
        loop {
            // The wish first: what is requeued must not be delivered to this consumer again.
            let now = *wish.borrow_and_update();
            match now {
                Wish::Consume => receiving.start().await?,
                Wish::Pause | Wish::Stop => receiving.stop().await?,
            }
            receiving.settle(&mut batch).await?;
            if now == Wish::Stop && receiving.is_settled() {
                return Ok(Ended::Stopped);
            }
            tokio::select! {
                _ = settled.recv_many(&mut batch, SETTLE_BATCH) => {}
                delivery = receiving.next() => match delivery {
                    Some(Ok(delivery)) => {
                        backoff.reset();
                        renew_at = clock::monotonic() + RENEW_AFTER;
                        receiving.accept(&delivery, &self.pool, &self.inbox);
                    }
                    Some(Err(error)) if session.is_connected() => return Err(error.into()),
                    Some(Err(_)) => return Ok(Ended::SessionOver),
                    None if session.is_connected() => {
                        metrics::consumer_cancels(self.pool.as_str()).inc();
                        return Ok(Ended::Cancelled);
                    }
                    None => return Ok(Ended::SessionOver),
                },
                // An error means that the inbox is dropped, and with it the reader.
                changed = wish.changed() => if changed.is_err() { return Ok(Ended::Stopped) },
                () = session.ended() => return Ok(Ended::SessionOver),
                () = clock::sleep_until(renew_at), if now == Wish::Consume && receiving.is_settled() => {
                    receiving.close().await?;
                    return Ok(Ended::Idle);
                }
            }
        }
    }
}

async fn stopped(wish: &mut watch::Receiver<Wish>) {
    // An error means that the reader is dropped.
    let _ = wish.wait_for(|wish| *wish == Wish::Stop).await;
}
