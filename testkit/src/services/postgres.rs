//! A Postgres of one test: durable as in production, killable.
//!
//! Used by tests of crashes and outages. Other tests take [`crate::db::TestDatabase`], which shares one cluster.

use std::fs::{self, Permissions};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use nix::sys::signal::Signal;

use super::engine::{Engine, Recipe};
use crate::authority::Issued;

static POSTGRES: Recipe = Recipe {
    name: "postgres",
    // A StartupMessage for a user nobody made. An engine still starting answers with an error (E), a ready one asks
    // for the password (R).
    greeting: b"\x00\x00\x00\x13\x00\x03\x00\x00user\x00none\x00\x00",
    ready: b'R',
    // "Fast": roll back what runs and stop.
    stop_signal: Signal::SIGINT,
};

/// A private Postgres; see [`Engine`] for what can be done to it. `url()` is a superuser's.
pub struct PrivatePostgres(Engine);

impl PrivatePostgres {
    /// Starts one, about 1 s. Fails when Postgres is not installed.
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self(Engine::start(&POSTGRES).await?))
    }

    /// Starts it again as a standby that waits for a primary's log: it answers questions and takes no writes, until somebody
    /// calls `pg_promote()`.
    pub async fn restart_as_standby(&mut self) -> anyhow::Result<()> {
        self.0.stop().await?;
        let data = self.0.folder().join("data");
        let (signal, owner) = (data.join("standby.signal"), fs::metadata(&data)?);
        fs::write(&signal, "")?;
        chown(&signal, Some(owner.uid()), Some(owner.gid()))?;
        self.0.restart().await
    }

    /// Makes it answer with this certificate where a client asks for TLS, a moment from now and for new connections only.
    pub fn serve_tls(&self, issued: &Issued) -> anyhow::Result<()> {
        let data = self.0.folder().join("data");
        let owner = fs::metadata(&data)?;
        let files = [
            ("server.crt", issued.certificate.as_str()),
            ("server.key", issued.key.as_str()),
            ("postgresql.auto.conf", "ssl = on\n"),
        ];
        for (name, text) in files {
            let file = data.join(name);
            fs::write(&file, text)?;
            // It refuses a key that others may read.
            fs::set_permissions(&file, Permissions::from_mode(0o600))?;
            chown(&file, Some(owner.uid()), Some(owner.gid()))?;
        }
        self.0.signal(Signal::SIGHUP)
    }
}

impl Deref for PrivatePostgres {
    type Target = Engine;
    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl DerefMut for PrivatePostgres {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.0
    }
}
