//! Pools: groups of executors. A task goes to one.

use crate::connect::SubmitDb;
use crate::statement::named;
use crate::{StoreError, connect::SchedulerDb};
use domain::id::PoolName;

/// Every pool's name, sorted; at most 1000.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &SubmitDb) -> Result<Vec<PoolName>, StoreError> {
    let query = sqlx::query_scalar!("select name from pool order by name limit 1000");
    Ok(parse(named("pool.list", query.fetch_all(db.pool())).await?))
}

/// The same, for the scheduler.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_dispatch(db: &SchedulerDb) -> Result<Vec<PoolName>, StoreError> {
    let query = sqlx::query_scalar!("select name from pool order by name limit 1000");
    Ok(parse(named("pool.list", query.fetch_all(db.pool())).await?))
}

/// The table's check admits only names that parse.
fn parse(names: Vec<String>) -> Vec<PoolName> {
    names.into_iter().filter_map(|name| name.parse().ok()).collect()
}
