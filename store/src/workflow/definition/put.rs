//! Stores a definition by its name: the same again changes nothing.
//!
//! Only one request at a time stores definitions of a tenant, so that the plan's quota is exact.

use super::list::get_in;
use super::record::WorkflowRecord;
use super::versions::{forget, keep_stored};
use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::{named, repeated};
use crate::{StoreError, TenantScope};
use domain::audit::ActorId;
use domain::workflow::Plan;
use serde_json::Value;
use sqlx::PgConnection;

/// A definition to store. Everything in it has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PutWorkflow {
    /// Its name.
    pub name: String,
    /// As it was sent, JSON.
    pub definition: String,
    /// What runs are made of.
    pub plan: Plan,
    /// Who sends it.
    pub updated_by: ActorId,
    /// Only where it is in this version; 0: only where there is none.
    pub if_version: Option<i64>,
    /// Definitions that the tenant may have.
    pub most: u64,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutAnswer {
    /// It is new.
    Created(Box<WorkflowRecord>),
    /// It is changed, and a version on.
    Updated(Box<WorkflowRecord>),
    /// It was so before.
    Unchanged(Box<WorkflowRecord>),
    /// The tenant has reached its limit of definitions.
    QuotaReached,
    /// It is in another version; `None`: there is none.
    VersionMismatch {
        /// In which.
        version: Option<i64>,
    },
}

/// Stores `workflow`.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    workflow: &PutWorkflow,
) -> Result<PutAnswer, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        lock_all(&mut tx, scope).await?;
        let found = get_in(&mut tx, scope, &workflow.name).await?;
        let version = found.as_ref().map(|stored| stored.version);
        if workflow.if_version.is_some_and(|wanted| wanted != version.unwrap_or(0)) {
            return Ok(PutAnswer::VersionMismatch { version });
        }
        if let Some(stored) = &found
            && is_same(stored, workflow)
        {
            return Ok(PutAnswer::Unchanged(Box::new(stored.clone())));
        }
        if found.is_none() && count(&mut tx, scope, workflow.most).await? >= workflow.most {
            return Ok(PutAnswer::QuotaReached);
        }
        match found {
            Some(_) => keep_stored(&mut tx, scope, &workflow.name).await?,
            // A process of a release before may have deleted one of this name, and left its versions.
            None => forget(&mut tx, scope, &workflow.name).await?,
        }
        let stored = write(&mut tx, scope, workflow).await?;
        let act = Act::new(AuditAction::WorkflowPut, &workflow.name).to(stored.audit_value());
        let (act, answer) = match found {
            Some(before) => (act.from(before.audit_value()), PutAnswer::Updated(Box::new(stored))),
            None => (act, PutAnswer::Created(Box::new(stored))),
        };
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        Ok(answer)
    })
    .await
}

/// White space and the order of fields are no change; the order of nodes is, which the plan has.
fn is_same(stored: &WorkflowRecord, new: &PutWorkflow) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    value(&stored.definition) == value(&new.definition)
        && stored.plan().is_ok_and(|plan| plan == new.plan)
}

async fn lock_all(tx: &mut PgConnection, scope: &TenantScope) -> Result<(), StoreError> {
    let query = sqlx::query_scalar!(
        r#"select true as "locked!" from pg_advisory_xact_lock(hashtextextended('workflows ' || $1::text, 0))"#,
        scope.tenant().to_string()
    );
    named("workflow.lock_all", query.fetch_one(tx)).await.map(|_| ())
}

async fn count(tx: &mut PgConnection, scope: &TenantScope, most: u64) -> Result<u64, StoreError> {
    let query = sqlx::query_scalar!(
        r#"select count(*) as "held!" from (select from workflow w where w.tenant_id = $1 limit $2) held"#,
        scope.tenant().uuid(),
        i64::try_from(most).unwrap_or(i64::MAX)
    );
    named("workflow.count", query.fetch_one(tx)).await.map(i64::unsigned_abs)
}

async fn write(
    tx: &mut PgConnection,
    scope: &TenantScope,
    new: &PutWorkflow,
) -> Result<WorkflowRecord, StoreError> {
    let query = sqlx::query_as!(
        WorkflowRecord,
        "insert into workflow as w (tenant_id, name, version, definition, plan, nodes, updated_by) values ($1, $2, 1, $3, $4, $5, $6)
            on conflict (tenant_id, name) do update set version = w.version + 1, definition = excluded.definition, plan = excluded.plan,
                nodes = excluded.nodes, updated_by = excluded.updated_by, updated_at = now()
            returning name, version, definition, plan, nodes, created_at, updated_at, updated_by",
        scope.tenant().uuid(),
        new.name,
        new.definition,
        serde_json::to_string(&new.plan).unwrap_or_default(),
        i64::try_from(new.plan.nodes.len()).unwrap_or(i64::MAX),
        new.updated_by.to_string()
    );
    let stored = named("workflow.put", query.fetch_optional(tx)).await?;
    stored.ok_or(StoreError::Contended)
}
