//! Adds sums to those that are stored.

use crate::StoreError;
use crate::statement::named;
use domain::price::{Amounts, MOST_VALUES, Part, Rollup, RollupKey};
use domain::time::Timestamp;
use sqlx::PgConnection;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Rows of one statement.
const BATCH: usize = 5000;

/// A label's key in a quarter of an hour of a tenant.
pub(crate) type LabelPlace = (Uuid, String, Timestamp);

/// The values of labels that are kept apart.
pub(crate) type StoredValues = BTreeMap<LabelPlace, BTreeSet<String>>;

pub(super) async fn write(tx: &mut PgConnection, rollup: Rollup) -> Result<(), StoreError> {
    let rows = rollup.rows();
    let labels: BTreeSet<_> = rows.keys().filter_map(label_of).map(|(label, _)| label).collect();
    let stored = match labels.is_empty() {
        true => StoredValues::new(),
        false => stored_values(tx, &labels).await?,
    };
    add_all(tx, bounded(rows, stored)).await
}

/// Adds sums to those that are stored.
pub(crate) async fn add_all(
    tx: &mut PgConnection,
    rows: impl IntoIterator<Item = (RollupKey, Amounts)>,
) -> Result<(), StoreError> {
    let rows: Vec<_> = rows.into_iter().collect();
    for batch in rows.chunks(BATCH) {
        add(tx, batch).await?;
    }
    Ok(())
}

/// The label and its value, of a row of one that is kept apart.
pub(crate) fn label_of(row: &RollupKey) -> Option<(LabelPlace, String)> {
    match &row.part {
        Part::Label { key, value: Some(value) } => {
            Some(((row.tenant.uuid(), key.clone(), row.starts_at), value.clone()))
        }
        _ => None,
    }
}

/// The rows, with at most [`MOST_VALUES`] values of each label in a quarter; the amounts of all others are added to one more row.
pub(crate) fn bounded(
    rows: BTreeMap<RollupKey, Amounts>,
    mut values: StoredValues,
) -> BTreeMap<RollupKey, Amounts> {
    let mut bounded = BTreeMap::<_, Amounts>::new();
    for (mut row, amounts) in rows {
        if let Some((label, value)) = label_of(&row) {
            let kept = values.entry(label).or_default();
            if kept.len() < MOST_VALUES {
                kept.insert(value);
            } else if !kept.contains(&value)
                && let Part::Label { value, .. } = &mut row.part
            {
                *value = None;
            }
        }
        bounded.entry(row).or_default().add(&amounts);
    }
    bounded
}

/// The values of labels that are kept apart already.
async fn stored_values(
    tx: &mut PgConnection,
    labels: &BTreeSet<LabelPlace>,
) -> Result<StoredValues, StoreError> {
    let tenants: Vec<_> = labels.iter().map(|(tenant, ..)| *tenant).collect();
    let keys: Vec<_> = labels.iter().map(|(_, key, _)| key.clone()).collect();
    let quarters: Vec<_> = labels.iter().map(|(.., starts_at)| *starts_at).collect();
    let query = sqlx::query!(
        r#"select i.tenant_id as "tenant_id!", i.key as "key!", i.starts_at as "starts_at!", u.value as "value!"
            from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as i(tenant_id, key, starts_at)
            cross join lateral (
                select distinct r.value from usage_rollup r
                where r.tenant_id = i.tenant_id and r.kind = 'label' and r.starts_at = i.starts_at and r.key = i.key and not r.others) u"#,
        &tenants,
        &keys,
        &quarters
    );
    let mut values = StoredValues::new();
    for row in named("rollup.values", query.fetch_all(tx)).await? {
        values.entry((row.tenant_id, row.key, row.starts_at)).or_default().insert(row.value);
    }
    Ok(values)
}

/// The columns of a part: kind, key, value, and whether it is all other values.
fn columns(part: &Part) -> (&'static str, &str, &str, bool) {
    match part {
        Part::Tier(tier) => ("tier", "", tier, false),
        Part::Schedule(schedule) => ("schedule", "", schedule, false),
        Part::Workflow(workflow) => ("workflow", "", workflow, false),
        Part::Label { key, value: Some(value) } => ("label", key, value, false),
        Part::Label { key, value: None } => ("label", key, "", true),
    }
}

async fn add(tx: &mut PgConnection, rows: &[(RollupKey, Amounts)]) -> Result<(), StoreError> {
    let tenants: Vec<_> = rows.iter().map(|(row, _)| row.tenant.uuid()).collect();
    let starts: Vec<_> = rows.iter().map(|(row, _)| row.starts_at).collect();
    let text =
        |of: fn(&RollupKey) -> String| rows.iter().map(|(row, _)| of(row)).collect::<Vec<_>>();
    let others: Vec<_> = rows.iter().map(|(row, _)| columns(&row.part).3).collect();
    let number =
        |of: fn(&Amounts) -> i64| rows.iter().map(|(_, sums)| of(sums)).collect::<Vec<_>>();
    let query = sqlx::query!(
        "insert into usage_rollup as u (tenant_id, starts_at, kind, key, value, others, price_book, attempts, charged_attempts, tasks,
                run_ms, cpu_millis_ms, memory_mib_ms, disk_mib_ms, iops_ms, port_ms, attempts_cost, tasks_cost,
                fires, stored_byte_days, fires_cost, stored_cost)
            select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::bigint[],
                $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[],
                $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[])
            on conflict (tenant_id, kind, starts_at, key, value, others, price_book) do update set
                attempts = u.attempts + excluded.attempts, charged_attempts = u.charged_attempts + excluded.charged_attempts,
                tasks = u.tasks + excluded.tasks, run_ms = u.run_ms + excluded.run_ms,
                cpu_millis_ms = u.cpu_millis_ms + excluded.cpu_millis_ms, memory_mib_ms = u.memory_mib_ms + excluded.memory_mib_ms,
                disk_mib_ms = u.disk_mib_ms + excluded.disk_mib_ms, iops_ms = u.iops_ms + excluded.iops_ms,
                port_ms = u.port_ms + excluded.port_ms, attempts_cost = u.attempts_cost + excluded.attempts_cost,
                tasks_cost = u.tasks_cost + excluded.tasks_cost, fires = u.fires + excluded.fires,
                stored_byte_days = u.stored_byte_days + excluded.stored_byte_days, fires_cost = u.fires_cost + excluded.fires_cost,
                stored_cost = u.stored_cost + excluded.stored_cost",
        &tenants,
        &starts,
        &text(|row| columns(&row.part).0.to_owned()),
        &text(|row| columns(&row.part).1.to_owned()),
        &text(|row| columns(&row.part).2.to_owned()),
        &others,
        &text(|row| row.price_book.as_ref().map(ToString::to_string).unwrap_or_default()),
        &number(|sums| sums.attempts),
        &number(|sums| sums.charged_attempts),
        &number(|sums| sums.tasks),
        &number(|sums| sums.run_ms),
        &number(|sums| sums.cpu_millis_ms),
        &number(|sums| sums.memory_mib_ms),
        &number(|sums| sums.disk_mib_ms),
        &number(|sums| sums.iops_ms),
        &number(|sums| sums.port_ms),
        &number(|sums| sums.attempts_cost.0),
        &number(|sums| sums.tasks_cost.0),
        &number(|sums| sums.fires),
        &number(|sums| sums.stored_byte_days),
        &number(|sums| sums.fires_cost.0),
        &number(|sums| sums.stored_cost.0)
    );
    named("rollup.add", query.execute(tx)).await.map(|_| ())
}
