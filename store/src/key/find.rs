//! Looks a key up by its public part, before its tenant is known.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::plan::{limits_of, name_of};
use crate::statement::named;
use domain::id::{PlanName, TenantId, UserId};
use domain::plan::PlanLimits;
use domain::tenant::TenantState;
use domain::time::Timestamp;

/// A stored key.
#[derive(Debug, Clone)]
pub struct KeyRecord {
    /// Its public part.
    pub id: String,
    /// The tenant.
    pub tenant: TenantId,
    /// How that tenant stands.
    pub tenant_state: TenantState,
    /// What that tenant's plan allows.
    pub limits: PlanLimits,
    /// That plan's name.
    pub plan: PlanName,
    /// On whose behalf it was made, where a user made it or the key that made it.
    pub user: Option<UserId>,
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
        r#"select k.id, k.tenant_id, t.state, k.user_id, k.hash, k.scopes, k.expires_at, k.revoked_at, now() as "now!", t.plan,
                p.limits::text as "limits!"
            from api_key k join tenant t on t.id = k.tenant_id join plan p on p.name = t.plan
            where k.id = $1"#,
        key_id
    );
    let row = named("key.find", query.fetch_optional(db.pool())).await?;
    row.map(|row| {
        let limits = limits_of(&row.limits)?;
        let tenant_state = crate::tenant::state_of(&row.state, row.tenant_id)?;
        Ok(KeyRecord {
            id: row.id,
            tenant: TenantId(row.tenant_id),
            tenant_state,
            limits,
            plan: name_of(row.plan)?,
            user: row.user_id.map(UserId),
            hash: row.hash,
            scopes: row.scopes,
            expires_at: row.expires_at,
            revoked_at: row.revoked_at,
            now: row.now,
        })
    })
    .transpose()
}
