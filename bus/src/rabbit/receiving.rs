//! One consuming channel: takes messages in, and tells the broker what became of them.
//!
//! Used by the hint consumer, which decides when. The rule: a message that cannot be read is acked
//! and counted, never handed on and never returned: it would come back for ever.

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
use runtime::clock::{self, Instant};
use runtime::error_chain::ErrorChain;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tracing::warn;

pub(super) type Settled = (u64, Settlement);

/// The broker is told of a placed message so much later at most, together with those that are placed meanwhile: a quorum queue takes
/// an ack as it takes a message, through its log and to the disk, and four by four that is a quarter less of the broker at 8 000 tasks
/// a second. Whoever dies before leaves hints of placed tasks behind; they come again, and their claims are stale.
const ACKS_WAIT: Duration = Duration::from_millis(50);
/// Where as large a part of what may be on hand waits so, the broker is told at once: it must not run out of room for others.
const PART_WAITS: usize = 2;

pub(super) struct Receiving {
    channel: Channel,
    queue: String,
    limit: Duration,
    consumer: Option<Consumer>,
    window: AckWindow,
    /// Tags that arrived and are not settled yet.
    open: usize,
    /// Acks that the broker is not told of yet, until when they may wait, and how many may not.
    waiting: usize,
    waiting_until: Option<Instant>,
    enough: usize,
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
        Self {
            channel,
            queue,
            limit,
            consumer: None,
            window: AckWindow::default(),
            open: 0,
            waiting: 0,
            waiting_until: None,
            enough: usize::from(prefetch) / PART_WAITS,
            settler,
        }
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
            self.note(delivery.delivery_tag, Settlement::Requeue);
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

    /// Hands a message on.
    pub(super) fn accept(&mut self, delivery: message::Delivery, pool: &PoolName, inbox: &Inbox) {
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
                // Through the channel like all others, so that it travels with them.
                let _ = self.settler.send((tag, Settlement::Ack));
            }
        }
    }

    /// Takes down what became of messages, and tells the broker unless that can wait; empties `batch`.
    pub(super) async fn settle(&mut self, batch: &mut Vec<Settled>) -> Result<(), Fault> {
        if batch.is_empty() {
            return Ok(());
        }
        // What goes back is for others, who wait for it.
        let goes_back = batch.iter().any(|(_, settlement)| *settlement == Settlement::Requeue);
        self.waiting += batch.len();
        for (tag, settlement) in batch.drain(..) {
            self.note(tag, settlement);
        }
        if goes_back || self.waiting >= self.enough {
            return self.flush().await;
        }
        self.waiting_until.get_or_insert_with(|| clock::monotonic() + ACKS_WAIT);
        Ok(())
    }

    /// When the broker must be [told](Self::flush) of acks that wait.
    pub(super) const fn waiting_until(&self) -> Option<Instant> {
        self.waiting_until
    }

    /// True when nothing that came is still open.
    pub(super) fn is_settled(&self) -> bool {
        self.open == 0
    }

    fn note(&mut self, tag: u64, settlement: Settlement) {
        self.open = self.open.saturating_sub(1);
        self.window.settle(tag, settlement);
    }

    /// Tells the broker of all that is settled.
    pub(super) async fn flush(&mut self) -> Result<(), Fault> {
        (self.waiting, self.waiting_until) = (0, None);
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
    settler: UnboundedSender<Settled>,
}

impl ByTag {
    fn send(&self, settlement: Settlement) {
        if self.settler.send((self.tag, settlement)).is_err() {
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
