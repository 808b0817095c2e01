//! Lets schedules fire again.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use serde_json::json;

/// Ends the hold, in the request of `by`: schedulers fire what is due from their next beat on. False where nothing was held.
///
/// # Errors
/// When the database cannot answer.
pub async fn resume(db: &AdminDb, by: By) -> Result<bool, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_scalar!("select berth_schedules_held()");
    let because = named("installation.held", query.fetch_optional(&mut *tx)).await?.flatten();
    let query = sqlx::query_scalar!(r#"select berth_schedules_resume() as "resumed!""#);
    if !named("installation.resume", query.fetch_one(&mut *tx)).await? {
        return Ok(false);
    }
    let act = Act::new(AuditAction::InstallationResume, "schedules");
    audit::record_and_commit(tx, PLATFORM, by, act.from(json!({ "held_because": because })))
        .await?;
    Ok(true)
}
