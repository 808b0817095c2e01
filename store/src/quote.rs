//! What a quote is made of: the prices and the zone of a tenant, what like tasks used lately, and which parents there are.
//!
//! Nothing is stored, and no table of live tasks is read but by id: what was used is in the roll-up.

use crate::connect::ApiDb;
use crate::price_book::{book_of, name_of};
use crate::statement::{named, patient};
use crate::{StoreError, TenantScope};
use chrono::TimeDelta;
use domain::id::{PriceBookName, TaskId};
use domain::invoice::BillingZone;
use domain::price::{PriceBook, QUARTER_S, quarter};
use domain::time::Timestamp;
use std::collections::HashSet;
use uuid::Uuid;

/// How far back it is looked at what was used.
pub const RECENT: TimeDelta = TimeDelta::days(7);

/// The prices of a tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct QuoteTerms {
    /// The database's time.
    pub now: Timestamp,
    /// Of its months.
    pub zone: BillingZone,
    /// By what its plan is billed; `None`: not at all.
    pub book: Option<QuoteBook>,
}

/// A price book in a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteBook {
    /// Its name.
    pub name: PriceBookName,
    /// Counts its changes.
    pub version: i64,
    /// Its prices.
    pub book: PriceBook,
}

/// Which tasks are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Like {
    /// Those of this schedule, by id, and of the runs that it starts.
    Schedule(String),
    /// Those of runs of this workflow.
    Workflow(String),
    /// Those of this tier; empty: those that gave resources.
    Tier(String),
}

impl Like {
    const fn parts(&self) -> (&'static str, &String) {
        match self {
            Self::Schedule(id) => ("schedule", id),
            Self::Workflow(name) => ("workflow", name),
            Self::Tier(tier) => ("tier", tier),
        }
    }
}

/// What like tasks used lately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecentUse {
    /// Attempts that ended.
    pub attempts: u64,
    /// Tasks, each with its first attempt.
    pub tasks: u64,
    /// How long the attempts are billed for together.
    pub run_ms: u64,
}

impl RecentUse {
    /// How long the attempts of a task are billed for together, on average, rounded to the nearest ms; `None`: there was none.
    #[must_use]
    pub fn ms_of_a_task(&self) -> Option<u64> {
        // Retries of tasks that began before.
        let tasks = if self.tasks == 0 { self.attempts } else { self.tasks };
        self.run_ms.saturating_add(tasks / 2).checked_div(tasks)
    }
}

/// The prices of a tenant.
///
/// # Errors
/// When the database cannot answer, or what is stored cannot be read.
pub async fn terms(db: &ApiDb, scope: &TenantScope) -> Result<QuoteTerms, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select now() as "now!", b.zone as "zone?", k.name as "name?", k.version as "version?", k.document::text as document
            from tenant t
            join plan p on p.name = t.plan
            left join tenant_billing b on b.tenant_id = t.id
            left join price_book k on k.name = p.price_book
            where t.id = $1"#,
        scope.tenant().uuid()
    );
    let row = named("quote.terms", query.fetch_optional(&mut *tx)).await?;
    let row = row.ok_or(StoreError::Contended)?;
    let malformed = |zone: &str| StoreError::Malformed {
        what: "zone",
        row: "how a tenant is billed".into(),
        value: zone.to_owned(),
    };
    let zone = row.zone.map(|zone| zone.parse().map_err(|_| malformed(&zone)));
    let book = match (row.name, row.version, row.document) {
        (Some(name), Some(version), Some(document)) => {
            Some(QuoteBook { name: name_of(name)?, version, book: book_of(&document)? })
        }
        _ => None,
    };
    Ok(QuoteTerms { now: row.now, zone: zone.transpose()?.unwrap_or_default(), book })
}

/// What tasks used in the last [`RECENT`] that are like each of `alike`, in their order.
///
/// # Errors
/// When the database cannot answer.
pub async fn recent_use(
    db: &ApiDb,
    scope: &TenantScope,
    alike: &[Like],
    now: Timestamp,
) -> Result<Vec<RecentUse>, StoreError> {
    let (kinds, values): (Vec<_>, Vec<_>) =
        alike.iter().map(Like::parts).map(|(kind, value)| (kind.to_owned(), value.clone())).unzip();
    let mut tx = crate::task::scoped_read(db, scope).await?;
    // Each quarter by itself, so that what others used is not read: a tenant may have thousands of schedules.
    let query = sqlx::query!(
        r#"select i.place as "place!", coalesce(sum(u.attempts), 0)::bigint as "attempts!", coalesce(sum(u.tasks), 0)::bigint as "tasks!",
                coalesce(sum(u.run_ms), 0)::bigint as "run_ms!"
            from unnest($2::text[], $3::text[]) with ordinality as i(kind, value, place)
            cross join generate_series($4::timestamptz, $5::timestamptz, $6::bigint * interval '1 second') as q(at)
            cross join lateral (
                select r.attempts, r.tasks, r.run_ms from usage_rollup r
                where r.tenant_id = $1 and r.kind = i.kind and r.starts_at = q.at and r.key = '' and r.value = i.value
                limit 1000) u
            group by i.place"#,
        scope.tenant().uuid(),
        &kinds,
        &values,
        quarter(now - RECENT),
        quarter(now),
        QUARTER_S
    );
    let mut used = vec![RecentUse::default(); alike.len()];
    for row in patient("quote.recent_use", query.fetch_all(&mut *tx)).await? {
        let place = usize::try_from(row.place - 1).unwrap_or(usize::MAX);
        if let Some(of) = used.get_mut(place) {
            *of = RecentUse {
                attempts: row.attempts.unsigned_abs(),
                tasks: row.tasks.unsigned_abs(),
                run_ms: row.run_ms.unsigned_abs(),
            };
        }
    }
    Ok(used)
}

/// Those of `tasks` that the tenant does not have.
///
/// # Errors
/// When the database cannot answer.
pub async fn unknown_tasks(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &HashSet<TaskId>,
) -> Result<HashSet<TaskId>, StoreError> {
    if tasks.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Uuid> = tasks.iter().map(|task| task.uuid()).collect();
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_scalar!(
        r#"select i.id as "id!" from unnest($2::uuid[]) as i(id)
            cross join lateral (
                (select true from task t where t.tenant_id = $1 and t.id = i.id limit 1)
                union all
                (select true from task_history e where e.tenant_id = $1 and e.id = i.id limit 1)
                limit 1) f"#,
        scope.tenant().uuid(),
        &ids
    );
    let known = patient("quote.parents", query.fetch_all(&mut *tx)).await?;
    let known: HashSet<TaskId> = known.into_iter().map(TaskId).collect();
    Ok(tasks.difference(&known).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_task_is_an_average_in_whole_ms() {
        let of = |attempts, tasks, run_ms| RecentUse { attempts, tasks, run_ms }.ms_of_a_task();
        assert_eq!(of(0, 0, 0), None);
        assert_eq!(of(3, 2, 1001), Some(501));
        assert_eq!(of(3, 0, 900), Some(300), "retries of tasks that began before");
        assert_eq!(of(2, 2, u64::MAX), Some(u64::MAX / 2));
    }
}
