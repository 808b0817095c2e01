//! Ends sessions, and with them their leases.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use crate::task::transition::lease_lapsed_of_sessions;
use domain::epoch::Epoch;
use domain::id::{NodeId, SessionId};
use uuid::Uuid;

/// Ends `session`, which `owner` holds under `epoch`; leases it still has lapse in the same transaction.
/// Says how many lapsed, or `None` where the session was not the owner's any more.
///
/// # Errors
/// When the database cannot answer; then nothing was ended.
pub async fn end(
    db: &RmDb,
    owner: NodeId,
    session: SessionId,
    epoch: Epoch,
    reason: &str,
) -> Result<Option<u64>, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let query = sqlx::query_scalar!(
            "update executor_session set state = 'over', ended_at = clock_timestamp(), end_reason = $4
                where id = $1 and owner = $2 and owner_epoch = $3 and state <> 'over' returning id",
            session.uuid(),
            owner.uuid(),
            epoch.0,
            reason
        );
        let Some(id): Option<Uuid> = named("session.end", query.fetch_optional(&mut *tx)).await? else {
            return Ok(None);
        };
        let lapsed = lease_lapsed_of_sessions(&mut tx, &[id]).await?;
        named("commit", tx.commit()).await?;
        Ok(Some(lapsed))
    })
    .await
}
