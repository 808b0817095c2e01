//! The queues and exchanges Berth uses, and how they are declared.
//!
//! Called at the start of each session, and again for a pool whose queue was found missing. The
//! rule: everything here is disposable. A queue may be deleted at any time; what it held is swept
//! up from Postgres. An existing queue with other arguments is used as it is, never deleted:
//! two releases that run side by side would delete each other's.

use super::fault::{Fault, within};
use super::session::Session;
use super::settings::Settings;
use domain::id::PoolName;
use lapin::options::{ExchangeDeclareOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ExchangeKind};
use runtime::config::QueueType;
use std::time::Duration;
use tracing::warn;

/// Returns before the broker drops a message. Above this it is poison, or everybody is full.
pub(crate) const DELIVERY_LIMIT: u32 = 20;
/// Dead hints are only counted, so few are kept and not for long.
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

/// Declares a pool's queue, and the queue its dead go to.
pub(crate) async fn declare_pool(session: &Session, pool: &PoolName) -> Result<(), Fault> {
    declare_dead(session).await?;
    let settings = &session.settings;
    declare_queue(session, &hint_queue(&settings.prefix, pool), hint_arguments(settings)).await
}

/// What a pool's queue is declared with.
pub(crate) fn hint_arguments(settings: &Settings) -> FieldTable {
    let mut arguments = table([
        ("x-queue-type", queue_type(settings)),
        ("x-message-ttl", millis(settings.hint_ttl)),
        ("x-max-length", number(settings.hint_max_length)),
        ("x-dead-letter-exchange", text("")),
        ("x-dead-letter-routing-key", text(&dead_queue(&settings.prefix))),
    ]);
    // A classic queue does not count returns: there a hint goes round until it is too old.
    if settings.queue_type == QueueType::Quorum {
        arguments.insert("x-delivery-limit".into(), number(DELIVERY_LIMIT));
    }
    arguments
}

/// Declares the queue of the dead.
pub(crate) async fn declare_dead(session: &Session) -> Result<(), Fault> {
    let settings = &session.settings;
    declare_queue(session, &dead_queue(&settings.prefix), dead_arguments(settings)).await
}

/// What the queue of the dead is declared with.
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

/// Declares the exchange of wake-ups. Not durable: after a restart everybody declares it again.
pub(crate) async fn declare_wake(session: &Session, channel: &Channel) -> Result<(), Fault> {
    let exchange = wake_exchange(&session.settings.prefix).into();
    let (options, arguments) = (ExchangeDeclareOptions::default(), FieldTable::default());
    let work = channel.exchange_declare(exchange, ExchangeKind::Topic, options, arguments);
    within(session.limit(), work).await
}

/// On a channel of its own, because a mismatch closes the channel.
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
    // The queue is there; whether the channel closes cleanly changes nothing.
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
