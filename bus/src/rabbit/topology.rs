//! The queues and exchanges Berth uses, and how they are declared.
//!
//! Called at the start of each session, and again for a pool whose queue was found missing. The
//! rule: everything here is disposable. A queue may be deleted at any time; the sweep finds the tasks of
//! its hints in Postgres. An existing queue with other arguments is used as it is, never deleted:
//! two releases that run side by side would delete each other's. All names begin with the prefix, and
//! the default exchange is not used: permissions on names with that prefix are all that a user of the
//! broker needs.

use super::fault::{Fault, within};
use super::session::Session;
use super::settings::Settings;
use domain::id::{NodeId, PoolName};
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ExchangeKind};
use runtime::config::QueueType;
use std::time::Duration;
use tracing::warn;

/// Requeues before the broker dead-letters a message.
pub(crate) const DELIVERY_LIMIT: u32 = 20;
/// Dead hints are only counted, so few are kept, and for a short time.
const DEAD_MAX_LENGTH: u32 = 10_000;
const DEAD_TTL: Duration = Duration::from_secs(60);

/// `berth.hints.<pool>`.
pub(crate) fn hint_queue(prefix: &str, pool: &PoolName) -> String {
    format!("{prefix}.hints.{pool}")
}

/// The pool of a hint queue's name.
pub(crate) fn pool_of<'a>(prefix: &str, queue: &'a str) -> Option<&'a str> {
    queue.strip_prefix(prefix)?.strip_prefix(".hints.")
}

/// `berth.dead_hints`.
pub(crate) fn dead_queue(prefix: &str) -> String {
    format!("{prefix}.dead_hints")
}

/// `berth.wake`.
pub(crate) fn wake_exchange(prefix: &str) -> String {
    format!("{prefix}.wake")
}

/// `berth.wake.<id>`: the queue of one receiver on one connection.
pub(crate) fn wake_queue(prefix: &str, id: NodeId) -> String {
    format!("{prefix}.wake.{}", id.uuid().simple())
}

/// `berth.hints`: routes hints to the queue that their routing key names.
pub(crate) fn hint_exchange(prefix: &str) -> String {
    format!("{prefix}.hints")
}

/// `berth.dead`: routes dead-lettered hints to the dead-letter queue.
fn dead_exchange(prefix: &str) -> String {
    format!("{prefix}.dead")
}

impl Session {
    /// Declares the pool's hint queue, unless this session did so before.
    pub(crate) async fn ensure_pool(&self, pool: &PoolName) -> Result<(), Fault> {
        let mut declared = self.declared.lock().await;
        if !declared.contains(pool) {
            declare_pool(self, pool).await?;
            declared.insert(pool.clone());
        }
        Ok(())
    }
}

/// Declares a pool's queue, and the dead-letter queue.
pub(crate) async fn declare_pool(session: &Session, pool: &PoolName) -> Result<(), Fault> {
    declare_dead(session).await?;
    let settings = &session.settings;
    let queue = hint_queue(&settings.prefix, pool);
    declare_queue(session, &queue, hint_arguments(settings)).await?;
    bind(session, hint_exchange(&settings.prefix), &queue).await
}

/// The arguments of a pool's queue.
pub(crate) fn hint_arguments(settings: &Settings) -> FieldTable {
    let mut arguments = table([
        ("x-queue-type", queue_type(settings)),
        ("x-message-ttl", millis(settings.hint_ttl)),
        ("x-max-length", number(settings.hint_max_length)),
        ("x-dead-letter-exchange", text(&dead_exchange(&settings.prefix))),
        ("x-dead-letter-routing-key", text(&dead_queue(&settings.prefix))),
    ]);
    // A classic queue does not count requeues: there a hint is redelivered until its time to live is over.
    if settings.queue_type == QueueType::Quorum {
        arguments.insert("x-delivery-limit".into(), number(DELIVERY_LIMIT));
    }
    arguments
}

/// Declares the dead-letter queue.
pub(crate) async fn declare_dead(session: &Session) -> Result<(), Fault> {
    let settings = &session.settings;
    let queue = dead_queue(&settings.prefix);
    declare_queue(session, &queue, dead_arguments(settings)).await?;
    bind(session, dead_exchange(&settings.prefix), &queue).await
}

/// Declares an exchange and binds `queue` to it with its name as routing key.
async fn bind(session: &Session, exchange: String, queue: &str) -> Result<(), Fault> {
    let channel = session.channel().await?;
    let options = ExchangeDeclareOptions { durable: true, ..ExchangeDeclareOptions::default() };
    let (kind, none) = (ExchangeKind::Direct, FieldTable::default);
    let work = channel.exchange_declare(exchange.as_str().into(), kind, options, none());
    within(session.limit(), work).await?;
    let options = QueueBindOptions::default();
    let work = channel.queue_bind(queue.into(), exchange.into(), queue.into(), options, none());
    within(session.limit(), work).await?;
    // It is bound; whether the channel closes cleanly does not matter.
    let _ = within(session.limit(), channel.close(200, "OK".into())).await;
    Ok(())
}

/// The arguments of the dead-letter queue.
pub(crate) fn dead_arguments(settings: &Settings) -> FieldTable {
    table([
        ("x-queue-type", queue_type(settings)),
        ("x-message-ttl", millis(DEAD_TTL)),
        ("x-max-length", number(DEAD_MAX_LENGTH)),
    ])
}

fn queue_type(settings: &Settings) -> AMQPValue {
    text(match settings.queue_type {
        QueueType::Quorum => "quorum",
        QueueType::Classic => "classic",
    })
}

/// Declares the exchange of wake-ups. Not durable: after a restart of the broker each process declares it again.
pub(crate) async fn declare_wake(session: &Session, channel: &Channel) -> Result<(), Fault> {
    let exchange = wake_exchange(&session.settings.prefix).into();
    let (options, arguments) = (ExchangeDeclareOptions::default(), FieldTable::default());
    let work = channel.exchange_declare(exchange, ExchangeKind::Topic, options, arguments);
    within(session.limit(), work).await
}

/// On its own channel, because a mismatch closes the channel.
async fn declare_queue(session: &Session, name: &str, arguments: FieldTable) -> Result<(), Fault> {
    let channel = session.channel().await?;
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    let work = channel.queue_declare(name.into(), options, arguments);
    match within(session.limit(), work).await {
        Ok(_) => {}
        Err(fault) if fault.is_precondition_failed() => {
            warn!(
                queue = name,
                "Queue `{name}` exists with other settings and is used as it is; delete it to renew them"
            );
            return Ok(());
        }
        Err(fault) => return Err(fault),
    }
    // The queue exists; whether the channel closes cleanly does not matter.
    let _ = within(session.limit(), channel.close(200, "OK".into())).await;
    Ok(())
}

pub(crate) fn table<const N: usize>(entries: [(&str, AMQPValue); N]) -> FieldTable {
    let mut table = FieldTable::default();
    for (key, value) in entries {
        table.insert(key.into(), value);
    }
    table
}

pub(crate) fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

pub(crate) fn number(value: u32) -> AMQPValue {
    AMQPValue::LongLongInt(i64::from(value))
}

fn millis(value: Duration) -> AMQPValue {
    AMQPValue::LongLongInt(domain::time::millis(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_found_in_its_queue_name() {
        let pool: PoolName = "eu-west".parse().unwrap();
        let queue = hint_queue("berth", &pool);
        assert_eq!(queue, "berth.hints.eu-west");
        assert_eq!(pool_of("berth", &queue), Some("eu-west"));
        assert_eq!(pool_of("other", &queue), None);
    }
}
