//! `unplaced`: a resource manager held a hint and found no room; the task goes back to ready.
//!
//! It keeps its place, and it is prepaid: its next dispatch costs its tenant nothing. No attempt is burnt: nothing was
//! placed. Until there is room for its size, the batcher passes it by: see `load::OwnerLoad::lacks`.

use super::dispatch_undone::dispatch_undone;
use crate::StoreError;
use crate::connect::RmDb;
use domain::task::Dispatch;

/// Gives dispatches back; says how many.
///
/// # Errors
/// When the database cannot answer; then nothing moved, and the scheduler's sweep does it later.
pub async fn unplaced(db: &RmDb, dispatches: &[Dispatch]) -> Result<u64, StoreError> {
    dispatch_undone(db.pool(), "unplaced", dispatches).await
}
