//! Counts hints that were dead-lettered: too old, too many, or requeued too often.
//!
//! Started by `Bus::watch_dead_letters`, in any number of processes; each dead message is counted by
//! one of them. The rule: they are only counted. Their tasks are still `queued` in Postgres, where
//! the sweep finds them.

use super::fault::{Fault, within};
use super::link::Link;
use super::session::Session;
use super::topology;
use crate::hint::HintBatch;
use crate::metrics;
use futures::{FutureExt, StreamExt};
use lapin::message::Delivery;
use lapin::options::{BasicAckOptions, BasicConsumeOptions, BasicQosOptions};
use lapin::types::{AMQPValue, FieldTable};
use runtime::backoff::Backoff;
use runtime::clock;
use runtime::error_chain::ErrorChain;
use runtime::shutdown::Shutdown;
use std::time::Duration;
use tracing::warn;

const PREFETCH: u16 = 256;
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Counts until the process ends.
pub(crate) async fn watch(link: Link, shutdown: Shutdown) {
    tokio::select! {
        () = watch_forever(&link) => {}
        () = shutdown.cancelled() => {}
    }
}

async fn watch_forever(link: &Link) {
    let mut backoff = Backoff::new(RETRY.0, RETRY.1);
    loop {
        let session = link.connected().await;
        match count(&session).await {
            Ok(()) => backoff.reset(),
            Err(fault) => {
                let cause = ErrorChain(&fault).to_string();
                warn!(cause, "Dead hints cannot be counted, retrying: {cause}");
                session.give_up_if_silent(&fault);
            }
        }
        clock::sleep(backoff.pause()).await;
    }
}

/// Ends without an error when the session or the queue ends.
async fn count(session: &Session) -> Result<(), Fault> {
    topology::declare_dead(session).await?;
    let (limit, prefix) = (session.limit(), session.settings.prefix.as_str());
    let channel = session.channel().await?;
    within(limit, channel.basic_qos(PREFETCH, BasicQosOptions::default())).await?;
    let queue = topology::dead_queue(prefix).into();
    let (options, arguments) = (BasicConsumeOptions::default(), FieldTable::default());
    let work = channel.basic_consume(queue, "".into(), options, arguments);
    let mut consumer = within(limit, work).await?;
    loop {
        let mut next = tokio::select! {
            next = consumer.next() => next,
            () = session.ended() => return Ok(()),
        };
        // All messages that have arrived share one ack.
        let last = loop {
            let tag = match next {
                Some(Ok(delivery)) => {
                    count_one(prefix, &delivery);
                    delivery.delivery_tag
                }
                Some(Err(error)) if session.is_connected() => return Err(error.into()),
                Some(Err(_)) | None => return Ok(()),
            };
            match consumer.next().now_or_never() {
                Some(more) => next = more,
                None => break tag,
            }
        };
        within(limit, channel.basic_ack(last, BasicAckOptions { multiple: true })).await?;
    }
}

fn count_one(prefix: &str, delivery: &Delivery) {
    let header = |name: &str| match delivery.properties.headers().as_ref()?.inner().get(name) {
        Some(AMQPValue::LongString(text)) => Some(text.to_string()),
        Some(AMQPValue::ShortString(text)) => Some(text.to_string()),
        _ => None,
    };
    let queue = header("x-first-death-queue").unwrap_or_default();
    let reason = header("x-first-death-reason");
    let hints = HintBatch::decode(&delivery.data).map_or(1, |batch| batch.hints.len());
    let pool = topology::pool_of(prefix, &queue).unwrap_or("unknown");
    metrics::dead(reason.as_deref().unwrap_or("unknown"), pool).inc_by(hints as u64);
}
