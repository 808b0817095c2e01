//! Creates a key.

use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::time::Timestamp;
use serde_json::json;

/// A key to store; its text is known only to its owner.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its public part: 12 of `a-z2-7`.
    pub id: String,
    /// The tenant.
    pub tenant: TenantId,
    /// What its owner calls it.
    pub name: String,
    /// HMAC-SHA256 of the whole key, 32 bytes.
    pub hash: Vec<u8>,
    /// Of `read`, `submit`, `admin`; at least one.
    pub scopes: Vec<String>,
    /// When it ends by itself; never when left out.
    pub expires_at: Option<Timestamp>,
}

/// Stores a key that `by` makes.
///
/// # Errors
/// When the tenant does not exist or the database cannot answer.
pub async fn create(db: &AdminDb, key: NewKey, by: By) -> Result<(), StoreError> {
    let details = json!({"name": key.name, "scopes": key.scopes, "expires_at": key.expires_at, "user": null, "replaced_by": null});
    let (tenant, act) = (key.tenant, Act::new(AuditAction::KeyCreate, &key.id).to(details));
    let mut tx = named("begin", db.pool().begin()).await?;
    let query = sqlx::query!(
        "insert into api_key (id, tenant_id, name, hash, scopes, expires_at) values ($1, $2, $3, $4, $5, $6)",
        key.id,
        key.tenant.uuid(),
        key.name,
        key.hash,
        &key.scopes,
        key.expires_at
    );
    named("key.create", query.execute(&mut *tx)).await?;
    audit::record_and_commit(tx, tenant, by, act).await
}
