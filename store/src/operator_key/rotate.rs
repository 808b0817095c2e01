//! Puts a new key in the place of an operator's: both are good until the old one ends.

use super::OperatorKeyInfo;
use crate::StoreError;
use crate::audit::{self, Act, AuditAction, By};
use crate::connect::AdminDb;
use crate::key::NewSecret;
use crate::statement::named;
use domain::audit::PLATFORM;
use serde_json::json;
use std::time::Duration;

/// What became of a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rotated {
    /// The new key, and the old one with its end.
    Done {
        /// The key that was made: its name, scopes and length of life are the old one's.
        new: Box<OperatorKeyInfo>,
        /// The key that it replaces.
        old: Box<OperatorKeyInfo>,
    },
    /// It has been replaced before.
    Already,
    /// There is no such key, or it has ended.
    NotFound,
}

/// Rotates a key, in the request of `by`. The old one ends after `overlap`, or earlier where it would have.
///
/// # Errors
/// When the database cannot answer.
pub async fn rotate(
    db: &AdminDb,
    key_id: &str,
    overlap: Duration,
    new: NewSecret,
    by: By,
) -> Result<Rotated, StoreError> {
    let mut tx = named("begin", db.pool().begin()).await?;
    let live = sqlx::query_as!(
        OperatorKeyInfo,
        "select id, name, scopes, created_at, expires_at, last_used_at, replaced_by from operator_key
            where id = $1 and revoked_at is null and (expires_at is null or expires_at > now()) for no key update",
        key_id
    );
    let before = match named("operator_key.rotate_find", live.fetch_optional(&mut *tx)).await? {
        None => return Ok(Rotated::NotFound),
        Some(key) if key.replaced_by.is_some() => return Ok(Rotated::Already),
        Some(key) => key,
    };
    // First the old one gives its name up.
    let end = sqlx::query_as!(
        OperatorKeyInfo,
        "update operator_key set replaced_by = $2, expires_at = least(expires_at, now() + $3 * interval '1 second')
            where id = $1 returning id, name, scopes, created_at, expires_at, last_used_at, replaced_by",
        key_id,
        new.id,
        overlap.as_secs_f64()
    );
    let old = named("operator_key.rotate_end", end.fetch_one(&mut *tx)).await?;
    let make = sqlx::query_as!(
        OperatorKeyInfo,
        "insert into operator_key (id, name, hash, scopes, expires_at)
            values ($1, $2, $3, $4, now() + ($5::timestamptz - $6::timestamptz))
            returning id, name, scopes, created_at, expires_at, last_used_at, replaced_by",
        new.id,
        before.name,
        new.hash,
        &before.scopes,
        before.expires_at,
        before.created_at
    );
    let new = named("operator_key.rotate_make", make.fetch_one(&mut *tx)).await?;
    let act = Act::new(AuditAction::OperatorKeyRotate, &old.id).from(before.audit_value());
    let act = act.to(json!({"old": old.audit_value(), "new": new.audit_value()}));
    audit::record_and_commit(tx, PLATFORM, by, act).await?;
    Ok(Rotated::Done { new: Box::new(new), old: Box::new(old) })
}
