//! The api processes that live: what divides a limit among them while nothing counts for all.
//!
//! Each writes its row every 5 s; one that was not seen for 15 s counts no more. Nothing but shares depends on it: a wrong count
//! for a few seconds admits a little too much or too little.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::NodeId;

/// Says that `node` lives; answers how many do, `node` included.
///
/// # Errors
/// When the database cannot answer.
pub async fn beat(db: &SubmitDb, node: NodeId) -> Result<u32, StoreError> {
    // Its own row is not seen by the count: both look at the same moment before.
    let query = sqlx::query_scalar!(
        r#"with beat as (
                insert into api_replica (id) values ($1) on conflict (id) do update set seen_at = now()
            )
            select count(*) as "others!" from api_replica where id <> $1 and seen_at > now() - interval '15 seconds'"#,
        node.uuid()
    );
    let others = named("replica.beat", query.fetch_one(db.pool())).await?;
    Ok(u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1))
}

/// Takes the row of `node` away, on shutdown.
///
/// # Errors
/// When the database cannot answer; then it counts no more after 15 s.
pub async fn leave(db: &SubmitDb, node: NodeId) -> Result<(), StoreError> {
    let query = sqlx::query!("delete from api_replica where id = $1", node.uuid());
    named("replica.leave", query.execute(db.pool())).await.map(|_| ())
}

/// Deletes rows of processes that were not seen for an hour; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &SubmitDb) -> Result<u64, StoreError> {
    let query = sqlx::query!("delete from api_replica where seen_at < now() - interval '1 hour'");
    Ok(named("replica.prune", query.execute(db.pool())).await?.rows_affected())
}
