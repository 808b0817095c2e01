//! Stores a pool, or changes what it allows.

use super::pause::lock;
use super::record::{PoolRecord, Row};
use crate::StoreError;
use crate::audit::{self, Act, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::PoolName;
use domain::pool::PoolPolicy;
use serde_json::{Value, json};

/// Stores `pool` where there is none, and sets what is given of its policy; answers how it stands now.
///
/// # Errors
/// When the database cannot answer.
pub async fn set(
    db: &AdminDb,
    pool: &PoolName,
    command_network: Option<bool>,
    private_targets: Option<bool>,
    by: By,
) -> Result<PoolRecord, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let before = lock(&mut tx, pool).await?.map(|before| before.policy);
    let query = sqlx::query_as!(
        Row,
        "insert into pool as p (name, command_network, private_targets)
            values ($1, coalesce($2, false), coalesce($3, false))
            on conflict (name) do update set command_network = coalesce($2, p.command_network),
                private_targets = coalesce($3, p.private_targets)
            returning name, command_network, private_targets, paused_at, paused_because",
        pool.as_str(),
        command_network,
        private_targets
    );
    let after: PoolRecord = named("pool.set", query.fetch_one(&mut *tx)).await?.try_into()?;
    if before != Some(after.policy) {
        let mut act = Act::new("pool.set", "pool", pool).to(told(after.policy));
        act.before = before.map(told);
        audit::write(&mut tx, PLATFORM, by, act).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(after)
}

fn told(policy: PoolPolicy) -> Value {
    json!({"command_network": policy.command_network, "private_targets": policy.private_targets})
}
