//! Creates an operator's key.

use crate::StoreError;
use crate::connect::AdminDb;
use crate::statement::named;
use domain::time::Timestamp;

/// A key to store; its text is known only to its owner.
#[derive(Debug, Clone)]
pub struct NewOperatorKey {
    /// Its public part: 12 of `a-z2-7`.
    pub id: String,
    /// Whom the audit names; unique.
    pub name: String,
    /// HMAC-SHA256 of the whole key, 32 bytes.
    pub hash: Vec<u8>,
    /// Of `read`, `admin`; at least one.
    pub scopes: Vec<String>,
    /// When it ends by itself; never when left out.
    pub expires_at: Option<Timestamp>,
}

/// Stores a key; false when the name is taken.
///
/// # Errors
/// When the database cannot answer.
pub async fn create(db: &AdminDb, key: NewOperatorKey) -> Result<bool, StoreError> {
    let query = sqlx::query!(
        "insert into operator_key (id, name, hash, scopes, expires_at) values ($1, $2, $3, $4, $5)
            on conflict (name) do nothing",
        key.id,
        key.name,
        key.hash,
        &key.scopes,
        key.expires_at
    );
    Ok(named("operator_key.create", query.execute(db.pool())).await?.rows_affected() == 1)
}
