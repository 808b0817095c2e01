//! Deletes counts of hours that are over.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;

/// Deletes counts of hours that began more than 2 hours ago, at most `limit`; says how many.
///
/// # Errors
/// When the database cannot answer.
pub async fn prune(db: &SubmitDb, limit: i64) -> Result<u64, StoreError> {
    let query = sqlx::query!(
        "delete from rate_checkpoint where ctid = any (array(
                select o.ctid from rate_checkpoint o
                where o.hour < now() - interval '2 hours'
                order by o.hour limit $1))",
        limit
    );
    Ok(named("rate.prune", query.execute(db.pool())).await?.rows_affected())
}
