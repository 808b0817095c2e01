//! Which schedule has a name.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::id::ScheduleId;
use sqlx::PgConnection;

/// The id of the tenant's schedule of this name.
///
/// # Errors
/// When the database cannot answer.
pub async fn find_id(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleId>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    id_of(&mut tx, scope, name).await
}

/// The same in a transaction of an `ApiDb`.
pub(super) async fn id_of(
    tx: &mut PgConnection,
    scope: &TenantScope,
    name: &str,
) -> Result<Option<ScheduleId>, StoreError> {
    let query = sqlx::query_scalar!(
        "select id from schedule where tenant_id = $1 and name = $2",
        scope.tenant().uuid(),
        name
    );
    Ok(patient("schedule.find", query.fetch_all(tx)).await?.pop().map(ScheduleId))
}
