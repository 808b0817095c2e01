//! What a pool allows, for resource managers, who tell their executors.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::PoolName;
use domain::pool::PoolPolicy;

/// What `pool` allows; nothing where there is no such pool.
///
/// # Errors
/// When the database cannot answer.
pub async fn policy(db: &RmDb, pool: &PoolName) -> Result<PoolPolicy, StoreError> {
    let query = sqlx::query_as!(
        PoolPolicy,
        "select command_network, private_targets from pool where name = $1",
        pool.as_str()
    );
    Ok(named("pool.policy", query.fetch_optional(db.pool())).await?.unwrap_or_default())
}
