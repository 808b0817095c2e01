//! From the roll-up: how much there is to read, and days whose attempts have gone.

use super::asked::Asked;
use crate::StoreError;
use crate::statement::patient;
use domain::id::TenantId;
use domain::price::{Amounts, Micros, PriceComparison};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// How many attempts of these tenants ended in a range.
pub(super) async fn attempts(
    tx: &mut PgConnection,
    tenants: &[Uuid],
    [from, until]: [Timestamp; 2],
) -> Result<i64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select coalesce(sum(u.attempts), 0)::bigint as "attempts!" from unnest($1::uuid[]) as t(id)
            cross join lateral (select r.attempts from usage_rollup r
                where r.tenant_id = t.id and r.kind = 'tier' and r.starts_at >= $2 and r.starts_at < $3) u"#,
        tenants,
        from,
        until
    );
    patient("price_dry_run.attempts", query.fetch_one(tx)).await
}

/// What was used in a range, by the sums of each tier.
pub(super) async fn compare(
    tx: &mut PgConnection,
    of: &Asked<'_>,
    [from, until]: [Timestamp; 2],
) -> Result<BTreeMap<Uuid, PriceComparison>, StoreError> {
    let mut compared = BTreeMap::<_, PriceComparison>::new();
    if from >= until {
        return Ok(compared);
    }
    let query = sqlx::query!(
        r#"select u.tenant_id as "tenant_id!", u.value as "tier!", u.price_book as "price_book!",
                sum(u.charged_attempts)::bigint as "charged_attempts!", sum(u.tasks)::bigint as "tasks!",
                sum(u.cpu_millis_ms)::bigint as "cpu_millis_ms!", sum(u.memory_mib_ms)::bigint as "memory_mib_ms!",
                sum(u.disk_mib_ms)::bigint as "disk_mib_ms!", sum(u.iops_ms)::bigint as "iops_ms!", sum(u.port_ms)::bigint as "port_ms!",
                sum(u.attempts_cost)::bigint as "attempts_cost!", sum(u.tasks_cost)::bigint as "tasks_cost!",
                sum(u.fires)::bigint as "fires!", sum(u.stored_byte_days)::bigint as "stored_byte_days!",
                sum(u.fires_cost)::bigint as "fires_cost!", sum(u.stored_cost)::bigint as "stored_cost!"
            from unnest($1::uuid[]) as t(id)
            cross join lateral (select r.* from usage_rollup r
                where r.tenant_id = t.id and r.kind = 'tier' and r.starts_at >= $2 and r.starts_at < $3) u
            group by 1, 2, 3"#,
        of.tenants,
        from,
        until
    );
    for row in patient("price_dry_run.sums", query.fetch_all(tx)).await? {
        let sums = Amounts {
            charged_attempts: row.charged_attempts,
            tasks: row.tasks,
            cpu_millis_ms: row.cpu_millis_ms,
            memory_mib_ms: row.memory_mib_ms,
            disk_mib_ms: row.disk_mib_ms,
            iops_ms: row.iops_ms,
            port_ms: row.port_ms,
            attempts_cost: Micros(row.attempts_cost),
            tasks_cost: Micros(row.tasks_cost),
            fires: row.fires,
            stored_byte_days: row.stored_byte_days,
            fires_cost: Micros(row.fires_cost),
            stored_cost: Micros(row.stored_cost),
            ..Amounts::default()
        };
        let book = row.price_book.parse().ok();
        let book = book.as_ref().and_then(|name| of.known.history.named(name));
        let same = book.is_some_and(|book| book.currency == of.currency);
        let used = compared.entry(TenantId(row.tenant_id).uuid()).or_default();
        used.sums(of.prices, row.tier.parse().ok(), &sums, same);
    }
    Ok(compared)
}
