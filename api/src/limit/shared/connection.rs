//! The connection to Redis, which mends itself in the background.
//!
//! One connection a process carries all calls, each bounded in time. While it is broken calls fail at once or within that time. One
//! that is silent is left: a host or a network that is gone says nothing, and the kernel would believe in it for minutes.

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisError, Script};
use runtime::clock::timeout;
use runtime::config::{ExposeSecret, RedisConfig};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// After so many late answers, and none in time between them, the connection is made anew.
const LATE: u32 = 5;

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
    line: Arc<Line>,
    pub(super) prefix: String,
    pub(super) lease: Script,
    pub(super) probe: Script,
    patience: Duration,
}

/// The connection, and what another is made of.
struct Line {
    client: Client,
    settings: ConnectionManagerConfig,
    present: Mutex<ConnectionManager>,
    /// Late answers since the last one in time.
    late: AtomicU32,
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
        let present = ConnectionManager::new_lazy_with_config(client.clone(), settings.clone())
            .map_err(NotRedis)?;
        let (present, late) = (Mutex::new(present), AtomicU32::new(0));
        Ok(Self {
            line: Arc::new(Line { client, settings, present, late }),
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

    pub(super) fn connection(&self) -> ConnectionManager {
        self.line.present.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The answer of a call, if it comes in time.
    pub(super) async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, Away> {
        match timeout(self.patience, call).await {
            Ok(Err(error)) if !error.is_timeout() => Err(Away::Failed(error)),
            Ok(Ok(answer)) => {
                self.line.late.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(_)) | Err(_) => {
                self.line.was_late();
                Err(Away::Late)
            }
        }
    }
}

impl Line {
    fn was_late(&self) {
        let late = self.late.fetch_add(1, Ordering::Relaxed) + 1;
        if !late.is_multiple_of(LATE) {
            return;
        }
        let again =
            ConnectionManager::new_lazy_with_config(self.client.clone(), self.settings.clone());
        if let Ok(again) = again {
            *self.present.lock().unwrap_or_else(PoisonError::into_inner) = again;
        }
    }
}

/// As the scripts count.
pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl std::fmt::Debug for Redis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
