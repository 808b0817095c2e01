//! Looks a key up by its public part, before its tenant is known.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::TenantId;
use domain::time::Timestamp;

/// A stored key.
#[derive(Debug, Clone)]
pub struct KeyRecord {
    /// Its public part.
    pub id: String,
    /// Whose it is.
    pub tenant: TenantId,
    /// False once the tenant is suspended or deleted.
    pub tenant_active: bool,
    /// HMAC-SHA256 of the whole key.
    pub hash: Vec<u8>,
    /// `read`, `submit`, `admin`.
    pub scopes: Vec<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
    /// The database's time at the look-up.
    pub now: Timestamp,
}

/// The key with this public part, revoked and expired ones too.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(db: &SubmitDb, key_id: &str) -> Result<Option<KeyRecord>, StoreError> {
    let query = sqlx::query!(
        r#"select k.id, k.tenant_id, t.state = 'active' as "tenant_active!", k.hash, k.scopes,
                k.expires_at, k.revoked_at, now() as "now!"
            from api_key k join tenant t on t.id = k.tenant_id
            where k.id = $1"#,
        key_id
    );
    let row = named("key.find", query.fetch_optional(db.pool())).await?;
    Ok(row.map(|row| KeyRecord {
        id: row.id,
        tenant: TenantId(row.tenant_id),
        tenant_active: row.tenant_active,
        hash: row.hash,
        scopes: row.scopes,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        now: row.now,
    }))
}
