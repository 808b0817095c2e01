//! Takes a refresh token for a new one.
//!
//! A token is good once. One that comes a second time was stolen, from its user or by its user: then the whole sign-in ends, and
//! neither the thief nor the user goes on without the password. But the answer with its successor may have been lost: for a
//! moment, and while nobody has used that successor, another is made in its place. Whoever holds the one that was not lost ends
//! the sign-in by using it, so a thief who is as quick wins nothing.

use crate::StoreError;
use crate::audit::{self, Act, Actor, AuditAction, By};
use crate::connect::SubmitDb;
use crate::statement::named;
use domain::id::{SignInId, TenantId, UserId};
use serde_json::json;
use sqlx::{PgConnection, Postgres, Transaction};
use std::time::Duration;
use uuid::Uuid;

/// How long after its use a token may come again, seconds: as long as a client tries once more.
const GRACE: f64 = 10.0;

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

/// The hashes of two refresh tokens.
#[derive(Debug, Clone, Copy)]
pub struct TokenSwap<'a> {
    /// Of the token that is used.
    pub old: &'a [u8; 32],
    /// Of its successor.
    pub new: &'a [u8; 32],
}

/// Marks the old token as used and stores its successor, in the request of `by`; the sign-in lives for `life` from now.
///
/// # Errors
/// When the database cannot answer.
pub async fn refresh(
    db: &SubmitDb,
    TokenSwap { old, new }: TokenSwap<'_>,
    life: Duration,
    by: By,
) -> Result<Refreshed, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let using = sqlx::query_scalar!(
        "update refresh_token set used_at = now() where hash = $1 and used_at is null returning sign_in_id",
        &old[..]
    );
    let used = named("sign_in.use_token", using.fetch_optional(&mut *tx)).await?;
    let sign_in = match used {
        Some(sign_in) => sign_in,
        None => match lost(&mut tx, old).await? {
            Some(sign_in) => sign_in,
            None => return reused(tx, old, by).await,
        },
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
        "insert into refresh_token (hash, tenant_id, sign_in_id, follows) values ($1, $2, $3, $4)",
        &new[..],
        row.tenant_id,
        sign_in,
        &old[..]
    );
    named("sign_in.store_token", store.execute(&mut *tx)).await?;
    let (sign_in, tenant, user) = (SignInId(sign_in), TenantId(row.tenant_id), UserId(row.user_id));
    let by = by.as_actor(Actor::User(user, Some(sign_in)));
    let act = Act::new(AuditAction::SessionRefresh, sign_in).to(json!({"user": user}));
    audit::record_and_commit(tx, tenant, by, act).await?;
    Ok(Refreshed::Done { sign_in, tenant, user })
}

/// The sign-in of a token that was used a moment ago, whose successor nobody has used and now nobody may.
async fn lost(tx: &mut PgConnection, old: &[u8; 32]) -> Result<Option<Uuid>, StoreError> {
    // One after the other: who comes second sees the successor that the first has made.
    let lock = sqlx::query_scalar!(
        r#"select true as "there!" from refresh_token where hash = $1 for update"#,
        &old[..]
    );
    named("sign_in.lock_token", lock.fetch_optional(&mut *tx)).await?;
    let replace = sqlx::query_scalar!(
        "update refresh_token n set used_at = now() from refresh_token t
            where t.hash = $1 and t.used_at > now() - $2 * interval '1 second'
                and n.tenant_id = t.tenant_id and n.sign_in_id = t.sign_in_id and n.follows = t.hash and n.used_at is null
            returning n.sign_in_id",
        &old[..],
        GRACE
    );
    named("sign_in.replace_token", replace.fetch_optional(tx)).await
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
        let act = Act::new(AuditAction::SessionReused, id).from(json!({"user": user}));
        audit::record_and_commit(tx, TenantId(row.tenant_id), by, act).await?;
    }
    Ok(Refreshed::Reused(id))
}
