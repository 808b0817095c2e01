//! Creates an operator's key.

use super::OperatorKeyInfo;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::audit::PLATFORM;
use domain::time::Timestamp;
use serde_json::json;

/// A key to store; its text is known only to its owner.
#[derive(Debug, Clone)]
pub struct NewOperatorKey {
    /// Its public part: 12 of `a-z2-7`.
    pub id: String,
    /// Whose it is; unique among keys that are neither revoked nor replaced.
    pub name: String,
    /// HMAC-SHA256 of the whole key, 32 bytes.
    pub hash: Vec<u8>,
    /// Of `read`, `admin`; at least one.
    pub scopes: Vec<String>,
    /// When it ends by itself; never when left out.
    pub expires_at: Option<Timestamp>,
}

/// Stores a key, in the request of `by`; `None` when the name is taken.
///
/// # Errors
/// When the database cannot answer.
pub async fn create(
    db: &AdminDb,
    key: NewOperatorKey,
    by: By,
) -> Result<Option<OperatorKeyInfo>, StoreError> {
    let details = json!({"name": key.name, "scopes": key.scopes, "expires_at": key.expires_at});
    let act = Act::new(AuditAction::OperatorKeyCreate, &key.id).to(details);
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query_as!(
        OperatorKeyInfo,
        "insert into operator_key (id, name, hash, scopes, expires_at) values ($1, $2, $3, $4, $5)
            on conflict (name) where revoked_at is null and replaced_by is null do nothing
            returning id, name, scopes, created_at, expires_at, last_used_at, replaced_by",
        key.id,
        key.name,
        key.hash,
        &key.scopes,
        key.expires_at
    );
    let Some(made) = named("operator_key.create", query.fetch_optional(&mut *tx)).await? else {
        return Ok(None);
    };
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Some(made))
}
