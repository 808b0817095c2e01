//! Whose sessions these are: what is reported under one counts only where it comes from its executor.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::{ExecutorId, PoolName, SessionId};
use std::collections::HashMap;

/// Whose a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOwner {
    /// The executor's configured name.
    pub executor: ExecutorId,
    /// Its pool.
    pub pool: PoolName,
}

/// The executor and the pool of each of `sessions` that exists, over or not.
///
/// # Errors
/// When the database cannot answer.
pub async fn owners(
    db: &RmDb,
    sessions: &[SessionId],
) -> Result<HashMap<SessionId, SessionOwner>, StoreError> {
    let ids: Vec<_> = sessions.iter().map(|session| session.uuid()).collect();
    let query = sqlx::query!(
        "select id, executor_id, pool from executor_session where id = any ($1)",
        &ids
    );
    let rows = named("session.owners", query.fetch_all(db.pool())).await?;
    let owner = |executor: &str, pool: &str| {
        Some(SessionOwner { executor: executor.parse().ok()?, pool: pool.parse().ok()? })
    };
    let known = rows
        .into_iter()
        .filter_map(|row| Some((SessionId(row.id), owner(&row.executor_id, &row.pool)?)));
    Ok(known.collect())
}
