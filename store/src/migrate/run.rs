//! All steps of a migration, in their order. Several at once wait for each other: on a lock that ends with its transaction, so that no
//! pooler and no killed process can keep it. A second run does nothing.

use super::roles::Login;
use super::{access, database, installation, names, roles};
use crate::StoreError;
use runtime::config::{DatabaseConfig, ExposeSecret};
use sqlx::{Connection, Executor, PgConnection};

/// What an operator asks for besides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct How {
    /// Change the passwords of roles that are there to those given.
    pub reset_passwords: bool,
    /// What is migrated was restored, though nothing shows it: hold its schedules.
    pub restored: bool,
}

/// What an operator should know of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Migrated {
    /// What could not be done, and who can.
    pub notes: Vec<String>,
    /// Why schedules are held; none: they are not.
    pub held: Option<String>,
}

/// Migrates the database of `config.url`, whose user owns the tables.
///
/// # Errors
/// When the database cannot be reached, a role cannot be used, a statement fails, or another migration runs for a minute; earlier
/// migrations stay.
pub async fn run(config: &DatabaseConfig, how: How) -> Result<Migrated, StoreError> {
    let owner_url = config.url.expose_secret();
    let mut guard = PgConnection::connect(owner_url).await?;
    let mut alone = guard.begin().await?;
    alone.execute("set local lock_timeout = '60s'").await?;
    alone.execute("select pg_advisory_xact_lock(hashtext('berth_migrate'))").await?;
    let mut connection = PgConnection::connect(owner_url).await?;
    let mut notes = roles::prepare(&mut connection, config, how.reset_passwords).await?;
    let migrator = names::migrator(&config.role_prefix);
    access::see_rows(&mut connection).await?;
    migrator.run(&mut connection).await.map_err(StoreError::Migrate)?;
    crate::tenant::keys::fill(&mut connection).await?;
    access::put_right(&mut connection, config).await?;
    let users: Vec<_> = Login::all(config)?.into_iter().map(|login| login.user).collect();
    notes.extend(database::close(&mut connection, &users).await?);
    let held = installation::note_place(&mut connection, how.restored).await?;
    connection.close().await?;
    alone.commit().await?;
    guard.close().await?;
    Ok(Migrated { notes, held })
}
