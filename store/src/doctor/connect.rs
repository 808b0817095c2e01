//! The doctor's own connection: what it does stands in nobody's way.

use crate::StoreError;
use crate::connect::open;
use crate::statement::named;
use runtime::config::{DatabaseConfig, ServiceRole};
use sqlx::{PgPool, Postgres, Transaction};

/// One connection as `berth_scheduler`.
#[derive(Debug, Clone)]
pub struct DoctorDb(PgPool);

impl DoctorDb {
    /// Opens the pool. The connection is made when first needed, so this succeeds while the database is away.
    ///
    /// # Errors
    /// When the URL is not usable.
    pub fn connect(config: &DatabaseConfig) -> Result<Self, StoreError> {
        open(config, ServiceRole::Scheduler, 1, &[]).map(Self)
    }

    /// Closes the connection.
    pub async fn close(&self) {
        self.0.close().await;
    }

    pub(super) const fn pool(&self) -> &PgPool {
        &self.0
    }

    /// A transaction that can write nothing and sees one moment.
    pub(super) async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        let begin = "begin transaction isolation level repeatable read, read only";
        named("doctor.begin", self.0.begin_with(begin)).await
    }
}
