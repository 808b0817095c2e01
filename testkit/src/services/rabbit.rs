//! A RabbitMQ of one test, killable, with an epmd of its own.
//!
//! Used by tests of broker outages. Other tests take [`super::TestBroker`] and a queue prefix of their own.

use std::fs;
use std::ops::{Deref, DerefMut};

use anyhow::Context;
use nix::sys::signal::Signal;

use super::engine::{Engine, Recipe};

static RABBITMQ: Recipe = Recipe {
    name: "rabbitmq",
    greeting: b"AMQP\x00\x00\x09\x01",
    // The frame type of Connection.Start.
    ready: 1,
    stop_signal: Signal::SIGTERM,
};

/// A private RabbitMQ; see [`Engine`] for what can be done to it.
pub struct PrivateRabbit(Engine);

impl PrivateRabbit {
    /// Starts one, about 5 s. Fails when RabbitMQ is not installed.
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self(Engine::start(&RABBITMQ).await?))
    }

    /// Kills it and throws away all it held, as the loss of its disk would: the next start has no queue and no message.
    pub fn lose_data(&mut self) -> anyhow::Result<()> {
        self.0.kill9()?;
        let data = self.0.folder().join("mnesia");
        fs::remove_dir_all(&data).with_context(|| format!("removing {}", data.display()))
    }
}

impl Deref for PrivateRabbit {
    type Target = Engine;
    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl DerefMut for PrivateRabbit {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.0
    }
}
