//! A RabbitMQ to share: the one of `scripts/with-services`, or a private one where a test is run by hand.
//!
//! Used by tests that do not harm the broker. The rule: each takes a queue prefix of its own.

use std::sync::atomic::{AtomicU32, Ordering};

use super::PrivateRabbit;
use crate::settings;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A broker's address and a queue prefix no other test has.
pub struct TestBroker {
    url: String,
    queue_prefix: String,
    _private: Option<PrivateRabbit>,
}

impl TestBroker {
    /// The shared broker; starts one (about 5 s) when `BERTH_TEST_AMQP_URL` is not set.
    pub async fn new() -> anyhow::Result<Self> {
        if let Some(url) = settings::amqp_url() {
            return Ok(Self::on(url));
        }
        let private = PrivateRabbit::start().await?;
        let url = private.url()?;
        Ok(Self { _private: Some(private), ..Self::on(url) })
    }

    /// The broker at this URL, for example a [`PrivateRabbit`] that the test goes on to harm.
    #[must_use]
    pub fn on(url: impl Into<String>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let queue_prefix = format!("berth-test-{}-{number}", std::process::id());
        Self { url: url.into(), queue_prefix, _private: None }
    }

    /// The AMQP URL, password included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A queue prefix for this test alone.
    pub fn queue_prefix(&self) -> &str {
        &self.queue_prefix
    }
}
