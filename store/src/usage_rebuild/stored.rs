//! The rows of the roll-up as they are, and what is corrected of them.

use crate::StoreError;
use crate::rollup;
use crate::statement::{named, patient};
use domain::id::TenantId;
use domain::price::{Amounts, Micros, Part, RollupKey};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Rows by their keys, with what attempts add to them.
pub(super) type RollupRows = BTreeMap<RollupKey, Amounts>;

/// Tenants whose attempts are all kept: of deleted ones they are purged, and their sums stay.
pub(super) async fn tenants(
    tx: &mut PgConnection,
    tenant: Option<TenantId>,
) -> Result<BTreeSet<Uuid>, StoreError> {
    let query = sqlx::query_scalar!(
        "select id from tenant where state <> 'deleted' and ($1::uuid is null or id = $1)",
        tenant.map(TenantId::uuid)
    );
    Ok(patient("usage_rebuild.tenants", query.fetch_all(tx)).await?.into_iter().collect())
}

/// The rows of these tenants in a range.
pub(super) async fn rows(
    tx: &mut PgConnection,
    tenants: &BTreeSet<Uuid>,
    [from, until]: [Timestamp; 2],
) -> Result<RollupRows, StoreError> {
    let tenants: Vec<_> = tenants.iter().copied().collect();
    let query = sqlx::query!(
        r#"select u.tenant_id as "tenant_id!", u.starts_at as "starts_at!", u.kind as "kind!", u.key as "key!", u.value as "value!",
                u.others as "others!", u.price_book as "price_book!", u.attempts as "attempts!", u.charged_attempts as "charged_attempts!",
                u.tasks as "tasks!", u.run_ms as "run_ms!", u.cpu_millis_ms as "cpu_millis_ms!", u.memory_mib_ms as "memory_mib_ms!",
                u.disk_mib_ms as "disk_mib_ms!", u.iops_ms as "iops_ms!", u.port_ms as "port_ms!", u.attempts_cost as "attempts_cost!",
                u.tasks_cost as "tasks_cost!", u.fires as "fires!", u.stored_byte_days as "stored_byte_days!", u.fires_cost as "fires_cost!",
                u.stored_cost as "stored_cost!"
            from unnest($1::uuid[]) as t(id)
            cross join unnest(array['tier', 'schedule', 'workflow', 'label']) as k(kind)
            cross join lateral (select r.* from usage_rollup r
                where r.tenant_id = t.id and r.kind = k.kind and r.starts_at >= $2 and r.starts_at < $3) u"#,
        &tenants,
        from,
        until
    );
    let mut rows = RollupRows::new();
    for row in patient("usage_rebuild.rows", query.fetch_all(tx)).await? {
        let part = part(&row.kind, row.key, row.value, row.others)?;
        let price_book = match row.price_book.as_str() {
            "" => None,
            name => Some(name.parse().map_err(|_| malformed("price_book", name))?),
        };
        let tenant = TenantId(row.tenant_id);
        let key = RollupKey { tenant, part, starts_at: row.starts_at, price_book };
        let amounts = Amounts {
            attempts: row.attempts,
            charged_attempts: row.charged_attempts,
            tasks: row.tasks,
            run_ms: row.run_ms,
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
        };
        rows.insert(key, amounts);
    }
    Ok(rows)
}

fn malformed(what: &'static str, value: &str) -> StoreError {
    StoreError::Malformed { what, row: "the roll-up of usage".into(), value: value.to_owned() }
}

fn part(kind: &str, key: String, value: String, others: bool) -> Result<Part, StoreError> {
    match kind {
        "tier" => Ok(Part::Tier(value)),
        "schedule" => Ok(Part::Schedule(value)),
        "workflow" => Ok(Part::Workflow(value)),
        "label" => Ok(Part::Label { key, value: (!others).then_some(value) }),
        other => Err(malformed("kind", other)),
    }
}

