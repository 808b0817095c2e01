//! The embedded profile: `berth up`, all roles in one process, with ample room and a first customer.
//!
//! Uses a database of the same Postgres as the full profile, so that both can be compared.

use crate::ended;
use crate::http::{Connection, Target};
use crate::rig::{self, NO_LIMITS};
use e2e::{Up, UpCommand};
use runtime::tasks::TaskGroup;
use std::time::Duration;
use testkit::db::{SERVICE_PASSWORD, TestDatabase};

/// A running one.
pub struct Embedded {
    /// The process.
    pub up: Up,
    database: TestDatabase,
    tasks: TaskGroup,
}

impl Embedded {
    /// Starts it with `settings` besides those of all that is measured.
    pub async fn start(settings: &[(&'static str, &'static str)]) -> anyhow::Result<Self> {
        let database = TestDatabase::new().await?;
        let mut command = UpCommand::new()?
            .arg("--database-url")
            .arg(database.owner_url())
            .env("BERTH_DATABASE__SERVICE_PASSWORD", SERVICE_PASSWORD);
        for (name, value) in rig::settings().chain(settings.iter().copied()) {
            command = command.env(name, value);
        }
        let up = command.start().await?;
        database.sql(NO_LIMITS).await?;
        Ok(Self { up, database, tasks: TaskGroup::new() })
    }

    /// Connections to its api.
    pub async fn connections(&self, count: usize) -> anyhow::Result<Vec<Connection>> {
        let target = Target::new(self.up.url()?, self.up.key()?)?;
        Connection::open_many(&target, &self.tasks, count).await
    }

    /// Waits until no task lives.
    pub async fn drained(&self, limit: Duration) -> anyhow::Result<()> {
        ended::drained(self.database.owner_url(), limit).await
    }

    /// Fails unless exactly `expected` tasks ended, all well.
    pub async fn ended_well(&self, expected: u64) -> anyhow::Result<()> {
        ended::ended_well(self.database.owner_url(), expected).await
    }

    /// Ends it.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.up.term(Duration::from_secs(20)).await
    }
}
