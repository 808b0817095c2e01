//! Cancels a run: its tasks are cancelled by the schedulers, and it ends with the last of them.

use crate::audit::{self, Act, AuditAction};
use crate::connect::ApiDb;
use crate::statement::{named, repeated};
use crate::{StoreError, TenantScope};
use domain::id::WorkflowRunId;
use domain::workflow::RunState;
use serde_json::json;

/// What became of a run that was to be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelRunAnswer {
    /// Its tasks are being cancelled.
    Requested,
    /// They were before: its owner cancelled it, or its deadline passed.
    AlreadyRequested,
    /// It had ended.
    AlreadyEnded(RunState),
    /// This tenant has no such run.
    NotFound,
}

/// Asks for the cancel. Wake the schedulers (`Topic::ShardOwner`) then.
///
/// # Errors
/// When the database cannot answer; then nothing changed, unless [`StoreError::outcome_unknown`] says otherwise.
pub async fn cancel(
    db: &ApiDb,
    scope: &TenantScope,
    id: WorkflowRunId,
) -> Result<CancelRunAnswer, StoreError> {
    repeated(|| async {
        let mut tx = crate::task::scoped(db, scope).await?;
        let query = sqlx::query_scalar!(
            "select state from workflow_run where tenant_id = $1 and id = $2 for update",
            scope.tenant().uuid(),
            id.uuid()
        );
        let Some(state) = named("run.lock", query.fetch_optional(&mut *tx)).await? else {
            return Ok(CancelRunAnswer::NotFound);
        };
        match state.parse() {
            Ok(RunState::Running) => {}
            Ok(RunState::Cancelling) => return Ok(CancelRunAnswer::AlreadyRequested),
            Ok(ended) => return Ok(CancelRunAnswer::AlreadyEnded(ended)),
            Err(()) => {
                let row = id.to_string();
                return Err(StoreError::Malformed { what: "state", row, value: state });
            }
        }
        let query = sqlx::query!(
            "update workflow_run set state = 'cancelling', stopped_at = now(), stop_reason = 'its workflow run was cancelled'
                where tenant_id = $1 and id = $2",
            scope.tenant().uuid(),
            id.uuid()
        );
        named("run.cancel", query.execute(&mut *tx)).await?;
        let act = Act::new(AuditAction::WorkflowRunCancel, id).from(json!({"state": state}));
        audit::record(&mut tx, scope, act).await?;
        named("commit", tx.commit()).await?;
        Ok(CancelRunAnswer::Requested)
    })
    .await
}
