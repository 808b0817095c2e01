//! Notes which executors get nothing but probes, for the doctor. What is in force is in the memory of their resource manager.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::{NodeId, SessionId};

/// Whether a session is in quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionQuarantine {
    /// The session.
    pub session: SessionId,
    /// Its executor gets nothing but probes.
    pub held: bool,
}

/// Notes of each session of `owner` whether it is in quarantine; a session that is over stays as it ended.
///
/// # Errors
/// When the database cannot answer.
pub async fn quarantine(
    db: &RmDb,
    owner: NodeId,
    sessions: &[SessionQuarantine],
) -> Result<(), StoreError> {
    let ids: Vec<_> = sessions.iter().map(|of| of.session.uuid()).collect();
    let held: Vec<bool> = sessions.iter().map(|of| of.held).collect();
    let query = sqlx::query!(
        "update executor_session s set quarantined_at = case when i.held then coalesce(s.quarantined_at, now()) end
            from unnest($1::uuid[], $2::boolean[]) as i(id, held)
            where s.id = any (array[i.id]) and s.owner = $3 and s.state <> 'over'",
        &ids,
        &held,
        owner.uuid()
    );
    named("session.quarantine", query.execute(db.pool())).await.map(|_| ())
}
