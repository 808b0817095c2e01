//! Takes a refresh token for a new one.
//!
//! A token is good once. One that comes a second time was stolen, from its user or by its user: then the whole sign-in ends, and
//! neither the thief nor the user goes on without the password.

use crate::StoreError;
use crate::audit::{self, Act, Actor, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{SignInId, TenantId, UserId};
use serde_json::json;
use sqlx::{Postgres, Transaction};
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

/// Uses the token with the hash `old` up and stores its successor, in the request of `by`; the sign-in lives for `life` from now.
///
/// # Errors
/// When the database cannot answer.
pub async fn refresh(
    db: &SubmitDb,
    (old, new): (&[u8; 32], &[u8; 32]),
    life: Duration,
    by: By,
) -> Result<Refreshed, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let using = sqlx::query_scalar!(
        "update refresh_token set used_at = now() where hash = $1 and used_at is null returning sign_in_id",
        &old[..]
    );
    let Some(sign_in) = named("sign_in.use_token", using.fetch_optional(&mut *tx)).await? else {
        return reused(tx, old, by).await;
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
    let (sign_in, tenant, user) = (SignInId(sign_in), TenantId(row.tenant_id), UserId(row.user_id));
    let by = by.as_actor(Actor::User(user, Some(sign_in)));
    let act = Act::new("session.refresh", "session", sign_in).to(json!({"user": user}));
    audit::told_in(tx, tenant, by, act).await?;
    Ok(Refreshed::Done { sign_in, tenant, user })
}

/// Ends the sign-in of a token that is not good, or that was used before. Only the first time changes something.
async fn reused(
    mut tx: Transaction<'static, Postgres>,
    old: &[u8; 32],
    by: By,
) -> Result<Refreshed, StoreError> {
    let end = sqlx::query!(
        r#"update sign_in s set ended_at = coalesce(s.ended_at, now())
            from (select b.id, b.ended_at from sign_in b join refresh_token t on t.sign_in_id = b.id
                where t.hash = $1 for update of b) was
            where s.id = was.id returning s.id, s.tenant_id, s.user_id, was.ended_at is null as "first!""#,
        &old[..]
    );
    let Some(row) = named("sign_in.end_reused", end.fetch_optional(&mut *tx)).await? else {
        return Ok(Refreshed::Refused);
    };
    let (id, user) = (SignInId(row.id), UserId(row.user_id));
    if row.first {
        let act = Act::new("session.reused", "session", id).from(json!({"user": user}));
        audit::told_in(tx, TenantId(row.tenant_id), by, act).await?;
    }
    Ok(Refreshed::Reused(id))
}
