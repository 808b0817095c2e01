//! `dispatch_stale`: nobody placed a queued task in time, or its hint could not be published; it goes back to ready.
//!
//! Names the dispatch: a task that was dispatched again meanwhile is left alone.

use super::dispatch_undone::dispatch_undone;
use crate::StoreError;
use crate::connect::SchedulerDb;
use domain::task::Dispatch;

/// Takes dispatches back; says how many.
///
/// # Errors
/// When the database cannot answer; then nothing moved.
pub async fn dispatch_stale(db: &SchedulerDb, dispatches: &[Dispatch]) -> Result<u64, StoreError> {
    dispatch_undone(db.pool(), "dispatch_stale", dispatches).await
}
