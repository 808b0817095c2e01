//! Transactions of one tenant's requests.
//!
//! All that a tenant's request reads or writes through [`ApiDb`] begins here, so that in it only the tenant's rows exist, and no
//! tenant has more connections than its share: others of the same tenant wait for their turn, or are told that it has too many.

use crate::connect::ApiDb;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::TenantId;
use domain::time::millis;
use runtime::turns::Turn;
use sqlx::{PgConnection, Postgres, Transaction};
use std::ops::{Deref, DerefMut};

/// A transaction in its tenant's turn. Dropped, it is undone.
#[derive(Debug)]
pub(crate) struct Scoped {
    // In this order: the connection is given back before the turn.
    tx: Transaction<'static, Postgres>,
    turn: Option<Turn<TenantId>>,
}

impl Scoped {
    /// Commits.
    pub(crate) async fn commit(self) -> Result<(), sqlx::Error> {
        let Self { tx, turn } = self;
        let committed = tx.commit().await;
        drop(turn);
        committed
    }
}

impl Deref for Scoped {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.tx
    }
}

impl DerefMut for Scoped {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.tx
    }
}

/// Begins a reading transaction in which only `scope`'s rows exist, and no statement runs longer than the settings allow.
pub(crate) async fn scoped_read(db: &ApiDb, scope: &TenantScope) -> Result<Scoped, StoreError> {
    let turn = db.turn(scope.tenant()).await?;
    begin_read(db, scope, Some(turn)).await
}

/// The same out of turn, for one caller of the process that reads for all tenants and must not wait for any of them.
pub(crate) async fn scoped_read_for_all(
    db: &ApiDb,
    scope: &TenantScope,
) -> Result<Scoped, StoreError> {
    begin_read(db, scope, None).await
}

async fn begin_read(
    db: &ApiDb,
    scope: &TenantScope,
    turn: Option<Turn<TenantId>>,
) -> Result<Scoped, StoreError> {
    let mut tx = db.begin().await?;
    let query = sqlx::query_scalar!(
        "select set_config('berth.tenant_id', $1, true) || set_config('statement_timeout', $2, true)",
        scope.tenant().uuid().to_string(),
        millis(db.read_timeout()).to_string()
    );
    named("scope", query.fetch_one(&mut *tx)).await?;
    Ok(Scoped { tx, turn })
}

/// Begins a writing transaction in which only `scope`'s rows exist. It has no time limit: one that strikes in the commit
/// would leave the outcome open.
pub(crate) async fn scoped(db: &ApiDb, scope: &TenantScope) -> Result<Scoped, StoreError> {
    let turn = db.turn(scope.tenant()).await?;
    begin(db, scope, Some(turn)).await
}

/// The same out of turn, for one caller of the process that writes for all tenants and must not wait for any of them.
pub(crate) async fn scoped_for_all(db: &ApiDb, scope: &TenantScope) -> Result<Scoped, StoreError> {
    begin(db, scope, None).await
}

async fn begin(
    db: &ApiDb,
    scope: &TenantScope,
    turn: Option<Turn<TenantId>>,
) -> Result<Scoped, StoreError> {
    let mut tx = db.begin().await?;
    let tenant = scope.tenant().uuid().to_string();
    let query = sqlx::query_scalar!("select set_config('berth.tenant_id', $1, true)", tenant);
    named("scope", query.fetch_one(&mut *tx)).await?;
    Ok(Scoped { tx, turn })
}