/// What is to be added to each row of `before` so that it is as in `after`.
pub(super) fn corrections(before: &RollupRows, after: &RollupRows) -> RollupRows {
    let none = Amounts::default();
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let correction = |key: &RollupKey| {
        let [is, should] = [before, after].map(|rows| rows.get(key).unwrap_or(&none));
        less(should, is)
    };
    let all = keys.into_iter().map(|key| (key.clone(), correction(key)));
    all.filter(|(_, amounts)| *amounts != none).collect()
}

/// What attempts make of one, less the same of another.
fn less(of: &Amounts, other: &Amounts) -> Amounts {
    let minus = i64::saturating_sub;
    Amounts {
        attempts: minus(of.attempts, other.attempts),
        charged_attempts: minus(of.charged_attempts, other.charged_attempts),
        tasks: minus(of.tasks, other.tasks),
        run_ms: minus(of.run_ms, other.run_ms),
        cpu_millis_ms: minus(of.cpu_millis_ms, other.cpu_millis_ms),
        memory_mib_ms: minus(of.memory_mib_ms, other.memory_mib_ms),
        disk_mib_ms: minus(of.disk_mib_ms, other.disk_mib_ms),
        iops_ms: minus(of.iops_ms, other.iops_ms),
        port_ms: minus(of.port_ms, other.port_ms),
        attempts_cost: of.attempts_cost - other.attempts_cost,
        tasks_cost: of.tasks_cost - other.tasks_cost,
        fires: minus(of.fires, other.fires),
        stored_byte_days: minus(of.stored_byte_days, other.stored_byte_days),
        fires_cost: of.fires_cost - other.fires_cost,
        stored_cost: of.stored_cost - other.stored_cost,
    }
}

/// Adds the corrections, and deletes rows of a range that have nothing any more.
pub(super) async fn correct(
    tx: &mut PgConnection,
    corrections: RollupRows,
    [from, until]: [Timestamp; 2],
) -> Result<(), StoreError> {
    let tenants: BTreeSet<_> = corrections.keys().map(|row| row.tenant.uuid()).collect();
    let tenants: Vec<_> = tenants.into_iter().collect();
    rollup::add_all(tx, corrections).await?;
    // Whatever is added up in a row.
    let query = sqlx::query!(
        "delete from usage_rollup u
            where u.tenant_id = any ($1) and u.kind = any ('{tier,schedule,workflow,label}') and u.starts_at >= $2 and u.starts_at < $3
                and u.attempts = 0 and not exists (select from jsonb_each_text(to_jsonb(u)
                    - '{tenant_id,starts_at,kind,key,value,others,price_book}'::text[]) a where a.value <> '0')",
        &tenants,
        from,
        until
    );
    patient("usage_rebuild.delete_empty", query.execute(tx)).await.map(|_| ())
}

/// The currencies of price books, by name.
pub(super) async fn currencies(
    tx: &mut PgConnection,
) -> Result<BTreeMap<String, String>, StoreError> {
    let query = sqlx::query!(
        r#"select name, document ->> 'currency' as "currency!" from price_book order by name limit 10000"#
    );
    let rows = named("usage_rebuild.currencies", query.fetch_all(tx)).await?;
    Ok(rows.into_iter().map(|row| (row.name, row.currency)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tier: &str, attempts: i64) -> (RollupKey, Amounts) {
        let starts_at = Timestamp::UNIX_EPOCH;
        let (tenant, part) = (TenantId(Uuid::nil()), Part::Tier(tier.to_owned()));
        let key = RollupKey { tenant, part, starts_at, price_book: None };
        (key, Amounts { attempts, ..Amounts::default() })
    }

    #[test]
    fn only_what_differs_is_corrected() {
        let before = [row("same", 3), row("wrong", 9), row("too many", 2), row("empty", 0)];
        let after = [row("same", 3), row("wrong", 7), row("missing", 4)];
        let corrected = corrections(&before.into(), &after.into());
        assert_eq!(corrected, [row("wrong", -2), row("too many", -2), row("missing", 4)].into());
    }
}
