//! Looks an operator's key up by its public part.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::time::Timestamp;

/// A stored key.
#[derive(Debug, Clone)]
pub struct OperatorKeyRecord {
    /// Whom the audit names.
    pub name: String,
    /// HMAC-SHA256 of the whole key.
    pub hash: Vec<u8>,
    /// `read`, `admin`.
    pub scopes: Vec<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
    /// The database's time at the look-up.
    pub now: Timestamp,
}

impl OperatorKeyRecord {
    /// Whether it was neither revoked nor has expired.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| self.now < end)
    }
}

/// The key with this public part, revoked and expired ones too.
///
/// # Errors
/// When the database cannot answer.
pub async fn find(db: &AdminDb, key_id: &str) -> Result<Option<OperatorKeyRecord>, StoreError> {
    let query = sqlx::query_as!(
        OperatorKeyRecord,
        r#"select name, hash, scopes, expires_at, revoked_at, now() as "now!" from operator_key where id = $1"#,
        key_id
    );
    named("operator_key.find", query.fetch_optional(db.pool())).await
}
