//! Counts tasks that ended into their runs, and ends the runs of which none is left.
//!
//! Called by the schedulers, several at once: each takes other rows of the tally. The count and the end of a run commit together, so that
//! a crash at any step counts nothing twice.

use super::nodes::ends;
use super::stop::REPLACED;
use crate::StoreError;
use crate::connect::SchedulerDb;
use crate::statement::{named, repeated};
use crate::workflow::definition::read_plan;
use domain::id::{TaskId, TenantId, WorkflowRunId};
use domain::task::State;
use domain::time::Timestamp;
use domain::workflow::{RunState, outcome};
use sqlx::PgConnection;
use uuid::Uuid;

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountedEnds {
    /// Rows of the tally that were counted.
    pub rows: u64,
    /// Runs that ended.
    pub runs: u64,
}

/// A run of which no task is left.
struct LastEnd {
    tenant: TenantId,
    run: WorkflowRunId,
    failed: i64,
    /// It was stopped, at its deadline or before.
    stopped_by_deadline: Option<bool>,
    /// Nodes of another run are taken over.
    is_rerun: bool,
    /// A newer run of its schedule took its place.
    is_replaced: bool,
}

/// Counts up to `limit` rows of the tally.
///
/// # Errors
/// When the database cannot answer; then nothing was counted.
pub async fn count_ends(db: &SchedulerDb, limit: i64) -> Result<CountedEnds, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let query = sqlx::query!(
            r#"with counted as (
                    delete from workflow_tally t using (
                        select seq from workflow_tally order by seq limit $1 for update skip locked) d
                    where t.seq = any (array[d.seq])
                    returning t.tenant_id, t.run_id, t.ended, t.failed
                ), summed as materialized (
                    select c.tenant_id, c.run_id, count(*)::bigint as rows, sum(c.ended)::bigint as ended, sum(c.failed)::bigint as failed
                    from counted c group by c.tenant_id, c.run_id order by c.tenant_id, c.run_id
                ), changed as (
                    update workflow_run r set ended = r.ended + s.ended, failed = r.failed + s.failed
                    from summed s
                    where r.tenant_id = any (array[s.tenant_id]) and r.id = s.run_id and r.ended + s.ended <= r.total
                    returning r.tenant_id, r.id, r.total, r.ended, r.failed, r.stopped_at, r.deadline_at, r.stop_reason, r.rerun_of
                )
                select s.rows as "rows!", c.tenant_id as "tenant_id?", c.id as "id?", c.ended >= c.total as "is_last?",
                    c.failed as "failed?", c.stopped_at >= c.deadline_at as "at_deadline?", c.stopped_at is not null as "is_stopped?",
                    c.rerun_of is not null as "is_rerun?", c.stop_reason as "stop_reason?"
                from summed s left join changed c on c.tenant_id = s.tenant_id and c.id = s.run_id"#,
            limit
        );
        let rows = named("run.count_ends", query.fetch_all(&mut *tx)).await?;
        let mut counted = CountedEnds::default();
        let mut last = Vec::new();
        for row in rows {
            counted.rows += row.rows.unsigned_abs();
            if let (Some(tenant), Some(id), Some(true)) = (row.tenant_id, row.id, row.is_last) {
                last.push(LastEnd {
                    tenant: TenantId(tenant),
                    run: WorkflowRunId(id),
                    failed: row.failed.unwrap_or_default(),
                    stopped_by_deadline: row
                        .is_stopped
                        .filter(|stopped| *stopped)
                        .map(|_| row.at_deadline.unwrap_or(false)),
                    is_rerun: row.is_rerun.unwrap_or(false),
                    is_replaced: row.stop_reason.as_deref() == Some(REPLACED),
                });
            }
        }
        if counted.rows == 0 {
            return Ok(counted);
        }
        for end in &last {
            finish(&mut tx, end).await?;
            counted.runs += 1;
        }
        named("commit", tx.commit()).await?;
        Ok(counted)
    })
    .await
}

async fn finish(tx: &mut PgConnection, end: &LastEnd) -> Result<(), StoreError> {
    let (state, reason) = match end.stopped_by_deadline {
        // As of a task: a success that was faster than the cancel counts.
        _ if end.failed == 0 && !end.is_rerun => (RunState::Succeeded, None),
        Some(true) => (RunState::Expired, Some("its deadline passed".to_owned())),
        Some(false) if end.is_replaced => (RunState::Cancelled, Some(REPLACED.to_owned())),
        Some(false) => (RunState::Cancelled, Some("cancelled by its owner".to_owned())),
        None => judged(&mut *tx, end).await?,
    };
    let query = sqlx::query!(
        "with unlimited as (delete from concurrency_limit l where l.tenant_id = $1 and l.key = $5)
            update workflow_run r set state = $3, reason = $4, finished_at = greatest(now(), r.created_at)
            where r.tenant_id = $1 and r.id = $2 and r.finished_at is null",
        end.tenant.uuid(),
        end.run.uuid(),
        state.as_str(),
        reason,
        end.run.to_string()
    );
    named("run.finish", query.execute(tx)).await.map(|_| ())
}

/// The end of a run in which tasks failed, or that took some over: it may be that other nodes handled that.
async fn judged(
    tx: &mut PgConnection,
    end: &LastEnd,
) -> Result<(RunState, Option<String>), StoreError> {
    let query = sqlx::query!(
        "select plan, tasks, tasks_since from workflow_run where tenant_id = $1 and id = $2",
        end.tenant.uuid(),
        end.run.uuid()
    );
    let row = named("run.judge", query.fetch_optional(&mut *tx)).await?;
    let row = row.ok_or(StoreError::Contended)?;
    // A plan that this release cannot read: tasks of the run failed, so the run failed. It must end.
    let Ok(plan) = read_plan(&end.run.to_string(), &row.plan) else {
        return Ok((RunState::Failed, None));
    };
    let since: Timestamp = row.tasks_since;
    let of = |task: Uuid| (end.tenant, TaskId(task), since);
    let ended = ends(tx, &row.tasks.into_iter().map(of).collect::<Vec<_>>()).await?;
    // What a re-run took over and is in no history any more had ended well enough to be taken over.
    let state =
        |end: Option<(State, Option<String>)>| end.map_or(State::Succeeded, |(state, _)| state);
    let states: Vec<State> = ended.into_iter().map(state).collect();
    let end = outcome(&plan, &states);
    let reason = (end == RunState::Failed).then(|| {
        let failed = plan.nodes.iter().zip(&states);
        let failed =
            failed.filter(|(_, state)| !matches!(state, State::Succeeded | State::Skipped));
        let names: Vec<String> =
            failed.map(|(node, state)| format!("`{}` {state}", node.name)).collect();
        match names.len() {
            0..=5 => names.join(", "),
            more => format!("{} and {} more", names[..5].join(", "), more - 5),
        }
    });
    Ok((end, reason))
}
