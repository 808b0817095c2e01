//! Limits that nobody can work with. The checks of their tables keep them out; this is for what came in past them.

use super::Check;
use super::{Finding, one};
use crate::StoreError;
use crate::statement::patient;
use sqlx::PgConnection;

pub(super) const CHECKS: [Check; 1] = [Check::LimitsMalformed];

/// The ranges are those of `domain::plan`.
pub(super) async fn check(tx: &mut PgConnection) -> Result<Vec<Finding>, StoreError> {
    let query = sqlx::query!(
        r#"select count(*) as "count!", min(b.what) as example from (
                select 'plan ' || p.name as what from plan p
                where coalesce(p.submits_per_second between 1 and 1000000 and p.submit_burst between 1 and 10000000
                    and p.submits_per_hour between 0 and 2000000000 and p.running_tasks between 1 and 10000000
                    and p.backlog between 1 and 100000000 and p.schedules between 0 and 10000000
                    and p.payload_bytes between 1024 and 16777216 and p.stored_output_bytes between 0 and 1125899906842624
                    and p.retention_days between 1 and 3650 and p.weight > 0 and p.weight <= 1000 and p.flexible is not null,
                    false) is false
                union all
                select 'tenant ' || t.id from tenant t
                where t.state not in ('active', 'suspended', 'deleted') or t.state is null
                    or t.weight is not null and not (t.weight > 0 and t.weight <= 1000)
                union all
                select 'concurrency key of tenant ' || c.tenant_id from concurrency_limit c
                where coalesce(c.running between 0 and 1000000, false) is false
            ) b"#
    );
    let row = patient("doctor.limits", query.fetch_optional(tx)).await.and_then(one)?;
    Ok(vec![Finding { check: Check::LimitsMalformed, count: row.count, example: row.example }])
}
