//! Fires a schedule now, because somebody asks: whatever its times, pause and overlap say.

use super::record::FireRecord;
use crate::connect::SubmitDb;
use crate::{StoreError, TenantScope};
use domain::id::TaskId;

/// What became of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAnswer {
    /// It made this fire, with a task.
    Fired(FireRecord),
    /// A task of the template's unique key lives.
    Existing(TaskId),
    /// The tenant has none of this name.
    NotFound,
}

/// Fires the tenant's schedule of this name; the task comes by `key_id`. Wake the batcher (`Topic::Batcher`) when it is `Fired`.
///
/// # Errors
/// When the database cannot answer.
pub async fn trigger(
    db: &SubmitDb,
    scope: &TenantScope,
    name: &str,
    key_id: &str,
) -> Result<TriggerAnswer, StoreError> {
    let _ = (db, scope, name, key_id);
    Err(StoreError::Contended)
}
