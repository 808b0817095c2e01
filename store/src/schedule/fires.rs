//! A schedule's ledger: every due time and what became of it, newest first.

use super::record::FireRecord;
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};
use domain::schedule::Outcome;
use domain::time::Timestamp;

/// Which fires. Everything left out means all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FireFilter {
    /// Of one of these outcomes.
    pub outcomes: Vec<Outcome>,
    /// Due before this: the cursor.
    pub before: Option<Timestamp>,
}

/// Fires of the tenant's schedule of this name, latest due time first, at most `limit`; `None`: there is no such schedule.
///
/// # Errors
/// When the database cannot answer.
pub async fn fires(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    filter: &FireFilter,
    limit: u32,
) -> Result<Option<Vec<FireRecord>>, StoreError> {
    let _ = (db, scope, name, filter, limit);
    Err(StoreError::Contended)
}
