//! Puts a new key in the place of one: both are good until the old one ends.

use super::create_own::may_give;
use super::info::{KeyInfo, KeyRow};
use crate::actor;
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::idempotency::{self, IdempotencyKey, Once};
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::UserId;
use serde_json::json;
use std::time::Duration;

/// What the new key is known by.
#[derive(Debug, Clone)]
pub struct NewSecret {
    /// Its public part.
    pub id: String,
    /// HMAC-SHA256 of the whole key, 32 bytes.
    pub hash: Vec<u8>,
}

/// What became of a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotated {
    /// The new key, and the old one with its end.
    Done {
        /// The key that was made: its name, scopes and length of life are the old one's.
        new: Box<KeyInfo>,
        /// The key that it replaces.
        old: Box<KeyInfo>,
    },
    /// It has been replaced before: two are live already, or were.
    Already,
    /// There is no such key, or it has ended.
    NotFound,
    /// Its scopes are more than the one it would be made for may give now.
    MayNot,
    /// The key or the sign-in of whoever asks ended a moment ago.
    ActorEnded,
}

/// What to rotate.
#[derive(Debug, Clone)]
pub struct Rotation<'a> {
    /// Public part of the old key.
    pub key_id: &'a str,
    /// Whose it must be; `None` where any key may be rotated.
    pub of: Option<UserId>,
    /// Who is handed the new one, and with whom it goes; `None`: with whom the old one would.
    pub by: Option<UserId>,
    /// How long the old one is good still.
    pub overlap: Duration,
    /// The new key.
    pub new: NewSecret,
}

/// Rotates a key. The old one ends after its overlap, or earlier where it would have.
/// `answer` writes what a repeated request is answered: the secret must not be in it.
///
/// # Errors
/// When the database cannot answer.
pub async fn rotate(
    db: &ApiDb,
    scope: &TenantScope,
    rotation: Rotation<'_>,
    once: Option<&IdempotencyKey>,
    answer: impl FnOnce(&KeyInfo, &KeyInfo) -> Vec<u8>,
) -> Result<Once<Rotated>, StoreError> {
    let Rotation { key_id, of, by, overlap, new } = rotation;
    let mut tx = crate::task::scoped(db, scope).await?;
    if let Some(before) = idempotency::answered_before(&mut tx, scope, once).await? {
        return Ok(before);
    }
    // Whoever takes a user's keys away locks the user first: what this makes is then there to be taken away, too.
    let makers = sqlx::query_scalar!(
        "select id from app_user where tenant_id = $1
            and (id = $3 or id = (select user_id from api_key where tenant_id = $1 and id = $2)) order by id for share",
        scope.tenant().uuid(),
        key_id,
        by.map(UserId::uuid)
    );
    named("key.rotate_makers", makers.fetch_all(&mut *tx)).await?;
    let live = sqlx::query_as!(
        KeyRow,
        "select id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by from api_key
            where tenant_id = $1 and id = $2 and revoked_at is null and ($3::uuid is null or user_id = $3)
                and (expires_at is null or expires_at > now())
            for no key update",
        scope.tenant().uuid(),
        key_id,
        of.map(UserId::uuid)
    );
    let before: KeyInfo = match named("key.rotate_find", live.fetch_optional(&mut *tx)).await? {
        None => return Ok(Once::Done(Rotated::NotFound)),
        Some(row) if row.replaced_by.is_some() => return Ok(Once::Done(Rotated::Already)),
        Some(row) => row.try_into()?,
    };
    let scopes: Vec<_> = before.scopes.iter().map(ToString::to_string).collect();
    if let Some(user) = by
        && !may_give(&mut tx, scope, user, &scopes).await?
    {
        return Ok(Once::Done(Rotated::MayNot));
    }
    if !actor::is_live(&mut tx, scope).await? {
        return Ok(Once::Done(Rotated::ActorEnded));
    }
    let make = sqlx::query_as!(
        KeyRow,
        "insert into api_key (id, tenant_id, name, hash, scopes, expires_at, user_id)
            select $3, tenant_id, name, $4, scopes, now() + (expires_at - created_at), coalesce($5, user_id)
            from api_key where tenant_id = $1 and id = $2
            returning id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by",
        scope.tenant().uuid(),
        key_id,
        new.id,
        new.hash,
        by.map(UserId::uuid)
    );
    let new: KeyInfo = named("key.rotate_make", make.fetch_one(&mut *tx)).await?.try_into()?;
    let end = sqlx::query_as!(
        KeyRow,
        "update api_key set replaced_by = $3, expires_at = least(expires_at, now() + $4 * interval '1 second')
            where tenant_id = $1 and id = $2
            returning id, name, scopes, user_id, created_at, expires_at, last_used_at, replaced_by",
        scope.tenant().uuid(),
        key_id,
        new.id,
        overlap.as_secs_f64()
    );
    let old: KeyInfo = named("key.rotate_end", end.fetch_one(&mut *tx)).await?.try_into()?;
    let act = Act::new(AuditAction::KeyRotate, &old.id).from(before.audit_value());
    audit::record(
        &mut tx,
        scope,
        act.to(json!({"old": old.audit_value(), "new": new.audit_value()})),
    )
    .await?;
    if let Some(once) = once {
        idempotency::put_answer(&mut tx, scope, once, 201, &answer(&new, &old)).await?;
    }
    named("commit", tx.commit()).await?;
    Ok(Once::Done(Rotated::Done { new: Box::new(new), old: Box::new(old) }))
}
