//! What can go wrong with the database, by what the caller can do about it.

use runtime::fault::InjectedFault;
use sqlx::migrate::MigrateError;
use sqlx::postgres::PgDatabaseError;
use std::io;

/// A failed statement.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No connection could be had, or it broke: whether the statement took effect is not known.
    #[error("the database cannot be reached")]
    Unavailable(#[source] sqlx::Error),
    /// The server replays another's log: what it knows is old, and it takes no writes.
    #[error("the database is a standby, in recovery: give the URL of the primary, or promote it")]
    Standby,
    /// No connection became free in time: nothing was done.
    #[error("all database connections are in use")]
    Busy,
    /// Its tenant has as many connections as it may, and as many requests wait for one: nothing was done.
    #[error("the tenant has as many database connections as it may")]
    TenantBusy,
    /// The statement ran longer than allowed and was undone.
    #[error("the statement took too long")]
    Timeout,
    /// Two transactions waited for each other or met on a row, several times over; nothing was done.
    #[error("the transaction met others too often")]
    Contended,
    /// A stored value that this version cannot read.
    #[error("{what} of {row} cannot be read: {value}")]
    Malformed {
        /// The column.
        what: &'static str,
        /// The row's id.
        row: String,
        /// The value, shortened.
        value: String,
    },
    /// Anything else: a bug, or a broken database.
    #[error("the database refused a statement")]
    Database(#[source] sqlx::Error),
    /// The settings are not usable.
    #[error("the database settings are not usable: {0}")]
    Config(String),
    /// A role cannot be used by this installation.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// Migrating failed.
    #[error("the migration failed")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}

impl StoreError {
    /// True when the same call may succeed later.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::Standby
                | Self::Busy
                | Self::TenantBusy
                | Self::Timeout
                | Self::Contended
        )
    }

    /// True when nothing is known of the statement's effect: it may have been committed.
    #[must_use]
    pub const fn outcome_unknown(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }

    /// Of a statement that is given up because another connection was answered meanwhile.
    #[must_use]
    pub fn overtaken() -> Self {
        let why = "no answer, while another connection had one";
        Self::Unavailable(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, why)))
    }

    /// The SQLSTATE, where the database gave one.
    #[must_use]
    pub fn sqlstate(&self) -> Option<String> {
        match self {
            Self::Database(error) | Self::Unavailable(error) => {
                error.as_database_error().and_then(|e| e.code()).map(std::borrow::Cow::into_owned)
            }
            Self::Standby
            | Self::Busy
            | Self::TenantBusy
            | Self::Timeout
            | Self::Contended
            | Self::Malformed { .. }
            | Self::Config(_)
            | Self::Role(_)
            | Self::Migrate(_) => None,
        }
    }

    /// What Postgres said beyond its message: its DETAIL and its HINT. They may quote rows, and are for operators alone.
    #[must_use]
    pub fn postgres_says(&self) -> Option<String> {
        let error = match self {
            Self::Database(error) | Self::Unavailable(error) => error,
            Self::Role(RoleError::NotAllowed { source, .. }) => source,
            Self::Migrate(
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _),
            ) => error,
            _ => return None,
        };
        let said = error.as_database_error()?.try_downcast_ref::<PgDatabaseError>()?;
        let parts = [("DETAIL", said.detail()), ("HINT", said.hint())];
        let parts = parts.into_iter().filter_map(|(what, text)| Some(format!("{what}: {}", text?)));
        Some(parts.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
    }
}

/// Why a role cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// Somebody else's, perhaps.
    #[error(
        "the role {role} is there already, in this cluster of Postgres, and its password is not the one given in {setting}: another \
         installation may log in with it. Is this a second installation of the cluster? Then set database.role_prefix, so that it has \
         roles of its own. Is the role this installation's? Then give its password, or change it to the one given with \
         `berth migrate --reset-passwords`"
    )]
    OtherPassword {
        /// Its name.
        role: String,
        /// Where the password was given.
        setting: &'static str,
    },
    /// It must be made or changed by somebody else.
    #[error(
        "the owner may not {what} the role {role}. Let a database administrator run what `berth migrate --print-roles` prints, then \
         run `berth migrate` again"
    )]
    NotAllowed {
        /// What was tried.
        what: &'static str,
        /// Its name.
        role: String,
        /// What Postgres said.
        #[source]
        source: sqlx::Error,
    },
}

/// As a connection that broke: nothing is known of what was asked before.
impl From<InjectedFault> for StoreError {
    fn from(fault: InjectedFault) -> Self {
        Self::Unavailable(sqlx::Error::Protocol(fault.to_string()))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::Protocol(_) => Self::Unavailable(error),
            sqlx::Error::Database(db) => match db.code().as_deref() {
                // Serialization failure, deadlock, a lock not to be had in time.
                Some("40001" | "40P01" | "55P03") => Self::Contended,
                Some("57014") => Self::Timeout,
                // Shut down, crashing, starting up, idle for too long, read-only after a failover.
                Some("57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25006") => {
                    Self::Unavailable(error)
                }
                // Connection lost; out of connections, memory or disk; broken below.
                Some(code) if ["08", "53", "58"].iter().any(|class| code.starts_with(class)) => {
                    Self::Unavailable(error)
                }
                _ => Self::Database(error),
            },
            _ => Self::Database(error),
        }
    }
}
