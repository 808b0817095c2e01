//! Reads what the tasks of a page run, as far as it has room.
//!
//! Called for lists that are asked for it, after [`super::find`]. The database counts the bytes and sends no more than a page of
//! them: a page of the largest tasks would be 50 MB.

use super::TaskRecord;
use crate::connect::ApiDb;
use crate::statement::patient;
use crate::{StoreError, TenantScope};
use domain::task::Run;
use std::collections::HashMap;

/// Fills in what each of `tasks` runs, the newest first, until `bytes` are read; those after it are taken off. Says whether there
/// were any.
///
/// # Errors
/// When the database cannot answer.
pub async fn add_runs(
    db: &ApiDb,
    scope: &TenantScope,
    tasks: &mut Vec<TaskRecord>,
    bytes: usize,
) -> Result<bool, StoreError> {
    let ids: Vec<_> = tasks.iter().map(|task| task.id.uuid()).collect();
    let mut tx = super::scoped_read(db, scope).await?;
    let query = sqlx::query!(
        r#"select r.id as "id!", r.run as "run!"
            from (select s.id, s.run,
                    sum(octet_length(s.run)) over (order by s.id desc rows unbounded preceding) - octet_length(s.run) as before
                from task_spec s where s.id = any ($1) and s.tenant_id = $2) r
            where r.before < $3"#,
        &ids,
        scope.tenant().uuid(),
        i64::try_from(bytes).unwrap_or(i64::MAX)
    );
    let rows = patient("task.runs", query.fetch_all(&mut *tx)).await?;
    let mut runs: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row.run)).collect();
    let Some(oldest) = runs.keys().min().copied() else { return Ok(false) };
    let all = tasks.len();
    tasks.retain(|task| task.id.uuid() >= oldest);
    for task in &mut *tasks {
        task.run = runs.remove(&task.id.uuid()).and_then(|run| Run::from_json(&run).ok());
    }
    Ok(tasks.len() < all)
}
