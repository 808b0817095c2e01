//! What a tenant's use costs, from the roll-up.

use crate::connect::{AdminDb, ApiDb};
use crate::price_book::{billing_of, book_of};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use domain::id::TenantId;
use domain::price::{Amounts, Billing, Counted, Micros, Month, PriceBook};
use domain::time::Timestamp;

/// Most rows of one answer.
pub const MOST_ROWS: usize = 10_000;

/// The sums of a row of the roll-up.
macro_rules! amounts {
    ($row:ident) => {
        Amounts {
            attempts: $row.attempts,
            charged_attempts: $row.charged_attempts,
            tasks: $row.tasks,
            run_ms: $row.run_ms,
            cpu_millis_ms: $row.cpu_millis_ms,
            memory_mib_ms: $row.memory_mib_ms,
            disk_mib_ms: $row.disk_mib_ms,
            iops_ms: $row.iops_ms,
            port_ms: $row.port_ms,
            attempts_cost: Micros($row.attempts_cost),
            tasks_cost: Micros($row.tasks_cost),
            fires: $row.fires,
            stored_byte_days: $row.stored_byte_days,
            fires_cost: Micros($row.fires_cost),
            stored_cost: Micros($row.stored_cost),
        }
    };
}

/// Which costs.
#[derive(Debug, Clone)]
pub struct CostQuery {
    /// Attempts that ended from here, at the beginning of a quarter of an hour,
    pub from: Timestamp,
    /// to here, excluded.
    pub until: Timestamp,
    /// How long each row is, UTC.
    pub step: Step,
    /// By what the rows are apart.
    pub group: Group,
}

/// How long a row is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::Display,
)]
#[strum(serialize_all = "snake_case")]
pub enum Step {
    /// An hour.
    Hour,
    /// A day.
    Day,
    /// A month.
    Month,
}

/// The order of costs by tenant.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString, strum::Display,
)]
#[strum(serialize_all = "snake_case")]
pub enum TenantOrder {
    /// The highest cost first.
    Cost,
    /// The lowest margin first.
    Margin,
    /// Only what no prices held for, the longest first.
    Unpriced,
}

/// By what rows are apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Group {
    /// The tier of the task.
    Tier,
    /// The schedule that made it or started its run, by id.
    Schedule,
    /// The workflow whose run it is of.
    Workflow,
    /// The value of this label.
    Label(String),
}

/// What attempts of one group in one step cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostRow {
    /// When the step begins.
    pub starts_at: Timestamp,
    /// The group; `None`: what is in none.
    pub group: Option<String>,
    /// Values of a label that are not kept apart.
    pub others: bool,
    /// The currency of the prices that held; `None`: none held.
    pub currency: Option<String>,
    /// The sums.
    pub amounts: Amounts,
}

/// What a tenant used in a range, at the prices of one currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantCostRow {
    /// The tenant.
    pub tenant: TenantId,
    /// Its name; `None` where it was purged.
    pub name: Option<String>,
    /// Its plan now.
    pub plan: Option<String>,
    /// The currency; `None`: no prices held.
    pub currency: Option<String>,
    /// The sums.
    pub amounts: Amounts,
}

/// What each tenant used from `from` to `until`, excluded, at the beginnings of quarters of an hour; a row for each currency.
///
/// # Errors
/// When the database cannot answer.
pub async fn by_tenant(
    db: &AdminDb,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<TenantCostRow>, StoreError> {
    let query = sqlx::query!(
        r#"select u.*, t.name as "name?", t.plan as "plan?"
            from (select u.tenant_id as "tenant_id!", k.document ->> 'currency' as currency, sum(u.attempts)::bigint as "attempts!",
                    sum(u.charged_attempts)::bigint as "charged_attempts!", sum(u.tasks)::bigint as "tasks!", sum(u.run_ms)::bigint as "run_ms!",
                    sum(u.cpu_millis_ms)::bigint as "cpu_millis_ms!", sum(u.memory_mib_ms)::bigint as "memory_mib_ms!",
                    sum(u.disk_mib_ms)::bigint as "disk_mib_ms!", sum(u.iops_ms)::bigint as "iops_ms!", sum(u.port_ms)::bigint as "port_ms!",
                    sum(u.attempts_cost)::bigint as "attempts_cost!", sum(u.tasks_cost)::bigint as "tasks_cost!",
                    sum(u.fires)::bigint as "fires!", sum(u.stored_byte_days)::bigint as "stored_byte_days!",
                    sum(u.fires_cost)::bigint as "fires_cost!", sum(u.stored_cost)::bigint as "stored_cost!"
                from usage_rollup u left join price_book k on k.name = u.price_book
                where u.kind = 'tier' and u.starts_at >= $1 and u.starts_at < $2
                group by 1, 2) u
            left join tenant t on t.id = u."tenant_id!""#,
        from,
        until
    );
    let rows = patient("cost.by_tenant", query.fetch_all(db.pool())).await?;
    let row = rows.into_iter().map(|row| TenantCostRow {
        tenant: TenantId(row.tenant_id),
        name: row.name,
        plan: row.plan,
        currency: row.currency,
        amounts: amounts!(row),
    });
    Ok(row.collect())
}

/// The costs that a query asks for, in order; one row more than [`MOST_ROWS`] where there are more.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    query: &CostQuery,
) -> Result<Vec<CostRow>, StoreError> {
    let (kind, key) = match &query.group {
        Group::Tier => ("tier", ""),
        Group::Schedule => ("schedule", ""),
        Group::Workflow => ("workflow", ""),
        Group::Label(key) => ("label", key.as_str()),
    };
    let step: &str = query.step.into();
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select date_trunc($6, u.starts_at at time zone 'UTC') at time zone 'UTC' as "starts_at!", nullif(u.value, '') as group,
                u.others as "others!", (select k.document ->> 'currency' from price_book k where k.name = u.price_book) as currency,
                sum(u.attempts)::bigint as "attempts!", sum(u.charged_attempts)::bigint as "charged_attempts!", sum(u.tasks)::bigint as "tasks!",
                sum(u.run_ms)::bigint as "run_ms!", sum(u.cpu_millis_ms)::bigint as "cpu_millis_ms!",
                sum(u.memory_mib_ms)::bigint as "memory_mib_ms!", sum(u.disk_mib_ms)::bigint as "disk_mib_ms!",
                sum(u.iops_ms)::bigint as "iops_ms!", sum(u.port_ms)::bigint as "port_ms!",
                sum(u.attempts_cost)::bigint as "attempts_cost!", sum(u.tasks_cost)::bigint as "tasks_cost!",
                sum(u.fires)::bigint as "fires!", sum(u.stored_byte_days)::bigint as "stored_byte_days!",
                sum(u.fires_cost)::bigint as "fires_cost!", sum(u.stored_cost)::bigint as "stored_cost!"
            from usage_rollup u
            where u.tenant_id = $1 and u.kind = $2 and u.starts_at >= $4 and u.starts_at < $5 and u.key = $3
            group by 1, 2, 3, 4 order by 1, 3, 2 nulls first, 4 nulls first limit $7"#,
        scope.tenant().uuid(),
        kind,
        key,
        query.from,
        query.until,
        step,
        MOST_ROWS as i64 + 1
    );
    let rows = patient("cost.list", query.fetch_all(&mut *tx)).await?;
    let row = rows.into_iter().map(|row| CostRow {
        starts_at: row.starts_at,
        group: row.group,
        others: row.others,
        currency: row.currency,
        amounts: amounts!(row),
    });
    Ok(row.collect())
}

