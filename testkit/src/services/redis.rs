//! A Redis: one of a test's own, killable, or the shared one with keys of the test's own.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;
use tokio::process::Command;

use super::engine::{Engine, Recipe};
use crate::settings;

static REDIS: Recipe = Recipe {
    name: "redis",
    greeting: b"PING\r\n",
    // An error about the missing password.
    ready: b'-',
    stop_signal: Signal::SIGTERM,
};
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A private Redis; see [`Engine`] for what can be done to it. It keeps nothing over a restart.
pub struct PrivateRedis(Engine);

impl PrivateRedis {
    /// Starts one. Fails when Redis is not installed.
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self(Engine::start(&REDIS).await?))
    }
}

impl Deref for PrivateRedis {
    type Target = Engine;
    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl DerefMut for PrivateRedis {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.0
    }
}

/// A Redis's address and a key prefix no other test has.
pub struct TestRedis {
    url: String,
    key_prefix: String,
    _private: Option<PrivateRedis>,
}

impl TestRedis {
    /// The shared Redis; starts one when `BERTH_TEST_REDIS_URL` is not set.
    pub async fn new() -> anyhow::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let key_prefix = format!("berth-test-{}-{number}", std::process::id());
        if let Some(url) = settings::redis_url() {
            return Ok(Self { url, key_prefix, _private: None });
        }
        let private = PrivateRedis::start().await?;
        Ok(Self { url: private.url()?, key_prefix, _private: Some(private) })
    }

    /// The URL, password included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Commands it has carried out for anybody, those within scripts and this question included. Needs `redis-cli`.
    pub async fn commands(&self) -> anyhow::Result<u64> {
        let asked = ["-u", &self.url, "--no-auth-warning", "info", "commandstats"];
        let output = Command::new("redis-cli").args(asked).output().await?;
        let said = String::from_utf8_lossy(&output.stdout);
        let calls = |line: &str| line.split_once("calls=")?.1.split(',').next()?.parse().ok();
        let counts: Vec<u64> = said.lines().filter_map(calls).collect();
        anyhow::ensure!(!counts.is_empty(), "redis-cli: {said}");
        Ok(counts.iter().sum())
    }

    /// A key prefix for this test alone.
    pub fn key_prefix(&self) -> &str {
        &self.key_prefix
    }
}
