//! One consuming channel: receives messages, and acknowledges or requeues them at the broker.
//!
//! Used by the hint consumer, which decides when. The rule: a message that cannot be decoded is acked
//! and counted, and never requeued: it would be redelivered for ever.

use super::ack_window::{AckWindow, Command, Settlement};
use super::fault::{Fault, within};
use crate::delivery::{Delivery, Settle};
use crate::hint::HintBatch;
use crate::inbox::Inbox;
use crate::metrics;
use domain::id::PoolName;
use futures::{FutureExt, StreamExt, future};
use lapin::options::{BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicNackOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer, message};
use runtime::error_chain::ErrorChain;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tracing::warn;

pub(super) struct Receiving {
    channel: Channel,
    queue: String,
    limit: Duration,
    consumer: Option<Consumer>,
    window: AckWindow,
    /// Number of messages that were delivered and are not settled.
    open: usize,
    settler: UnboundedSender<Settled>,
}

impl Receiving {
    pub(super) fn new(
        channel: Channel,
        queue: String,
        limit: Duration,
        settler: UnboundedSender<Settled>,
    ) -> Self {
        let window = AckWindow::default();
        Self { channel, queue, limit, consumer: None, window, open: 0, settler }
    }

    /// Subscribes to the queue, if it does not already.
    pub(super) async fn start(&mut self) -> Result<(), Fault> {
        if self.consumer.is_none() {
            let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
            let queue = self.queue.as_str().into();
            let work = self.channel.basic_consume(queue, "".into(), options, arguments);
            self.consumer = Some(within(self.limit, work).await?);
        }
        Ok(())
    }

    /// Unsubscribes, and requeues the messages that arrived and were not accepted.
    pub(super) async fn stop(&mut self) -> Result<(), Fault> {
        let Some(mut consumer) = self.consumer.take() else { return Ok(()) };
        let work = self.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
        within(self.limit, work).await?;
        while let Some(Some(Ok(delivery))) = consumer.next().now_or_never() {
            self.open += 1;
            self.note(Settled { tag: delivery.delivery_tag, settlement: Settlement::Requeue });
        }
        self.flush().await
    }

    /// Unsubscribes and closes the channel.
    pub(super) async fn close(mut self) -> Result<(), Fault> {
        self.stop().await?;
        within(self.limit, self.channel.close(200, "OK".into())).await
    }

    /// The next message; waits for ever while unsubscribed. `None` when the broker cancelled the subscription.
    pub(super) async fn next(&mut self) -> Option<lapin::Result<message::Delivery>> {
        match &mut self.consumer {
            Some(consumer) => consumer.next().await,
            None => future::pending().await,
        }
    }

    /// Puts a message into the inbox, which requeues it while the reader is paused.
    pub(super) fn accept(&mut self, delivery: &message::Delivery, pool: &PoolName, inbox: &Inbox) {
        self.open += 1;
        let tag = delivery.delivery_tag;
        match HintBatch::decode(&delivery.data) {
            Ok(batch) => {
                metrics::delivered(pool.as_str(), batch.hints.len(), delivery.redelivered);
                let settle = Box::new(ByTag { tag, settler: self.settler.clone() });
                inbox.offer(Delivery::new(batch, delivery.redelivered, settle));
            }
            Err(error) => {
                let cause = ErrorChain(&error).to_string();
                warn!(%pool, cause, "A message on the hint queue of pool `{pool}` is dropped: {cause}");
                metrics::undecodable(pool.as_str()).inc();
                // Through the channel like all others, so that they share an acknowledgement. The receiver lives as long as this.
                let _ = self.settler.send(Settled { tag, settlement: Settlement::Ack });
            }
        }
    }

    /// Acknowledges or requeues these messages at the broker; empties `batch`.
    pub(super) async fn settle(&mut self, batch: &mut Vec<Settled>) -> Result<(), Fault> {
        for settled in batch.drain(..) {
            self.note(settled);
        }
        self.flush().await
    }

    /// True when every message that arrived is settled.
    pub(super) fn is_settled(&self) -> bool {
        self.open == 0
    }

    fn note(&mut self, settled: Settled) {
        self.open = self.open.saturating_sub(1);
        self.window.settle(settled.tag, settled.settlement);
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        let channel = &self.channel;
        let sent = self.window.take_commands().into_iter().map(async |command| match command {
            Command::Ack(tag) => channel.basic_ack(tag, BasicAckOptions { multiple: false }).await,
            Command::AckUpTo(tag) => {
                channel.basic_ack(tag, BasicAckOptions { multiple: true }).await
            }
            Command::Requeue(tag) => {
                let options = BasicNackOptions { multiple: false, requeue: true };
                channel.basic_nack(tag, options).await
            }
        });
        // The frames are queued in this order at once; then all are awaited until they are written to the socket.
        within(self.limit, future::try_join_all(sent)).await.map(|_| ())
    }
}

/// How the reader settled one message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    /// The AMQP delivery tag.
    tag: u64,
    settlement: Settlement,
}

/// Settles a delivery of one channel by its tag.
struct ByTag {
    tag: u64,
    settler: UnboundedSender<Settled>,
}

impl ByTag {
    fn send(&self, settlement: Settlement) {
        if self.settler.send(Settled { tag: self.tag, settlement }).is_err() {
            metrics::late_acks().inc();
        }
    }
}

impl Settle for ByTag {
    fn ack(self: Box<Self>) {
        self.send(Settlement::Ack);
    }

    fn requeue(self: Box<Self>) {
        self.send(Settlement::Requeue);
    }
}
