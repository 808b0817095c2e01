//! `for_each`: a node becomes one task for each item, and waits for them.

use super::read::GatedTask;
use crate::StoreError;
use crate::statement::named;
use crate::task::submit::{FiredBy, NewTask, SubmitAnswer, in_transaction};
use crate::workflow::definition::read_plan;
use crate::workflow::run::{RunOf, item};
use domain::id::ScheduleId;
use domain::task::Run;
use sqlx::PgConnection;
use uuid::Uuid;

/// Stores a task for each of `items`, and lets `task` wait for them; how many. `None`: a spend cap has no room for all; undo it.
pub(super) async fn expand(
    tx: &mut PgConnection,
    task: &GatedTask,
    items: Vec<Run>,
) -> Result<Option<u64>, StoreError> {
    let (tenant, id) = task.key;
    let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let query = sqlx::query!(
        r#"update workflow_run r set total = r.total + $3 where r.tenant_id = $1 and r.id = $2
            returning r.plan, r.tasks, r.workflow, r.version, r.started_by, r.schedule_id, r.schedule_name, r.due_at"#,
        tenant.uuid(),
        task.run.uuid(),
        count
    );
    let row = named("gate.run_of_items", query.fetch_optional(&mut *tx)).await?;
    let row = row.ok_or(StoreError::Contended)?;
    let plan = read_plan(&task.run.to_string(), &row.plan)?;
    let place = row.tasks.iter().position(|of| *of == id.uuid());
    let fired = row.schedule_id.zip(row.schedule_name).zip(row.due_at);
    let of = RunOf {
        tenant,
        workflow: row.workflow.zip(row.version),
        plan,
        input: None,
        started_by: row.started_by,
        traceparent: None,
        fired: fired.map(|((schedule, name), due_at)| FiredBy {
            schedule: ScheduleId(schedule),
            name,
            due_at,
        }),
    };
    let Some(node) = place.and_then(|place| of.plan.nodes.get(place)) else {
        return Err(StoreError::Contended);
    };
    let one = |(place, run)| item(&of, node, (task.run, id, place), run);
    let tasks: Vec<NewTask> = items.into_iter().enumerate().map(one).collect();
    let answers = in_transaction(&mut *tx, &tasks).await?;
    if answers.iter().any(|answer| matches!(answer, SubmitAnswer::OverCap(_))) {
        return Ok(None);
    }
    let ids: Vec<Uuid> = tasks.iter().map(|task| task.id.uuid()).collect();
    let query = sqlx::query!(
        "with items as (
                insert into workflow_items (tenant_id, run_id, task_id, tasks) values ($1, $3, $2, $4)
            )
            update task t set gate = 'items', needs = $5, undecided = $5, release_delay_ms = 0, wake_at = null
            where t.tenant_id = $1 and t.id = $2 and t.gate = 'closed' and t.needs is null",
        tenant.uuid(),
        id.uuid(),
        task.run.uuid(),
        &ids,
        count
    );
    named("gate.expand", query.execute(tx)).await?;
    Ok(Some(tasks.len() as u64))
}
