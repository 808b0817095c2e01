//! A database, a vhost or a database number for each peer, in the private engines that Berth is measured on.
//!
//! Durability is the same for all: Postgres has `fsync` and `synchronous_commit` on, messages of RabbitMQ are persistent and
//! confirmed, and Redis, which keeps nothing by default here, syncs each write before it answers.

use crate::cpu::holder_of_port;
use anyhow::Context;
use e2e::rabbitmqctl_of;
use testkit::{psql, settings};
use tokio::process::Command;
use url::Url;

/// What a peer stores its tasks in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A database for each phase.
    Postgres,
    /// A vhost; the driver begins each phase with an empty queue.
    RabbitMq,
    /// A database number, emptied before each phase.
    Redis,
}

impl Engine {
    /// Once a run, before the first phase of `peer`.
    pub async fn prepare(self, peer: &str) -> anyhow::Result<()> {
        match self {
            Self::Postgres => Ok(()),
            Self::RabbitMq => {
                let url = Url::parse(&self.url()?)?;
                broker(&["add_vhost", &place(peer)]).await?;
                let user = url.username();
                broker(&["set_permissions", "-p", &place(peer), user, ".*", ".*", ".*"]).await
            }
            Self::Redis => {
                self.redis(&["config", "set", "appendfsync", "always"]).await?;
                self.redis(&["config", "set", "appendonly", "yes"]).await
            }
        }
    }

    /// The URL of an empty place for `peer`.
    pub async fn empty(self, peer: &str) -> anyhow::Result<String> {
        let mut url = Url::parse(&self.url()?)?;
        match self {
            Self::Postgres => {
                let name = place(peer);
                let statements = format!(
                    "drop database if exists {name} with (force); create database {name}; checkpoint"
                );
                psql::run(url.as_str(), &statements).await?;
                url.set_path(&name);
            }
            Self::RabbitMq => url.set_path(&place(peer)),
            Self::Redis => {
                // Number 0 is Berth's.
                url.set_path("1");
                self.redis(&["-n", "1", "flushdb"]).await?;
            }
        }
        Ok(url.into())
    }

    /// After the last phase of `peer`.
    pub async fn remove(self, peer: &str) -> anyhow::Result<()> {
        match self {
            Self::Postgres => {
                let statement = format!("drop database if exists {} with (force)", place(peer));
                psql::run(&self.url()?, &statement).await.map(drop)
            }
            Self::RabbitMq => broker(&["delete_vhost", &place(peer)]).await,
            Self::Redis => {
                self.redis(&["-n", "1", "flushdb"]).await?;
                self.redis(&["config", "set", "appendonly", "no"]).await
            }
        }
    }

    fn url(self) -> anyhow::Result<String> {
        let url = match self {
            Self::Postgres => settings::database_url(),
            Self::RabbitMq => settings::amqp_url(),
            Self::Redis => settings::redis_url(),
        };
        url.with_context(|| format!("no {self:?} given; use `make bench`"))
    }

    async fn redis(self, command: &[&str]) -> anyhow::Result<()> {
        let url = self.url()?;
        let options = ["-u", &url, "--no-auth-warning", "-e"];
        let output = Command::new("redis-cli").args(options).args(command).output().await;
        let output = output.context("starting redis-cli; run scripts/setup")?;
        let said = String::from_utf8_lossy(&output.stdout);
        anyhow::ensure!(output.status.success(), "redis-cli {command:?}: {}", said.trim());
        Ok(())
    }
}

async fn broker(command: &[&str]) -> anyhow::Result<()> {
    let pid = holder_of_port(&Engine::RabbitMq.url()?).context("RabbitMQ runs elsewhere")?;
    rabbitmqctl_of(pid, command).await.map(drop)
}

/// The name of a peer's database or vhost.
fn place(peer: &str) -> String {
    format!("peer_{}", peer.replace('-', "_"))
}
