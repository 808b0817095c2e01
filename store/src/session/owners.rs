//! Whose sessions these are: what is reported under one counts only where it comes from its executor.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::{ExecutorId, PoolName, SessionId};
use std::collections::HashMap;

/// The executor and the pool of each of `sessions` that exists, over or not.
///
/// # Errors
/// When the database cannot answer.
pub async fn owners(
    db: &RmDb,
    sessions: &[SessionId],
) -> Result<HashMap<SessionId, (ExecutorId, PoolName)>, StoreError> {
    let ids: Vec<_> = sessions.iter().map(|session| session.uuid()).collect();
    let query = sqlx::query!(
        "select id, executor_id, pool from executor_session where id = any ($1)",
        &ids
    );
    let rows = named("session.owners", query.fetch_all(db.pool())).await?;
    let owner = |executor: String, pool: String| Some((executor.parse().ok()?, pool.parse().ok()?));
    let known = rows
        .into_iter()
        .filter_map(|row| Some((SessionId(row.id), owner(row.executor_id, row.pool)?)));
    Ok(known.collect())
}
