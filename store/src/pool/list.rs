//! Every pool, by name, for those who ask. They are few: a list ends at 1000.

use super::record::{PoolRecord, Row};
use crate::StoreError;
use crate::connect::{AdminDb, SchedulerDb, SubmitDb};
use crate::hot::kept;
use crate::statement::named;
use domain::id::PoolName;

/// More pools than an installation has.
const MOST: i64 = 1000;

/// A pool as the batcher sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchPool {
    /// Its name.
    pub name: PoolName,
    /// Nothing of it may be handed out.
    pub paused: bool,
}

/// Every pool's name, for submits: a paused pool takes tasks, too.
///
/// # Errors
/// When the database cannot answer.
pub async fn list(db: &SubmitDb) -> Result<Vec<PoolName>, StoreError> {
    let query = sqlx::query_scalar!("select name from pool order by name limit $1", MOST);
    let names = named("pool.list", query.fetch_all(db.pool())).await?;
    // The table's check admits only names that parse.
    Ok(names.into_iter().filter_map(|name| name.parse().ok()).collect())
}

/// The pools for the batcher.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_dispatch(db: &SchedulerDb) -> Result<Vec<DispatchPool>, StoreError> {
    let query = sqlx::query!(
        r#"select name, paused_at is not null as "paused!" from pool order by name limit $1"#,
        MOST
    );
    let rows = kept!(db.dispatch(), "pool.list_for_dispatch", query.fetch_all);
    let pool = |name: String, paused| Some(DispatchPool { name: name.parse().ok()?, paused });
    Ok(rows.into_iter().filter_map(|row| pool(row.name, row.paused)).collect())
}

/// The pools with all that is known of them.
///
/// # Errors
/// When the database cannot answer.
pub async fn list_for_operator(db: &AdminDb) -> Result<Vec<PoolRecord>, StoreError> {
    let query = sqlx::query_as!(
        Row,
        "select name, command_network, private_targets, paused_at, paused_because from pool order by name limit $1",
        MOST
    );
    let rows = named("pool.list_for_operator", query.fetch_all(db.pool())).await?;
    rows.into_iter().map(TryInto::try_into).collect()
}
