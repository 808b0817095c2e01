//! A tenant's runs, latest first.

use super::record::{RunRecord, RunRow};
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::task::first_id_of;
use crate::{MOST_READ, PageOf, StoreError, TenantScope};
use chrono::TimeDelta;
use domain::id::{ScheduleId, WorkflowRunId};
use domain::time::Timestamp;
use domain::workflow::RunState;
use uuid::Uuid;

/// Which runs. Everything left out means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// In one of these states.
    pub states: Vec<RunState>,
    /// Of the definition of this name.
    pub workflow: Option<String>,
    /// Started by this schedule.
    pub schedule: Option<ScheduleId>,
    /// Started at or after this.
    pub created_from: Option<Timestamp>,
    /// Started before this.
    pub created_before: Option<Timestamp>,
    /// Older than this one: the cursor.
    pub before: Option<WorkflowRunId>,
}

impl RunFilter {
    /// The range of the key, the end excluded: no id is the largest or the smallest. Ids are made on another clock than `created_at`; a
    /// day's leeway keeps the range one of the key.
    fn ids(&self) -> [Uuid; 2] {
        let day = TimeDelta::days(1);
        let from = self.created_from.map(|from| first_id_of(from - day)).unwrap_or_default();
        let before = self.created_before.map_or(Uuid::max(), |before| first_id_of(before + day));
        [from, self.before.map_or(before, |id| id.uuid().min(before))]
    }
}

/// The run, with its plan.
///
/// # Errors
/// When the database cannot answer.
pub async fn get(
    db: &ApiDb,
    scope: &TenantScope,
    id: WorkflowRunId,
) -> Result<Option<RunRecord>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let query = sqlx::query_as!(
        RunRow,
        "select tenant_id, id, workflow, version, state, input, plan, tasks, total, ended, failed, labels::text, created_at, deadline_at,
                finished_at, reason, rerun_of, tasks_since, started_by, schedule_id, schedule_name, due_at
            from workflow_run where tenant_id = $1 and id = $2",
        scope.tenant().uuid(),
        id.uuid()
    );
    let row = patient("run.get", query.fetch_optional(&mut *tx)).await?;
    row.map(TryInto::try_into).transpose()
}

/// Runs without their plans, tasks and inputs, latest first, at most `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(
    db: &ApiDb,
    scope: &TenantScope,
    filter: &RunFilter,
    limit: u32,
) -> Result<PageOf<RunRecord, WorkflowRunId>, StoreError> {
    let mut tx = crate::task::scoped_read(db, scope).await?;
    let [from, before] = filter.ids();
    let bound = sqlx::query_scalar!(
        "select id from workflow_run where tenant_id = $1 and id < $2 and id >= $4 order by id desc offset $3 limit 1",
        scope.tenant().uuid(),
        before,
        MOST_READ - 1,
        from
    );
    let bound = patient("run.bound", bound.fetch_optional(&mut *tx)).await?;
    let states: Vec<String> = filter.states.iter().map(|state| state.as_str().to_owned()).collect();
    let query = sqlx::query_as!(
        RunRow,
        r#"select tenant_id, id, workflow, version, state, null::text as input, '' as "plan!", '{}'::uuid[] as "tasks!", total, ended, failed,
                labels::text, created_at, deadline_at, finished_at, reason, rerun_of, tasks_since, started_by, schedule_id, schedule_name, due_at
            from workflow_run
            where tenant_id = $1 and id < $2 and id >= $3
                and (cardinality($4::text[]) = 0 or state = any ($4)) and ($5::text is null or workflow = $5)
                and ($7::uuid is null or schedule_id = $7)
                and ($8::timestamptz is null or created_at >= $8) and ($9::timestamptz is null or created_at < $9)
            order by id desc limit $6"#,
        scope.tenant().uuid(),
        before,
        bound.unwrap_or(from),
        &states,
        filter.workflow.as_deref(),
        i64::from(limit),
        filter.schedule.map(|schedule| schedule.uuid()),
        filter.created_from,
        filter.created_before
    );
    let rows = patient("run.list", query.fetch_all(&mut *tx)).await?;
    let rows: Vec<RunRecord> =
        rows.into_iter().map(RunRecord::try_from).collect::<Result<_, _>>()?;
    Ok(PageOf::until(bound.map(WorkflowRunId), rows, limit))
}