/// What was used at prices in `currency`, from each of two instants on, in one pass.
///
/// # Errors
/// When the database cannot answer.
pub async fn used(
    db: &ApiDb,
    scope: &TenantScope,
    currency: &str,
    [first, second]: [Timestamp; 2],
) -> Result<[Month; 2], StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select coalesce(sum(u.attempts_cost) filter (where u.starts_at >= $3), 0)::bigint as "first_attempts!",
                coalesce(sum(u.tasks) filter (where u.starts_at >= $3), 0)::bigint as "first_tasks!",
                coalesce(sum(u.tasks_cost) filter (where u.starts_at >= $3), 0)::bigint as "first_charge!",
                coalesce(sum(u.fires) filter (where u.starts_at >= $3), 0)::bigint as "first_fires!",
                coalesce(sum(u.fires_cost) filter (where u.starts_at >= $3), 0)::bigint as "first_fires_charge!",
                coalesce(sum(u.stored_cost) filter (where u.starts_at >= $3), 0)::bigint as "first_stored!",
                coalesce(sum(u.attempts_cost) filter (where u.starts_at >= $4), 0)::bigint as "second_attempts!",
                coalesce(sum(u.tasks) filter (where u.starts_at >= $4), 0)::bigint as "second_tasks!",
                coalesce(sum(u.tasks_cost) filter (where u.starts_at >= $4), 0)::bigint as "second_charge!",
                coalesce(sum(u.fires) filter (where u.starts_at >= $4), 0)::bigint as "second_fires!",
                coalesce(sum(u.fires_cost) filter (where u.starts_at >= $4), 0)::bigint as "second_fires_charge!",
                coalesce(sum(u.stored_cost) filter (where u.starts_at >= $4), 0)::bigint as "second_stored!"
            from usage_rollup u
            where u.tenant_id = $1 and u.kind = 'tier' and u.starts_at >= least($3::timestamptz, $4)
                and u.price_book in (select k.name from price_book k where k.document ->> 'currency' = $2)"#,
        scope.tenant().uuid(),
        currency,
        first,
        second
    );
    let rows = patient("cost.used", query.fetch_all(&mut *tx)).await?;
    let counted =
        |pieces: i64, charge| Counted { pieces: pieces.unsigned_abs(), charge: Micros(charge) };
    let month = |attempts, tasks, fires, stored| Month {
        attempts: Micros(attempts),
        tasks,
        fires,
        stored: Micros(stored),
    };
    let both = rows.first().map(|row| {
        [
            month(
                row.first_attempts,
                counted(row.first_tasks, row.first_charge),
                counted(row.first_fires, row.first_fires_charge),
                row.first_stored,
            ),
            month(
                row.second_attempts,
                counted(row.second_tasks, row.second_charge),
                counted(row.second_fires, row.second_fires_charge),
                row.second_stored,
            ),
        ]
    });
    Ok(both.unwrap_or_default())
}

/// How a tenant is billed now, and its price book; `None`: not at all.
///
/// # Errors
/// When the database cannot answer, or what is stored cannot be read.
pub async fn billing(
    db: &ApiDb,
    scope: &TenantScope,
) -> Result<Option<(Billing, PriceBook)>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select p.billing::text as "billing!", k.document::text as "document!"
            from tenant t join plan p on p.name = t.plan join price_book k on k.name = p.price_book
            where t.id = $1"#,
        scope.tenant().uuid()
    );
    let row = named("cost.billing", query.fetch_optional(&mut *tx)).await?;
    row.map(|row| Ok((billing_of(&row.billing)?, book_of(&row.document)?))).transpose()
}
