//! What the batcher reads of the limits of the keys it meets.

use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::named;
use domain::batch::ConcurrencyKey;
use domain::id::TenantId;

/// The limits that are stored for `keys`, in no order; of every other one task runs at a time.
///
/// # Errors
/// When the database cannot answer.
pub async fn limits(
    db: &SchedulerDb,
    keys: &[(TenantId, ConcurrencyKey)],
) -> Result<Vec<((TenantId, ConcurrencyKey), u64)>, StoreError> {
    let (tenants, names): (Vec<_>, Vec<_>) =
        keys.iter().map(|(tenant, key)| (tenant.uuid(), key.to_string())).unzip();
    let query = sqlx::query!(
        r#"select l.tenant_id as "tenant_id!", l.key as "key!", l.running as "running!"
            from unnest($1::uuid[], $2::text[]) as k(tenant_id, key)
            cross join lateral (select c.tenant_id, c.key, c.running from concurrency_limit c
                where c.tenant_id = k.tenant_id and c.key = k.key limit 1) l"#,
        &tenants,
        &names
    );
    let rows = named("concurrency.limits", query.fetch_all(db.dispatch_pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let key = ConcurrencyKey(row.key.into());
            ((TenantId(row.tenant_id), key), row.running.unsigned_abs().into())
        })
        .collect())
}
