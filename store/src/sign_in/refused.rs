//! Writes down that somebody tried to sign in and could not.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::id::{TenantId, UserId};
use serde_json::json;

/// A password was compared and is not right; `account` is whose it would have been, where there is one. What was typed is not
/// kept: it may be a password in the wrong field. The same work for an account that is there and for one that is not.
///
/// # Errors
/// When the database cannot answer.
pub async fn refused(
    db: &SubmitDb,
    account: Option<(TenantId, UserId)>,
    peer: Option<String>,
    by: By,
) -> Result<(), StoreError> {
    let tx = named("begin", db.pool().begin()).await?;
    let target = account.map(|(_, user)| user.to_string());
    let after = Some(json!({"peer": peer}));
    let act = Act { action: AuditAction::SessionRefused, target, before: None, after };
    audit::record_and_commit(tx, account.map_or(PLATFORM, |(tenant, _)| tenant), by, act).await
}
