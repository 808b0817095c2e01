//! `rerun`, and `retry` of a task that has ended: a new task that runs it again.
//!
//! It is stored as any submit, in one transaction with its row of the audit.

use crate::audit::{self, Act, AuditAction};
use crate::connect::SubmitDb;
use crate::statement::{named, repeated};
use crate::task::submit::{NewTask, SubmitAnswer, in_transaction};
use crate::{StoreError, TenantScope};
use domain::id::TaskId;
use serde_json::json;

/// Stores `task`, which runs `of` again. What meets an idempotency key or a unique key is no new task, and not audited.
///
/// # Errors
/// When the database cannot answer. [`StoreError::outcome_unknown`] tells whether it may have been stored.
pub async fn rerun(
    db: &SubmitDb,
    scope: &TenantScope,
    (of, action): (TaskId, AuditAction),
    task: &NewTask,
) -> Result<SubmitAnswer, StoreError> {
    repeated(|| async {
        let mut tx = named("begin", db.pool().begin()).await?;
        let answers = in_transaction(&mut tx, std::slice::from_ref(task)).await?;
        let answer = answers.into_iter().next().ok_or(StoreError::Contended)?;
        if matches!(answer, SubmitAnswer::Created(_)) {
            let act = Act::new(action, of).to(json!({"task": task.id}));
            audit::record(&mut tx, scope, act).await?;
        }
        named("commit", tx.commit()).await?;
        Ok(answer)
    })
    .await
}
