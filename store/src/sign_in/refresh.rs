//! Takes a refresh token for a new one.
//!
//! A token is good once. One that comes a second time was stolen, from its user or by its user: then the whole sign-in ends, and
//! neither the thief nor the user goes on without the password.

use crate::StoreError;
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{SignInId, TenantId, UserId};
use std::time::Duration;

/// What became of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// It was good.
    Done {
        /// The sign-in.
        sign_in: SignInId,
        /// The tenant.
        tenant: TenantId,
        /// The user.
        user: UserId,
    },
    /// It had been used before: the sign-in is over.
    Reused(SignInId),
    /// It is unknown, or its sign-in is over.
    Refused,
}

/// Uses the token with the hash `old` up and stores its successor; the sign-in lives for `life` from now.
///
/// # Errors
/// When the database cannot answer.
pub async fn refresh(
    db: &SubmitDb,
    old: &[u8; 32],
    new: &[u8; 32],
    life: Duration,
) -> Result<Refreshed, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let using = sqlx::query_scalar!(
        "update refresh_token set used_at = now() where hash = $1 and used_at is null returning sign_in_id",
        &old[..]
    );
    let Some(sign_in) = named("sign_in.use_token", using.fetch_optional(&mut *tx)).await? else {
        let end = sqlx::query_scalar!(
            "update sign_in set ended_at = coalesce(ended_at, now())
                where id = (select sign_in_id from refresh_token where hash = $1) returning id",
            &old[..]
        );
        let ended = named("sign_in.end_reused", end.fetch_optional(&mut *tx)).await?;
        named("commit", tx.commit()).await?;
        return Ok(ended.map_or(Refreshed::Refused, |id| Refreshed::Reused(SignInId(id))));
    };
    let renew = sqlx::query!(
        "update sign_in s set refreshed_at = now(), expires_at = now() + $2 * interval '1 second'
            from app_user u, tenant t
            where s.id = $1 and s.ended_at is null and s.expires_at > now() and u.id = s.user_id and u.state = 'active'
                and u.token_version = s.token_version and t.id = s.tenant_id and t.state <> 'deleted'
            returning s.tenant_id, s.user_id",
        sign_in,
        life.as_secs_f64()
    );
    let Some(row) = named("sign_in.renew", renew.fetch_optional(&mut *tx)).await? else {
        named("commit", tx.commit()).await?;
        return Ok(Refreshed::Refused);
    };
    let store = sqlx::query!(
        "insert into refresh_token (hash, tenant_id, sign_in_id) values ($1, $2, $3)",
        &new[..],
        row.tenant_id,
        sign_in
    );
    named("sign_in.store_token", store.execute(&mut *tx)).await?;
    named("commit", tx.commit()).await?;
    Ok(Refreshed::Done {
        sign_in: SignInId(sign_in),
        tenant: TenantId(row.tenant_id),
        user: UserId(row.user_id),
    })
}
