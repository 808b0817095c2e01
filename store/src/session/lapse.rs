//! Ends sessions whose term has passed: the executor is gone, or has fenced itself long before.
//!
//! Called by every resource manager's reaper, several at once. The session row is locked before its
//! leases are read, and a claim takes the same row `for share`: no lease can appear in between.
//! A lapsed session is normal (deploys, lost nodes) and is never logged above info.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::{named, repeated};
use crate::task::transition::lease_lapsed_of_sessions;
use domain::id::SessionId;
use domain::time::millis;
use std::time::Duration;

/// What one round did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lapsed {
    /// Sessions ended.
    pub sessions: Vec<SessionId>,
    /// Leases that ended with them.
    pub leases: u64,
    /// True where the database started less than a term ago: then nothing is ended, because nobody could renew while it was away.
    pub too_early: bool,
}

/// Ends up to `limit` sessions whose term has passed.
///
/// # Errors
/// When the database cannot answer; then nothing was ended.
pub async fn lapse(db: &RmDb, term: Duration, limit: i64) -> Result<Lapsed, StoreError> {
    let query = sqlx::query!(
        r#"select clock_timestamp() < pg_postmaster_start_time() + $1 * interval '1 millisecond' as "early!",
                exists (select from executor_session o where o.ended_at is null and o.expires_at <= now()) as "any!""#,
        millis(term) as f64
    );
    // One row; and mostly there is nothing to end.
    let guard = named("session.lapse_guard", query.fetch_all(db.pool())).await?;
    if let Some(guard) = guard.first()
        && (guard.early || !guard.any)
    {
        return Ok(Lapsed { too_early: guard.early, ..Lapsed::default() });
    }
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let query = sqlx::query_scalar!(
            "update executor_session s set state = 'over', ended_at = clock_timestamp(), end_reason = 'lapsed'
                where s.id = any (array(
                    select o.id from executor_session o
                    where o.ended_at is null and o.expires_at <= now()
                    order by o.expires_at limit $1 for update skip locked))
                returning s.id",
            limit
        );
        let ids = named("session.lapse", query.fetch_all(&mut *tx)).await?;
        if ids.is_empty() {
            return Ok(Lapsed::default());
        }
        let leases = lease_lapsed_of_sessions(&mut tx, &ids).await?;
        named("commit", tx.commit()).await?;
        Ok(Lapsed { sessions: ids.into_iter().map(SessionId).collect(), leases, too_early: false })
    })
    .await
}
