//! Finds the leases whose task was cancelled.
use crate::StoreError;
use crate::connect::RmDb;
use crate::statement::named;
use domain::id::{SessionId, TaskId, TenantId};
use domain::task::LeaseKey;

/// The leases of `sessions` in `cancelling`: their executors are to be told, until they confirm.
///
/// # Errors
/// When the database cannot answer.
pub async fn stops(db: &RmDb, sessions: &[SessionId]) -> Result<Vec<LeaseKey>, StoreError> {
    let ids: Vec<_> = sessions.iter().map(|s| s.uuid()).collect();
    let query = sqlx::query!(
        r#"select t.tenant_id, t.id, t.attempt, t.session_id as "session_id!"
            from task t
            where t.session_id = any ($1) and t.state = 'cancelling' limit 10000"#,
        &ids
    );
    let rows = named("lease.stops", query.fetch_all(db.pool())).await?;
    Ok(rows
        .into_iter()
        .map(|row| LeaseKey {
            tenant: TenantId(row.tenant_id),
            task: TaskId(row.id),
            attempt: row.attempt.unsigned_abs(),
            session: SessionId(row.session_id),
        })
        .collect())
}
