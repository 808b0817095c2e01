//! Writes one row of the audit.

use crate::statement::named;
use crate::{StoreError, TenantScope};
use domain::audit::{AuditAction, By};
use domain::id::{AuditId, TenantId};
use serde_json::Value;
use sqlx::PgConnection;

/// What was done. No secret may be in it.
#[derive(Debug, Clone)]
pub struct Act {
    /// The action; it says the kind of its target.
    pub action: AuditAction,
    /// To which one; `None` if unknown.
    pub target: Option<String>,
    /// What it was; nothing where it was not there.
    pub before: Option<Value>,
    /// What it is now; nothing where it is gone.
    pub after: Option<Value>,
}

impl Act {
    /// It was done to the `target`.
    pub fn new(action: AuditAction, target: impl ToString) -> Self {
        Self { action, target: Some(target.to_string()), before: None, after: None }
    }

    /// It was so.
    #[must_use]
    pub fn from(mut self, before: Value) -> Self {
        self.before = Some(before);
        self
    }

    /// It is so now.
    #[must_use]
    pub fn to(mut self, after: Value) -> Self {
        self.after = Some(after);
        self
    }
}

/// Writes down, in the transaction of the change itself, what `by` did; [`domain::audit::PLATFORM`] for what is no tenant's.
///
/// # Errors
/// When the database cannot answer; then the change must not be committed.
pub async fn write(
    tx: &mut PgConnection,
    tenant: TenantId,
    by: By,
    act: Act,
) -> Result<(), StoreError> {
    let text = |value: Option<Value>| value.map(|value| value.to_string());
    let query = sqlx::query!(
        "insert into audit (id, tenant_id, actor_kind, actor_id, key_id, request_id, action, target_kind, target_id, before, after)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11::text::jsonb)",
        AuditId::fresh().uuid(),
        tenant.uuid(),
        by.actor.kind().as_str(),
        by.actor.id(),
        by.actor.key_id(),
        by.request.map(|id| id.to_string()),
        act.action.as_str(),
        act.action.target().as_str(),
        act.target,
        text(act.before),
        text(act.after)
    );
    named("audit.write", query.execute(tx)).await.map(|_| ())
}

/// The same for whoever acts in `scope`.
pub(crate) async fn record(
    tx: &mut PgConnection,
    scope: &TenantScope,
    act: Act,
) -> Result<(), StoreError> {
    write(tx, scope.tenant(), scope.by(), act).await
}

/// Records one change, and commits.
pub(crate) async fn record_and_commit(
    mut tx: sqlx::Transaction<'static, sqlx::Postgres>,
    tenant: TenantId,
    by: By,
    act: Act,
) -> Result<(), StoreError> {
    write(&mut tx, tenant, by, act).await?;
    named("commit", tx.commit()).await
}
