//! Tasks that have not ended, by state.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use std::time::Duration;

/// Tasks of one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliveTasks {
    /// The state.
    pub state: String,
    /// Whether they are to be run at most once.
    pub at_most_once: bool,
    /// How many.
    pub tasks: u64,
}

/// How many tasks live, of all tenants; `None` where counting them takes longer than `limit`.
///
/// # Errors
/// When the database cannot answer.
pub async fn alive(db: &AdminDb, limit: Duration) -> Result<Option<Vec<AliveTasks>>, StoreError> {
    let mut tx = db.begin_within(limit).await?;
    let query = sqlx::query!(
        r#"select state as "state!", at_most_once as "at_most_once!", tasks as "tasks!" from berth_tasks_alive()"#
    );
    let rows = match named("installation.alive", query.fetch_all(&mut *tx)).await {
        Ok(rows) => rows,
        Err(StoreError::Timeout) => return Ok(None),
        Err(error) => return Err(error),
    };
    let tasks = rows.into_iter().map(|row| AliveTasks {
        state: row.state,
        at_most_once: row.at_most_once,
        tasks: row.tasks.unsigned_abs(),
    });
    Ok(Some(tasks.collect()))
}
