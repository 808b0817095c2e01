//! Signs a user in.

use crate::StoreError;
use crate::audit::{self, Act, Actor, AuditAction, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{SignInId, TenantId, UserId};
use serde_json::json;
use sqlx::PgConnection;
use std::time::Duration;

/// A sign-in to store.
#[derive(Debug, Clone)]
pub struct NewSignIn {
    /// Its id.
    pub id: SignInId,
    /// The tenant.
    pub tenant: TenantId,
    /// The user.
    pub user: UserId,
    /// The user's version when the password was checked.
    pub token_version: i32,
    /// SHA-256 of its first refresh token.
    pub refresh_hash: [u8; 32],
    /// How long it lives unless it is refreshed.
    pub life: Duration,
}

/// Sign-ins of one user that are not over. One more ends the one that was refreshed longest ago.
pub(super) const MOST_OF_A_USER: i64 = 100;

/// Stores a sign-in and its first refresh token, in the request of `by`. Of the user's older ones the latest 99 go on.
///
/// # Errors
/// When the database cannot answer.
pub async fn begin(db: &SubmitDb, new: NewSignIn, by: By) -> Result<(), StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    put(&mut tx, &new).await?;
    let ended = end_beyond(&mut tx, &new).await?;
    let by = by.as_actor(Actor::User(new.user, Some(new.id)));
    let details = json!({"user": new.user, "ended": ended});
    let act = Act::new(AuditAction::SessionSignIn, new.id).to(details);
    audit::record_and_commit(tx, new.tenant, by, act).await
}

/// Stores a sign-in and its first refresh token.
///
/// # Errors
/// When the database cannot answer.
pub(crate) async fn put(tx: &mut PgConnection, new: &NewSignIn) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "with begun as (
                insert into sign_in (id, tenant_id, user_id, token_version, expires_at)
                values ($1, $2, $3, $4, now() + $6 * interval '1 second') returning id, tenant_id)
            insert into refresh_token (hash, tenant_id, sign_in_id) select $5, tenant_id, id from begun",
        new.id.uuid(),
        new.tenant.uuid(),
        new.user.uuid(),
        new.token_version,
        &new.refresh_hash[..],
        new.life.as_secs_f64()
    );
    named("sign_in.begin", query.execute(tx)).await.map(|_| ())
}

/// Ends what is more than a user may have; says which.
async fn end_beyond(tx: &mut PgConnection, new: &NewSignIn) -> Result<Vec<SignInId>, StoreError> {
    let query = sqlx::query_scalar!(
        "update sign_in set ended_at = now(), expires_at = now() where ended_at is null and id = any (array(
                select s.id from sign_in s
                    where s.tenant_id = $1 and s.user_id = $2 and s.ended_at is null and s.expires_at > now()
                    order by s.refreshed_at desc, s.id desc offset $3))
            returning id",
        new.tenant.uuid(),
        new.user.uuid(),
        MOST_OF_A_USER
    );
    let ended = named("sign_in.end_beyond", query.fetch_all(tx)).await?;
    Ok(ended.into_iter().map(SignInId).collect())
}
