//! What a tenant used: the sum of its attempts, in integers.

use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use chrono::NaiveDate;
use domain::resources::Tier;

/// One tier on one day (UTC, by the attempts' ends).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The day.
    pub day: NaiveDate,
    /// `None`: tasks that gave resources instead of a tier.
    pub tier: Option<Tier>,
    /// All attempts that ended, charged or not.
    pub attempts: i64,
    /// Those that are billed.
    pub charged_attempts: i64,
    /// Billed time in ms.
    pub run_ms: i64,
    /// Sum of millicores x ms.
    pub cpu_millis_ms: i64,
    /// Sum of MiB x ms.
    pub memory_mib_ms: i64,
}

/// Usage from `from` to `to`, both included, by day and tier.
///
/// # Errors
/// When the database cannot answer.
pub async fn by_tier_and_day(
    db: &ApiDb,
    scope: &TenantScope,
    from: NaiveDate,
    to: NaiveDate,
) -> Result<Vec<UsageRow>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select (ended_at at time zone 'UTC')::date as "day!", tier::text as "tier?",
                count(*) as "attempts!", count(*) filter (where charged) as "charged_attempts!",
                sum(usage_ms)::bigint as "run_ms!", sum(usage_ms * cpu_millis)::bigint as "cpu_millis_ms!",
                sum(usage_ms * memory_mib)::bigint as "memory_mib_ms!"
            from attempt
            where tenant_id = $1 and ended_at >= $2::date::timestamp at time zone 'UTC'
                and ended_at < ($3::date + 1)::timestamp at time zone 'UTC'
            group by 1, 2 order by 1, 2 limit 10000"#,
        scope.tenant().uuid(),
        from,
        to
    );
    let rows = patient("usage.by_tier_and_day", query.fetch_all(&mut *tx)).await?;
    Ok(rows
        .into_iter()
        .map(|row| UsageRow {
            day: row.day,
            tier: row.tier.and_then(|tier| tier.parse().ok()),
            attempts: row.attempts,
            charged_attempts: row.charged_attempts,
            run_ms: row.run_ms,
            cpu_millis_ms: row.cpu_millis_ms,
            memory_mib_ms: row.memory_mib_ms,
        })
        .collect())
}
