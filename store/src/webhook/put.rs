//! Stores a webhook.

use super::find::{locked, row};
use super::record::{WebhookRecord, WebhookRow, consumer};
use crate::audit::{Act, AuditAction, record};
use crate::connect::ApiDb;
use crate::scoped::scoped;
use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::id::WebhookName;
use domain::webhook::{MOST_WEBHOOKS, SigningSecret, WebhookSpec};
use sqlx::PgConnection;
use uuid::Uuid;

/// What became of a webhook to store.
#[derive(Debug, Clone, PartialEq)]
pub enum WebhookStored {
    /// It is new. It receives events from now on.
    Created(WebhookRecord),
    /// It is another.
    Updated(WebhookRecord),
    /// It was stored so.
    Unchanged(WebhookRecord),
    /// The tenant has [`MOST_WEBHOOKS`].
    TooMany,
    /// It has another version; `None`: there is none.
    VersionMismatch {
        /// Which.
        version: Option<i64>,
    },
}

/// What signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// The customer's: if it differs from the present one, both sign for a day.
    Given(SigningSecret),
    /// A new one, for a new webhook.
    Fresh(SigningSecret),
}

impl Secret {
    /// The secret.
    #[must_use]
    pub const fn get(&self) -> &SigningSecret {
        match self {
            Self::Given(secret) | Self::Fresh(secret) => secret,
        }
    }
}

/// Stores a webhook: with `if_version` only in that version, with 0 only where there is none. See [`Secret`] for what signs.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    (name, if_version): (&WebhookName, Option<i64>),
    spec: &WebhookSpec,
    secret: &Secret,
) -> Result<WebhookStored, StoreError> {
    let mut tx = scoped(db, scope).await?;
    lock_all(&mut tx, scope).await?;
    let before = locked(&mut tx, scope, name).await?;
    let version = before.as_ref().map(|before| before.version);
    if if_version.is_some_and(|wanted| wanted != version.unwrap_or(0)) {
        return Ok(WebhookStored::VersionMismatch { version });
    }
    let act = Act::new(AuditAction::WebhookPut, name).to(spec.audited());
    let Some(before) = before else {
        if count(&mut tx, scope).await? >= i64::from(MOST_WEBHOOKS) {
            return Ok(WebhookStored::TooMany);
        }
        let id = Uuid::now_v7();
        insert(&mut tx, scope, (id, name), spec, secret.get()).await?;
        follow(&mut tx, scope, id, spec.wants_tasks()).await?;
        let made = row(&mut tx, scope, name).await?.ok_or(StoreError::Contended)?.record()?;
        record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        return Ok(WebhookStored::Created(made));
    };
    let id = before.id;
    let before = before.record()?;
    let has_rotated = match secret {
        Secret::Given(given) => replace(&mut tx, id, given).await?,
        Secret::Fresh(_) => false,
    };
    if before.spec == *spec && !has_rotated {
        return Ok(WebhookStored::Unchanged(before));
    }
    update(&mut tx, id, spec).await?;
    follow(&mut tx, scope, id, spec.wants_tasks()).await?;
    let after = row(&mut tx, scope, name).await?.map(WebhookRow::record).transpose()?;
    record(&mut tx, scope, act.from(before.spec.audited())).await?;
    named("commit", tx.commit()).await?;
    Ok(WebhookStored::Updated(after.ok_or(StoreError::Contended)?))
}

/// One transaction at a time makes webhooks of a tenant.
async fn lock_all(tx: &mut PgConnection, scope: &TenantScope) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended('webhooks ' || $1::text, 0))",
        scope.tenant().to_string()
    );
    named("webhook.lock_all", query.execute(tx)).await.map(drop)
}

async fn count(tx: &mut PgConnection, scope: &TenantScope) -> Result<i64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select count(*) as "webhooks!" from webhook where tenant_id = $1"#,
        scope.tenant().uuid()
    );
    named("webhook.count", query.fetch_one(tx)).await
}

fn json_of(spec: &WebhookSpec) -> Result<String, StoreError> {
    serde_json::to_string(spec).map_err(|error| StoreError::Malformed {
        what: "webhook.spec",
        row: "a webhook".to_owned(),
        value: error.to_string(),
    })
}

async fn insert(
    tx: &mut PgConnection,
    scope: &TenantScope,
    (id, name): (Uuid, &WebhookName),
    spec: &WebhookSpec,
    secret: &SigningSecret,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "insert into webhook (id, tenant_id, name, spec, ordered, paused, secret, txid, seq)
            values ($1, $2, $3, $4, $5, $6, $7, pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1, $8)",
        id,
        scope.tenant().uuid(),
        name.as_str(),
        json_of(spec)?,
        spec.ordered,
        spec.paused,
        secret.reveal(),
        i64::MAX
    );
    named("webhook.insert", query.execute(tx)).await.map(drop)
}

async fn update(tx: &mut PgConnection, id: Uuid, spec: &WebhookSpec) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "update webhook set spec = $2, ordered = $3, paused = $4, version = version + 1, updated_at = now() where id = $1",
        id,
        json_of(spec)?,
        spec.ordered,
        spec.paused
    );
    named("webhook.update", query.execute(tx)).await.map(drop)
}

/// Has another secret sign from now on; false where it is the present one.
async fn replace(
    tx: &mut PgConnection,
    id: Uuid,
    secret: &SigningSecret,
) -> Result<bool, StoreError> {
    let query = sqlx::query!(
        "update webhook set old_secret = secret, old_secret_until = now() + interval '1 day', secret = $2 where id = $1 and secret <> $2",
        id,
        secret.reveal()
    );
    Ok(named("webhook.replace", query.execute(tx)).await?.rows_affected() > 0)
}

/// Has events of tasks recorded, or no more.
async fn follow(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: Uuid,
    wants_tasks: bool,
) -> Result<(), StoreError> {
    if !wants_tasks {
        return unfollow(tx, scope, id).await;
    }
    let query = sqlx::query!(
        "insert into event_consumer (tenant_id, consumer, expires_at) values ($1, $2, 'infinity') on conflict do nothing",
        scope.tenant().uuid(),
        consumer(id)
    );
    named("webhook.follow", query.execute(tx)).await.map(drop)
}

pub(super) async fn unfollow(
    tx: &mut PgConnection,
    scope: &TenantScope,
    id: Uuid,
) -> Result<(), StoreError> {
    let query = sqlx::query!(
        "delete from event_consumer where tenant_id = $1 and consumer = $2",
        scope.tenant().uuid(),
        consumer(id)
    );
    named("webhook.unfollow", query.execute(tx)).await.map(drop)
}
