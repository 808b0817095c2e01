//! Finds sessions that hold a lease past its hard end.

use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::SessionId;

/// Sessions among `sessions` with a lease past cap + kill grace + 30 s, or past cancel + grace + 30 s. Their
/// executor did not do what it must: the session is to be fenced.
///
/// # Errors
/// When the database cannot answer.
pub async fn overdue(db: &RmDb, sessions: &[SessionId]) -> Result<Vec<SessionId>, StoreError> {
    let ids: Vec<_> = sessions.iter().map(|s| s.uuid()).collect();
    let query = sqlx::query_scalar!(
        r#"select distinct t.session_id as "id!" from task t where t.session_id = any ($1) and t.wake_at <= now()"#,
        &ids
    );
    let ids = named("lease.overdue", query.fetch_all(db.pool())).await?;
    Ok(ids.into_iter().map(SessionId).collect())
}
