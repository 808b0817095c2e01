//! A `PgBouncer` of one test, in transaction mode, in front of a test's database.

use super::engine::{Engine, Recipe};
use nix::sys::signal::Signal;
use std::path::Path;
use url::Url;

static PGBOUNCER: Recipe = Recipe {
    name: "pgbouncer",
    // A StartupMessage; it asks for the password.
    greeting: b"\x00\x00\x00\x18\x00\x03\x00\x00user\x00berth_api\x00\x00",
    ready: b'R',
    stop_signal: Signal::SIGTERM,
};

/// A pooler that has three connections to the database, and gives one to each transaction.
pub struct PrivatePgBouncer {
    url: String,
    _engine: Engine,
}

impl PrivatePgBouncer {
    /// Whether it is installed.
    pub fn is_installed() -> bool {
        ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
            .into_iter()
            .any(|path| Path::new(path).is_file())
    }

    /// Starts one for the user of this URL.
    pub async fn start(database_url: &str) -> anyhow::Result<Self> {
        let mut url = Url::parse(database_url)?;
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        let users = format!("\"{user}\" \"{password}\"\n");
        let (host, port) = (url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(5432));
        let databases = format!("[databases]\n* = host={host} port={port}\n");
        let files = [("users.txt", users), ("databases.ini", databases)];
        let engine = Engine::start_with(&PGBOUNCER, &files).await?;
        url.set_ip_host(std::net::Ipv4Addr::LOCALHOST.into())
            .and_then(|()| url.set_port(Some(engine.port())))
            .map_err(|()| anyhow::anyhow!("a URL without a host has no port"))?;
        Ok(Self { url: url.into(), _engine: engine })
    }

    /// The URL by which that user reaches the database through it.
    pub fn url(&self) -> &str {
        &self.url
    }
}
