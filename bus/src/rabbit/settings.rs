//! What the RabbitMQ side needs to know, checked once when the bus is made.
//!
//! Built from `[bus]`. The rule: nothing here is printed, because the URI holds a password.

use crate::error::ConnectError;
use lapin::uri::{AMQPScheme, AMQPUri};
use runtime::config::{BusConfig, ExposeSecret, QueueType};
use std::time::Duration;

/// Time for a TCP connection, for TLS, and for each AMQP handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) uri: AMQPUri,
    pub(crate) prefix: String,
    pub(crate) queue_type: QueueType,
    /// The longest any single await on the broker may take.
    pub(crate) publish_timeout: Duration,
    pub(crate) handshake_limit: Duration,
    pub(crate) hint_ttl: Duration,
    pub(crate) hint_max_length: u32,
    pub(crate) reconnect_max: Duration,
    pub(crate) direct_wakeups: bool,
    /// False, too, where the broker is spoken to with TLS: what nobody is to read does not go past it.
    pub(crate) direct_hints: bool,
}

impl Settings {
    pub(crate) fn from_config(config: &BusConfig) -> Result<Self, ConnectError> {
        let mut uri: AMQPUri = config.url.expose_secret().parse().map_err(|_| ConnectError::Url)?;
        let heartbeat = u16::try_from(config.heartbeat.as_secs()).unwrap_or(u16::MAX).max(1);
        uri.query.heartbeat = Some(heartbeat);
        let is_plain = uri.scheme == AMQPScheme::AMQP;
        Ok(Self {
            uri,
            prefix: config.queue_prefix.clone(),
            queue_type: config.queue_type,
            publish_timeout: config.publish_timeout,
            handshake_limit: HANDSHAKE_LIMIT,
            hint_ttl: config.hint_ttl,
            hint_max_length: config.hint_max_length,
            reconnect_max: config.reconnect_max,
            direct_wakeups: config.direct_wakeups,
            direct_hints: config.direct_hints && is_plain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::BusKind;

    fn settings(url: &str, direct_hints: bool) -> Settings {
        let config = BusConfig {
            kind: BusKind::RabbitMq,
            url: url.to_owned().into(),
            queue_prefix: "berth".to_owned(),
            queue_type: QueueType::Quorum,
            publish_timeout: Duration::from_secs(2),
            hint_ttl: Duration::from_secs(5),
            hint_max_length: 1000,
            prefetch: 8,
            heartbeat: Duration::from_secs(5),
            reconnect_max: Duration::from_secs(1),
            direct_wakeups: true,
            direct_hints,
        };
        Settings::from_config(&config).unwrap()
    }

    #[test]
    fn hints_go_past_a_broker_only_where_nothing_is_encrypted_on_the_way_to_it() {
        assert!(settings("amqp://guest:guest@localhost/%2f", true).direct_hints);
        assert!(!settings("amqps://guest:guest@localhost/%2f", true).direct_hints);
        assert!(!settings("amqp://guest:guest@localhost/%2f", false).direct_hints);
    }
}
