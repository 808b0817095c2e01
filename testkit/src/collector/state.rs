//! What a running collector holds.

use super::received::Received;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;

/// A collector that runs.
#[derive(Debug, Clone)]
pub struct Collector {
    pub(super) address: SocketAddr,
    pub(super) is_secret: bool,
    pub(super) received: Arc<Mutex<Received>>,
}

impl Collector {
    /// For `telemetry.otlp_endpoint`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("{}://{}", if self.is_secret { "https" } else { "http" }, self.address)
    }

    /// What came so far.
    #[must_use]
    pub fn received(&self) -> Received {
        self.received.lock().clone()
    }

    pub(super) fn note(
        &self,
        authorization: Option<&str>,
        export: String,
        more: impl FnOnce(&mut Received),
    ) {
        let mut received = self.received.lock();
        received.exports.push(export);
        received.authorizations.extend(authorization.map(str::to_owned));
        more(&mut received);
    }
}
