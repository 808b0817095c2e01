//! Approvals: what nodes wait for that a person decides.

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::{named, repeated};
use crate::task::transition::{WaitOver, rejected_in, wait_over_in};
use crate::{StoreError, TenantScope};
use domain::audit::ActorId;
use domain::id::TaskId;
use serde_json::json;

/// What a person decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Of which task.
    pub task: TaskId,
    /// Approved; else rejected.
    pub approved: bool,
    /// Who decides.
    pub by: ActorId,
    /// Why.
    pub note: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// It is decided.
    Decided,
    /// The task waits for no person: not yet, not any more, or it never does.
    NotWaiting,
    /// This tenant has no such task.
    NotFound,
}

/// Decides. An approved task succeeds, and returns by whom it was approved and the note; a rejected one is aborted. Wake the schedulers and
/// the batcher.
///
/// # Errors
/// When the database cannot answer; then nothing was decided, unless [`StoreError::outcome_unknown`] says otherwise.
pub async fn decide(
    db: &ApiDb,
    scope: &TenantScope,
    decision: &Decision,
) -> Result<ApprovalAnswer, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        let (tenant, task) = (scope.tenant(), decision.task);
        let query = sqlx::query_scalar!(
            r#"select (t.gate = 'waiting' and t.signal_key is null) is true as "waits!" from task t
                where t.tenant_id = $1 and t.id = $2 for update"#,
            tenant.uuid(),
            task.uuid()
        );
        match named("approval.lock", query.fetch_optional(&mut *tx)).await? {
            Some(true) => {}
            Some(false) => return Ok(ApprovalAnswer::NotWaiting),
            None => {
                let ended = sqlx::query_scalar!(
                    r#"select true as "found!" from task_history t where t.tenant_id = $1 and t.id = $2 limit 1"#,
                    tenant.uuid(),
                    task.uuid()
                );
                let ended = named("approval.ended", ended.fetch_optional(&mut *tx)).await?;
                return Ok(match ended {
                    Some(_) => ApprovalAnswer::NotWaiting,
                    None => ApprovalAnswer::NotFound,
                });
            }
        }
        let (word, action) = match decision.approved {
            true => ("approved", AuditAction::TaskApprove),
            false => ("rejected", AuditAction::TaskReject),
        };
        let by = decision.by.to_string();
        let note = decision.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
        let reason = format!("{word} by {by}{note}");
        let moved = if decision.approved {
            let result = json!({"approved_by": by, "note": decision.note}).to_string();
            let over = WaitOver { tenant, task, result: Some(result), reason };
            wait_over_in(&mut tx, "waiting", &[over]).await? > 0
        } else {
            rejected_in(&mut tx, tenant, task, &reason).await?
        };
        if !moved {
            // It is locked, so this cannot be; to begin again is right if it is.
            return Err(StoreError::Contended);
        }
        let act = Act::new(action, task).to(json!({"note": decision.note}));
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        Ok(ApprovalAnswer::Decided)
    })
    .await
}
