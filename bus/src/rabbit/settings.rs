//! Settings of the RabbitMQ carrier, checked once when the bus is created.
//!
//! Built from `[bus]`. The rule: nothing here is logged, because the URI holds a password.

use crate::error::ConnectError;
use domain::id::NodeId;
use lapin::uri::{AMQPScheme, AMQPUri};
use runtime::config::{BusConfig, ExposeSecret, QueueType, SecretString};
use runtime::tls::{Identity, TlsError, Trust};
use rustls::ClientConfig;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of a TCP connection with TLS, and of each AMQP handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub(crate) struct Settings {
    /// One per host, tried in turn.
    pub(crate) uris: Vec<AMQPUri>,
    /// Each connection reads the certificate files that it names again.
    config: Arc<BusConfig>,
    pub(crate) prefix: String,
    pub(crate) queue_type: QueueType,
    /// Time limit of one await on the broker.
    pub(crate) publish_timeout: Duration,
    pub(crate) handshake_limit: Duration,
    pub(crate) hint_ttl: Duration,
    pub(crate) hint_max_length: u32,
    pub(crate) reconnect_max: Duration,
    pub(crate) wake_interval: Duration,
}

impl Settings {
    pub(crate) fn from_config(config: &BusConfig) -> Result<Self, ConnectError> {
        let heartbeat = u16::try_from(config.heartbeat.as_secs()).unwrap_or(u16::MAX).max(1);
        let parse = |url: SecretString| {
            let mut uri: AMQPUri = url.expose_secret().parse().map_err(|_| ConnectError::Url)?;
            uri.query.heartbeat = Some(heartbeat);
            Ok::<_, ConnectError>(uri)
        };
        let uris = config.urls().into_iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let settings = Self {
            uris,
            config: Arc::new(config.clone()),
            prefix: config.queue_prefix.clone(),
            queue_type: config.queue_type,
            publish_timeout: config.publish_timeout,
            handshake_limit: HANDSHAKE_LIMIT,
            hint_ttl: config.hint_ttl,
            hint_max_length: config.hint_max_length,
            reconnect_max: config.reconnect_max,
            wake_interval: config.wake_interval,
        };
        settings.tls()?;
        Ok(settings)
    }

    /// TLS with the certificates as their files are now; none for `amqp://`. Files that are named must be usable, even
    /// with a plain URL.
    pub(crate) fn tls(&self) -> Result<Option<Arc<ClientConfig>>, TlsError> {
        let config = &self.config;
        let is_plain = self.uris.iter().all(|uri| uri.scheme == AMQPScheme::AMQP);
        let (certificate, key) = config.client_files();
        let identity = Identity::of(certificate, key)?;
        if is_plain && config.ca_file.is_empty() && identity.is_none() {
            return Ok(None);
        }
        let client = Trust::with(config.ca_file())?.client(identity.as_ref())?;
        Ok((!is_plain).then(|| Arc::new(client)))
    }

    /// The host at `turn`, modulo their number. `urls()` always returns one at least.
    pub(crate) fn uri(&self, turn: usize) -> &AMQPUri {
        &self.uris[turn % self.uris.len().max(1)]
    }

    /// A random first turn, so that processes spread over the hosts.
    pub(crate) fn random_turn(&self) -> usize {
        NodeId::fresh().uuid().as_u128() as usize % self.uris.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::config::BusKind;

    fn settings(url: &str) -> Settings {
        Settings::from_config(&config(url, String::new())).unwrap()
    }

    fn config(url: &str, ca_file: String) -> BusConfig {
        BusConfig {
            kind: BusKind::RabbitMq,
            url: url.to_owned().into(),
            ca_file,
            client_cert_file: String::new(),
            client_key_file: String::new(),
            queue_prefix: "berth".to_owned(),
            queue_type: QueueType::Quorum,
            publish_timeout: Duration::from_secs(2),
            hint_ttl: Duration::from_secs(5),
            hint_max_length: 1000,
            prefetch: 8,
            heartbeat: Duration::from_secs(5),
            reconnect_max: Duration::from_secs(1),
            wake_interval: Duration::from_millis(2),
        }
    }

    #[test]
    fn each_connection_reads_the_files_as_they_are_then() {
        let ca = tempfile::NamedTempFile::new().unwrap();
        let write = |text: &str| std::fs::write(ca.path(), text).unwrap();
        let authority = || testkit::authority::Authority::new("a private CA").unwrap().certificate;
        write(&authority());
        let path = ca.path().to_str().unwrap().to_owned();
        let settings = Settings::from_config(&config("amqps://localhost/%2f", path)).unwrap();
        settings.tls().unwrap().unwrap();
        write("");
        let wanted = TlsError::NoPem {
            setting: "bus.ca_file",
            path: ca.path().to_str().unwrap().to_owned(),
            wanted: "certificate",
        };
        assert_eq!(settings.tls().unwrap_err(), wanted);
        write(&authority());
        settings.tls().unwrap().unwrap();
    }

    #[test]
    fn each_host_of_a_url_has_its_turn() {
        let settings = settings("amqp://guest:gu%2Cest@one,two:5673,three:5674/berth");
        let hosts: Vec<_> = (0..4)
            .map(|turn| settings.uri(turn).authority.clone())
            .map(|authority| (authority.host, authority.port, authority.userinfo.password))
            .collect();
        let host = |name: &str, port| (name.to_owned(), port, "gu,est".to_owned());
        assert_eq!(
            hosts,
            [host("one", 5672), host("two", 5673), host("three", 5674), host("one", 5672)]
        );
        assert!(settings.uris.iter().all(|uri| uri.vhost == "berth"));
    }
}
