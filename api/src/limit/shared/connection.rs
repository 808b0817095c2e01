//! The connection to Redis, which mends itself in the background.
//!
//! One connection a process carries all calls, each bounded in time. While it is broken calls fail at once or within that time.

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisError, Script};
use runtime::clock::timeout;
use runtime::config::{ExposeSecret, RedisConfig};
use std::time::Duration;

/// `redis.url` is not usable.
#[derive(Debug, thiserror::Error)]
#[error("redis.url is not usable")]
pub struct NotRedis(#[source] RedisError);

/// Redis gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Away {
    /// It said so, or the connection did.
    #[error("Redis failed")]
    Failed(#[source] RedisError),
    /// Not in time.
    #[error("Redis did not answer in time")]
    Late,
}

/// The shared counts.
#[derive(Clone)]
pub(crate) struct Redis {
    pub(super) connection: ConnectionManager,
    pub(super) prefix: String,
    pub(super) lease: Script,
    pub(super) probe: Script,
    patience: Duration,
}

impl Redis {
    /// Makes the first connection when it is first needed.
    pub(crate) fn open(config: &RedisConfig) -> Result<Self, NotRedis> {
        let client = Client::open(config.url.expose_secret()).map_err(NotRedis)?;
        // The probe tries again by itself, so one try a call is enough.
        let settings = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(config.connect_timeout))
            .set_response_timeout(Some(config.command_timeout));
        let connection =
            ConnectionManager::new_lazy_with_config(client, settings).map_err(NotRedis)?;
        Ok(Self {
            connection,
            prefix: config.key_prefix.clone(),
            lease: Script::new(include_str!("lease.lua")),
            probe: Script::new(include_str!("probe.lua")),
            patience: config.command_timeout,
        })
    }

    /// The key that holds since when buckets count.
    pub(super) fn since_key(&self) -> String {
        format!("{}:since", self.prefix)
    }

    /// The answer of a call, if it comes in time.
    pub(super) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, Away> {
        match timeout(self.patience, call).await {
            Ok(answer) => answer.map_err(Away::Failed),
            Err(_) => Err(Away::Late),
        }
    }
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
