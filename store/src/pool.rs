//! Pools: groups of executors. A task goes to one.

use crate::StoreError;
use crate::audit::{self, Act, By};
use crate::connect::{AdminDb, RmDb, SchedulerDb, SubmitDb};
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PoolName;
use domain::pool::PoolPolicy;
use serde_json::{Value, json};

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

/// Stores `pool` where there is none, and sets what is given of its policy; answers what holds now.
///
/// # Errors
/// When the database cannot answer.
pub async fn set(
    db: &AdminDb,
    pool: &PoolName,
    command_network: Option<bool>,
    private_targets: Option<bool>,
) -> Result<PoolPolicy, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let read = sqlx::query_as!(
        PoolPolicy,
        "select command_network, private_targets from pool where name = $1 for update",
        pool.as_str()
    );
    let before = named("pool.lock", read.fetch_optional(&mut *tx)).await?;
    let query = sqlx::query_as!(
        PoolPolicy,
        "insert into pool as p (name, command_network, private_targets)
            values ($1, coalesce($2, false), coalesce($3, false))
            on conflict (name) do update set command_network = coalesce($2, p.command_network),
                private_targets = coalesce($3, p.private_targets)
            returning command_network, private_targets",
        pool.as_str(),
        command_network,
        private_targets
    );
    let after = named("pool.set", query.fetch_one(&mut *tx)).await?;
    if before != Some(after) {
        let mut act = Act::new("pool.set", "pool", pool).to(told(after));
        act.before = before.map(told);
        audit::write(&mut tx, PLATFORM, By::SYSTEM, act).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(after)
}

fn told(policy: PoolPolicy) -> Value {
    json!({"command_network": policy.command_network, "private_targets": policy.private_targets})
}

/// The table's check admits only names that parse.
fn parse(names: Vec<String>) -> Vec<PoolName> {
    names.into_iter().filter_map(|name| name.parse().ok()).collect()
}
