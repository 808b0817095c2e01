//! What a tenant looks at first: what of it is live, how the newest of its finished tasks went, which quotas are nearly used.
//!
//! Called by the api. The rule: it reads a bounded number of rows, whatever waits and whatever history holds.

mod recent;

pub use recent::{MOST_RECENT, Recent};

use crate::connect::ApiDb;
use crate::scoped::scoped_read;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::plan::Quota;
use domain::task::State;
use domain::time::Timestamp;
use sqlx::PgConnection;

/// Live tasks that are counted at most.
pub const MOST_LIVE: u32 = 10_000;

/// The figures of a tenant.
#[derive(Debug, Clone)]
pub struct Overview {
    /// When they were read.
    pub now: Timestamp,
    /// Live tasks by state, those of [`MOST_LIVE`] at most.
    pub states: Vec<(State, u64)>,
    /// Of these, those that have not started although their start deadline is over.
    pub overdue: u64,
    /// Whether all live tasks are counted.
    pub is_complete: bool,
    /// The newest finished tasks.
    pub recent: Recent,
    /// Quotas of which 80 % or more were used when the leader last counted.
    pub nearly_used: Vec<Quota>,
}

/// The figures of `scope`.
///
/// # Errors
/// When the database cannot answer.
pub async fn overview(db: &ApiDb, scope: &TenantScope) -> Result<Overview, StoreError> {
    let mut tx = scoped_read(db, scope).await?;
    let (now, states, overdue) = live(&mut tx, scope).await?;
    let recent = recent::read(&mut tx, scope, now).await?;
    let nearly_used = nearly_used(&mut tx, scope).await?;
    let counted: u64 = states.iter().map(|(_, tasks)| tasks).sum();
    let is_complete = counted < u64::from(MOST_LIVE);
    Ok(Overview { now, states, overdue, is_complete, recent, nearly_used })
}

type Live = (Timestamp, Vec<(State, u64)>, u64);

async fn live(tx: &mut PgConnection, scope: &TenantScope) -> Result<Live, StoreError> {
    let query = sqlx::query!(
        r#"select now() as "now!", s.state as "state?", coalesce(s.tasks, 0) as "tasks!", coalesce(s.overdue, 0) as "overdue!"
            from (select 1) one
            left join (
                select t.state::text as state, count(*) as tasks,
                    count(*) filter (where t.state in ('ready', 'queued') and t.start_deadline < now()) as overdue
                from (select l.state, l.start_deadline from task l where l.tenant_id = $1 order by l.id limit $2) t
                group by t.state
                ) s on true
            order by s.state"#,
        scope.tenant().uuid(),
        i64::from(MOST_LIVE)
    );
    let rows = patient("overview.live", query.fetch_all(tx)).await?;
    let now = rows.first().map_or(Timestamp::UNIX_EPOCH, |row| row.now);
    let mut states = Vec::new();
    let mut overdue = 0;
    for row in rows {
        // The row that says only what time it is.
        let Some(state) = row.state else { continue };
        let state = state.parse().map_err(|_| StoreError::Malformed {
            what: "task.state",
            row: scope.tenant().to_string(),
            value: state.clone(),
        })?;
        states.push((state, row.tasks.unsigned_abs()));
        overdue += row.overdue.unsigned_abs();
    }
    Ok((now, states, overdue))
}

async fn nearly_used(tx: &mut PgConnection, scope: &TenantScope) -> Result<Vec<Quota>, StoreError> {
    let query = sqlx::query_scalar!(
        "select quota from tenant_quota_level where tenant_id = $1 and above order by quota limit 20",
        scope.tenant().uuid()
    );
    let names = patient("overview.nearly_used", query.fetch_all(tx)).await?;
    let named = |name: String| Quota::ALL.into_iter().find(|quota| quota.to_string() == name);
    Ok(names.into_iter().filter_map(named).collect())
}
