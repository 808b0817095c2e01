//! One test's own database: cloned from the template, dropped with the value.
//!
//! Used by every test that needs Postgres. Where `BERTH_TEST_DATABASE_URL` is not set (a test started by hand) a
//! private Postgres is started for it, about 1 s.

use parking_lot::Mutex;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use runtime::clock;

use super::{template, urls};
use crate::services::PrivatePostgres;
use crate::{psql, settings};

/// The password of every service role (`berth_api`, `berth_rm`, ...) in test databases.
pub const SERVICE_PASSWORD: &str = "berth-test";

static NEXT: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
enum Made {
    Migrated,
    Empty,
}

/// A migrated, empty database of one test.
pub struct TestDatabase {
    /// None: somebody else made it, and drops it.
    admin_url: Option<String>,
    owner_url: String,
    name: String,
    /// A session of the owner that nobody uses now: a new one for each statement took a tenth of the time of all tests.
    kept: Mutex<Option<psql::Session>>,
    // Dropped after the database is, by order of the fields.
    _private: Option<PrivatePostgres>,
}

impl TestDatabase {
    /// A new database on the shared cluster.
    pub async fn new() -> anyhow::Result<Self> {
        Self::made(Made::Migrated).await
    }

    /// A new database without tables: the test migrates it.
    pub async fn unmigrated() -> anyhow::Result<Self> {
        Self::made(Made::Empty).await
    }

    async fn made(made: Made) -> anyhow::Result<Self> {
        if let Some(admin_url) = settings::database_url() {
            return Self::make(&admin_url, made).await;
        }
        let private = PrivatePostgres::start().await?;
        let mut database = Self::make(&private.url()?, made).await?;
        database._private = Some(private);
        Ok(database)
    }

    /// A new database on the cluster of this superuser's URL, for example a [`PrivatePostgres`].
    pub async fn on(admin_url: &str) -> anyhow::Result<Self> {
        Self::make(admin_url, Made::Migrated).await
    }

    async fn make(admin_url: &str, made: Made) -> anyhow::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A pid comes again, and may find what a killed process of the same has left.
        let began = clock::wall().timestamp_micros();
        let name = format!("berth_test_{}_{began}_{number}", std::process::id());
        match made {
            Made::Migrated => template::copy(admin_url, SERVICE_PASSWORD, &name).await?,
            Made::Empty => {
                psql::run(admin_url, &format!("create database {name}")).await?;
            }
        }
        let owner_url = urls::with_database(admin_url, &name)?;
        Ok(Self {
            admin_url: Some(admin_url.to_owned()),
            owner_url,
            name,
            kept: Mutex::default(),
            _private: None,
        })
    }

    /// A database that is there already, migrated or to be, whose owner's URL this is. It stays.
    pub fn at(owner_url: &str) -> anyhow::Result<Self> {
        let name = url::Url::parse(owner_url)?.path().trim_start_matches('/').to_owned();
        let owner_url = owner_url.to_owned();
        Ok(Self { admin_url: None, owner_url, name, kept: Mutex::default(), _private: None })
    }

    /// The owner's URL: may do everything, passes row-level security.
    pub fn owner_url(&self) -> &str {
        &self.owner_url
    }

    /// The URL a service role logs in with, for example `berth_api`.
    pub fn role_url(&self, role: &str) -> anyhow::Result<String> {
        urls::with_user(&self.owner_url, role, SERVICE_PASSWORD)
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs SQL as the owner; see [`psql::run`].
    pub async fn sql(&self, sql: &str) -> anyhow::Result<String> {
        let mut session = self.free_session().await?;
        let answer = session.run(sql).await?;
        *self.kept.lock() = Some(session);
        Ok(answer)
    }

    /// The kept one, where nobody has it and Postgres has not ended it.
    async fn free_session(&self) -> anyhow::Result<psql::Session> {
        let kept = self.kept.lock().take();
        if let Some(mut kept) = kept
            && kept.answers().await
        {
            return Ok(kept);
        }
        psql::Session::open(&self.owner_url)
    }

    /// A session of the owner, for many looks.
    pub fn session(&self) -> anyhow::Result<psql::Session> {
        psql::Session::open(&self.owner_url)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        // With a private engine all of it goes; without, a cluster that is down keeps a database nobody misses.
        if let Some(admin_url) = self.admin_url.as_ref().filter(|_| self._private.is_none()) {
            // Not waited for: it waits for all connections that are being made, and one of this process, whose runtime stands
            // still here, would be made until Postgres gives it up after a minute. Our end ends them.
            let drop_it = format!("drop database if exists {} with (force)", self.name);
            let _dropping = Command::new(psql::program())
                .args(["-X", "-q", "-c", &drop_it, "-d", admin_url])
                .env("PGCONNECT_TIMEOUT", "3")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
        }
    }
}
