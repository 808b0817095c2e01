//! One consuming channel: takes messages in, and tells the broker what became of them.
//!
//! Used by the hint consumer, which decides when. The rule: a message that cannot be read is acked
//! and counted, never handed on and never returned: it would come back for ever.

use super::ack_patience::{Patience, Settled};
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
use runtime::clock;
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
    patience: Patience,
    /// Tags that arrived and are not settled yet.
    open: usize,
    settler: UnboundedSender<Settled>,
}

impl Receiving {
    pub(super) fn new(
        channel: Channel,
        queue: String,
        limit: Duration,
        prefetch: u16,
        settler: UnboundedSender<Settled>,
    ) -> Self {
        let (window, patience) = (AckWindow::default(), Patience::with_prefetch(prefetch));
        Self { channel, queue, limit, consumer: None, window, patience, open: 0, settler }
    }

    /// Lets messages come, if they do not already.
    pub(super) async fn start(&mut self) -> Result<(), Fault> {
        if self.consumer.is_none() {
            let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
            let queue = self.queue.as_str().into();
            let work = self.channel.basic_consume(queue, "".into(), options, arguments);
            self.consumer = Some(within(self.limit, work).await?);
        }
        Ok(())
    }

    /// Lets no more messages come, and sends back those that came and were not handed on.
    pub(super) async fn stop(&mut self) -> Result<(), Fault> {
        let Some(mut consumer) = self.consumer.take() else { return Ok(()) };
        let work = self.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default());
        within(self.limit, work).await?;
        while let Some(Some(Ok(delivery))) = consumer.next().now_or_never() {
            self.open += 1;
            let (tag, settlement) = (delivery.delivery_tag, Settlement::Requeue);
            self.note(&Settled { tag, settlement, hints: 0 });
        }
        self.flush().await
    }

    /// Stops and closes the channel.
    pub(super) async fn close(mut self) -> Result<(), Fault> {
        self.stop().await?;
        within(self.limit, self.channel.close(200, "OK".into())).await
    }

    /// The next message; waits for ever while stopped. `None` when the broker cancelled us.
    pub(super) async fn next(&mut self) -> Option<lapin::Result<message::Delivery>> {
        match &mut self.consumer {
            Some(consumer) => consumer.next().await,
            None => future::pending().await,
        }
    }

    /// Hands a message on; true where it was wanted.
    pub(super) fn accept(
        &mut self,
        delivery: &message::Delivery,
        pool: &PoolName,
        inbox: &Inbox,
    ) -> bool {
        self.open += 1;
        let tag = delivery.delivery_tag;
        match HintBatch::decode(&delivery.data) {
            Ok(batch) => {
                let (hints, settler) = (batch.hints.len(), self.settler.clone());
                metrics::delivered(pool.as_str(), hints, delivery.redelivered);
                let settle = Box::new(ByTag { tag, hints, settler });
                inbox.offer(Delivery::new(batch, delivery.redelivered, settle))
            }
            Err(error) => {
                let cause = ErrorChain(&error).to_string();
                warn!(%pool, cause, "A message on the hint queue of pool `{pool}` is dropped: {cause}");
                metrics::undecodable(pool.as_str()).inc();
                // Through the channel like all others, so that it travels with them.
                let _ = self.settler.send(Settled { tag, settlement: Settlement::Ack, hints: 0 });
                false
            }
        }
    }

    /// Takes down what became of messages, and tells the broker unless that may wait; empties `batch`.
    pub(super) async fn settle(&mut self, batch: &mut Vec<Settled>) -> Result<(), Fault> {
        for settled in batch.drain(..) {
            self.note(&settled);
        }
        // Where no more messages come, nobody comes to go with.
        let is_over = |until| self.consumer.is_none() || until <= clock::monotonic();
        if self.patience.until().is_some_and(is_over) { self.flush().await } else { Ok(()) }
    }

    /// Ends when acks that wait now must be [told](Self::settle).
    pub(super) fn patience_ends(&self) -> impl Future<Output = ()> + use<> {
        let until = self.patience.until();
        async move {
            match until {
                Some(until) => clock::sleep_until(until).await,
                None => future::pending().await,
            }
        }
    }

    /// True when nothing that came is still open.
    pub(super) fn is_settled(&self) -> bool {
        self.open == 0
    }

    fn note(&mut self, settled: &Settled) {
        self.open = self.open.saturating_sub(1);
        self.window.settle(settled.tag, settled.settlement);
        self.patience.settled(clock::monotonic(), settled);
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        self.patience.told();
        let channel = &self.channel;
        let told = self.window.take_commands().into_iter().map(async |command| match command {
            Command::Ack(tag) => channel.basic_ack(tag, BasicAckOptions { multiple: false }).await,
            Command::AckUpTo(tag) => {
                channel.basic_ack(tag, BasicAckOptions { multiple: true }).await
            }
            Command::Requeue(tag) => {
                let options = BasicNackOptions { multiple: false, requeue: true };
                channel.basic_nack(tag, options).await
            }
        });
        // All are queued in this order at once; what is waited for is that they are written.
        within(self.limit, future::try_join_all(told)).await.map(|_| ())
    }
}

/// Settles a delivery of one channel by its tag.
struct ByTag {
    tag: u64,
    hints: usize,
    settler: UnboundedSender<Settled>,
}

impl ByTag {
    fn send(&self, settlement: Settlement) {
        let settled = Settled { tag: self.tag, settlement, hints: self.hints };
        if self.settler.send(settled).is_err() {
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
