//! Looks up who wants to sign in, before the tenant is known for sure.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{TenantId, UserId};
use domain::name::TenantName;

/// A user who can sign in.
#[derive(Debug, Clone)]
pub struct Account {
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// Argon2id, as a PHC string.
    pub password_hash: String,
    /// Sign-ins of an older version are over.
    pub token_version: i32,
}

/// The active user with this address in the tenant of this name, or else of one that is taken for it; be it suspended: its users may read and cancel, as its keys may.
///
/// # Errors
/// When the database cannot answer.
pub async fn account(
    db: &SubmitDb,
    tenant: &str,
    email: &str,
) -> Result<Option<Account>, StoreError> {
    let query = sqlx::query!(
        r#"select u.tenant_id, u.id, u.password_hash as "password_hash!", u.token_version
            from (select n.id, n.state from tenant n where n.name = $1 or n.name_key = $3 and n.name is not null
                order by n.name = $1 desc limit 1) t
            join app_user u on u.tenant_id = t.id
            where t.state <> 'deleted' and u.email = $2 and u.state = 'active'"#,
        tenant,
        email,
        TenantName::key_of(tenant)
    );
    let row = named("sign_in.account", query.fetch_optional(db.pool())).await?;
    Ok(row.map(|row| Account {
        tenant: TenantId(row.tenant_id),
        user: UserId(row.id),
        password_hash: row.password_hash,
        token_version: row.token_version,
    }))
}
