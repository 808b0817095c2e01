//! A Redis: one of a test's own, killable, or the shared one with keys of the test's own.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::Context;
use nix::sys::signal::Signal;
use tokio::process::Command;

use super::engine::{Engine, Recipe};
use super::ports;
use crate::authority::Authority;
use crate::{poll, settings};

static REDIS: Recipe = Recipe {
    name: "redis",
    greeting: b"PING\r\n",
    // An error about the missing password.
    ready: b'-',
    stop_signal: Signal::SIGTERM,
};
const FORMED: Duration = Duration::from_secs(30);
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A private Redis; see [`Engine`] for what can be done to it. It keeps nothing over a restart.
pub struct PrivateRedis(Engine);

impl PrivateRedis {
    /// Starts one. Fails when Redis is not installed.
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self(Engine::start(&REDIS).await?))
    }

    /// The same, listening with TLS on a second port as well, where clients must show a certificate of `authority`.
    pub async fn start_secret(authority: &Authority) -> anyhow::Result<(Self, u16)> {
        let (port, server) = (ports::free()?, authority.issue("redis")?);
        let lines = format!(
            "tls-port {port}\ntls-ca-cert-file ca.pem\ntls-cert-file server.pem\ntls-key-file server.key\n"
        );
        let files = [
            ("extra.conf", lines),
            ("ca.pem", authority.certificate.clone()),
            ("server.pem", server.certificate),
            ("server.key", server.key),
        ];
        Ok((Self(Engine::start_with(&REDIS, &files).await?), port))
    }

    /// Its password.
    pub fn password(&self) -> anyhow::Result<String> {
        let url = self.url()?;
        let password = url.split(':').nth(2).and_then(|rest| rest.split('@').next());
        Ok(password.context("a password in the URL")?.to_owned())
    }

    /// Has `redis-cli` run a command, as the administrator. Answers what it says, without an end of line.
    pub async fn run(&self, command: &[&str]) -> anyhow::Result<String> {
        let url = self.url()?;
        let asked = ["-u", &url, "--no-auth-warning", "-e"];
        let output = Command::new("redis-cli").args(asked).args(command).output().await?;
        let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        anyhow::ensure!(output.status.success(), "redis-cli {command:?}: {said}");
        Ok(said)
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

/// A Redis Cluster of three masters, each with a third of the slots.
pub struct RedisCluster {
    nodes: Vec<PrivateRedis>,
}

impl RedisCluster {
    /// Starts one, some 3 s: nodes wait before they serve.
    pub async fn start() -> anyhow::Result<Self> {
        let mut nodes = Vec::new();
        for (number, slots) in
            [["0", "5460"], ["5461", "10922"], ["10923", "16383"]].iter().enumerate()
        {
            // Whoever may speak to one may speak to all.
            let files = [
                ("extra.conf", "cluster-enabled yes\n".to_owned()),
                ("password", "of-the-cluster".to_owned()),
            ];
            let node = PrivateRedis(Engine::start_with(&REDIS, &files).await?);
            node.run(&["cluster", "addslotsrange", slots[0], slots[1]]).await?;
            node.run(&["cluster", "set-config-epoch", &(number + 1).to_string()]).await?;
            nodes.push(node);
        }
        let cluster = Self { nodes };
        let [first, others @ ..] = &cluster.nodes[..] else { anyhow::bail!("no nodes") };
        for other in others {
            first.run(&["cluster", "meet", "127.0.0.1", &other.port().to_string()]).await?;
        }
        poll::until("a whole cluster", FORMED, || cluster.is_whole()).await?;
        Ok(cluster)
    }

    /// Its nodes.
    pub fn nodes(&self) -> &[PrivateRedis] {
        &self.nodes
    }

    async fn is_whole(&self) -> bool {
        for node in &self.nodes {
            let info = node.run(&["cluster", "info"]).await.unwrap_or_default();
            if !["cluster_state:ok", "cluster_known_nodes:3"].iter().all(|line| info.contains(line))
            {
                return false;
            }
        }
        true
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

    /// A key prefix for this test alone.
    pub fn key_prefix(&self) -> &str {
        &self.key_prefix
    }
}
