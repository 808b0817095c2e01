//! A RabbitMQ of one test, killable, with an epmd of its own.
//!
//! Used by tests of broker outages. Other tests take [`super::TestBroker`] and a queue prefix of their own.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::{Deref, DerefMut};

use anyhow::Context;
use nix::sys::signal::Signal;

use super::engine::{Engine, Recipe};
use super::ports;
use crate::authority::Authority;

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

    /// Starts the nodes of a cluster to be: `rabbitmqctl join_cluster` with the [name](Self::node) of another makes it one.
    pub async fn start_nodes<const N: usize>() -> anyhow::Result<[Self; N]> {
        let port = ports::free()?.to_string();
        let secret = || format!("{:016x}", RandomState::new().build_hasher().finish());
        let (cookie, password) = (secret(), secret());
        let mut nodes = Vec::with_capacity(N);
        for number in 0..N {
            let files = [
                ("node", format!("berth{number}")),
                ("epmd_port", port.clone()),
                (".erlang.cookie", cookie.clone()),
                ("password", password.clone()),
            ];
            nodes.push(Self(Engine::start_with(&RABBITMQ, &files).await?));
        }
        nodes.try_into().map_err(|_| anyhow::anyhow!("not {N} nodes"))
    }

    /// Its name as a node.
    pub fn node(&self) -> anyhow::Result<String> {
        let name = fs::read_to_string(self.0.folder().join("node")).unwrap_or("berth".to_owned());
        Ok(format!("{name}@localhost"))
    }

    /// The same, listening with TLS on a second port as well, where clients must show a certificate of `authority`. One of a client that
    /// is called `berth` stands for user and password, too (`auth_mechanism=external`).
    pub async fn start_secret(authority: &Authority) -> anyhow::Result<(Self, u16)> {
        let (port, server) = (ports::free()?, authority.issue("broker")?);
        let settings = format!(
            "listeners.ssl.1 = 127.0.0.1:{port}\n\
             ssl_options.cacertfile = DIR/ca.pem\n\
             ssl_options.certfile = DIR/server.pem\n\
             ssl_options.keyfile = DIR/server.key\n\
             ssl_options.verify = verify_peer\n\
             ssl_options.fail_if_no_peer_cert = true\n\
             ssl_cert_login_from = common_name\n\
             auth_mechanisms.1 = PLAIN\n\
             auth_mechanisms.2 = EXTERNAL\n"
        );
        let files = [
            ("extra.conf", settings),
            ("enabled_plugins", "[rabbitmq_auth_mechanism_ssl].\n".to_owned()),
            ("ca.pem", authority.certificate.clone()),
            ("server.pem", server.certificate),
            ("server.key", server.key),
        ];
        Ok((Self(Engine::start_with(&RABBITMQ, &files).await?), port))
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
