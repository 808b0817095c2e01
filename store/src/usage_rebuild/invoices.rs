//! The final invoices against the roll-up. An invoice never changes: what differs is for a person to see.

use super::report::{CostCorrection, InvoiceDifference};
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, patient};
use domain::id::TenantId;
use domain::price::Micros;
use domain::time::Timestamp;
use futures::TryStreamExt;
use uuid::Uuid;

struct InvoiceRow {
    tenant_id: Uuid,
    number: String,
    state: String,
    currency: String,
    starts_at: Timestamp,
    ends_at: Timestamp,
    billed: i64,
    counted: i64,
}

/// The final and paid invoices of a range whose lines of attempts and tasks are not what the roll-up has, once these corrections are
/// made that it does not have yet.
///
/// # Errors
/// When the database cannot answer.
pub async fn differing(
    db: &SchedulerDb,
    [from, until]: [Timestamp; 2],
    tenant: Option<TenantId>,
    corrections: &[CostCorrection],
) -> Result<Vec<InvoiceDifference>, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_scalar!("select set_config('statement_timeout', '10min', true)");
    named("usage_rebuild.patience", query.fetch_one(&mut *tx)).await?;
    let query = sqlx::query_as!(
        InvoiceRow,
        r#"select i.tenant_id, i.number, i.state, i.currency, i.starts_at, i.ends_at,
                (select coalesce(sum((l.line ->> 'amount')::bigint), 0)::bigint from jsonb_array_elements(i.document -> 'lines') l(line)
                    where l.line ->> 'kind' in ('attempts', 'tasks', 'fires', 'stored')) as "billed!",
                (select coalesce(sum(u.attempts_cost + u.tasks_cost + u.fires_cost + u.stored_cost), 0)::bigint from usage_rollup u join price_book k on k.name = u.price_book
                    where u.tenant_id = i.tenant_id and u.kind = 'tier' and u.starts_at >= i.starts_at and u.starts_at < i.ends_at
                        and k.document ->> 'currency' = i.currency) as "counted!"
            from invoice i
            where i.state <> 'void' and i.ends_at > $1 and i.starts_at < $2 and ($3::uuid is null or i.tenant_id = $3)
            order by i.tenant_id, i.sequence"#,
        from,
        until,
        tenant.map(TenantId::uuid)
    );
    let read = async {
        let mut differing = Vec::new();
        let mut rows = query.fetch(&mut *tx);
        while let Some(row) = rows.try_next().await? {
            differing.extend(difference(row, corrections));
        }
        Ok(differing)
    };
    patient("usage_rebuild.invoices", read).await
}

fn difference(row: InvoiceRow, corrections: &[CostCorrection]) -> Option<InvoiceDifference> {
    let tenant = TenantId(row.tenant_id);
    let billed_here = |correction: &&CostCorrection| {
        correction.tenant == tenant
            && correction.currency == row.currency
            && (row.starts_at..row.ends_at).contains(&correction.starts_at)
    };
    let to_come: Micros =
        corrections.iter().filter(billed_here).map(|correction| correction.cost).sum();
    let (billed, counted) = (Micros(row.billed), Micros(row.counted) + to_come);
    (billed != counted).then_some(InvoiceDifference {
        tenant,
        number: row.number,
        state: row.state,
        currency: row.currency,
        billed,
        counted,
    })
}
