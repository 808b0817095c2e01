//! Writes down what was counted.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::rate::Hour;
use domain::time::Timestamp;
use uuid::Uuid;

/// What a tenant has submitted in an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourlyUse {
    /// The tenant.
    pub tenant: TenantId,
    /// When.
    pub hour: Hour,
    /// Tasks.
    pub used: u64,
}

/// Writes these down; a count that is there already stays where it is higher. A tenant that is gone is passed over.
///
/// # Errors
/// When the database cannot answer.
pub async fn checkpoint(db: &SubmitDb, uses: &[HourlyUse]) -> Result<(), StoreError> {
    let tenants: Vec<Uuid> = uses.iter().map(|u| u.tenant.uuid()).collect();
    let hours: Vec<Timestamp> = uses.iter().map(|u| u.hour.start()).collect();
    let used: Vec<i64> = uses.iter().map(|u| i64::try_from(u.used).unwrap_or(i64::MAX)).collect();
    // In order, so that two processes wait for each other in one direction only.
    let query = sqlx::query!(
        "insert into rate_checkpoint as c (tenant_id, hour, used)
            select t.id, i.hour, i.used
            from unnest($1::uuid[], $2::timestamptz[], $3::bigint[]) as i(tenant_id, hour, used)
            join tenant t on t.id = i.tenant_id
            order by t.id, i.hour
            on conflict (tenant_id, hour) do update set used = excluded.used, written_at = now() where c.used < excluded.used",
        &tenants,
        &hours,
        &used
    );
    named("rate.checkpoint", query.execute(db.pool())).await.map(|_| ())
}
