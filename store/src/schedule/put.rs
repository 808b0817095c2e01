//! Stores a schedule by its name: the same again changes nothing.

use super::record::ScheduleRecord;
use crate::connect::ApiDb;
use crate::{StoreError, TenantScope};
use domain::schedule::{Misfire, Overlap, TaskTemplate, Timing};

/// A schedule to store. Everything in it has been checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PutSchedule {
    /// What its owner calls it.
    pub name: String,
    /// What decides when.
    pub timing: Timing,
    /// What a fire makes.
    pub template: TaskTemplate,
    /// What is done while an earlier task of it lives.
    pub overlap: Overlap,
    /// What is done with due times that were not fired in time.
    pub misfire: Misfire,
    /// `Some`: paused, or not; `None`: as it is, and not paused when new.
    pub paused: Option<bool>,
    /// The key or the sign-in it came by.
    pub created_by: String,
    /// Only where it is in this version; 0: only where there is none.
    pub if_version: Option<i64>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PutAnswer {
    /// It is new.
    Created(Box<ScheduleRecord>),
    /// It is changed, and a version on.
    Updated(Box<ScheduleRecord>),
    /// It was so before.
    Unchanged(Box<ScheduleRecord>),
    /// The tenant has as many as its plan allows.
    QuotaReached {
        /// How many that is.
        limit: u32,
    },
    /// It is in another version; `None`: there is none.
    VersionMismatch {
        /// In which.
        version: Option<i64>,
    },
    /// It has no due time from now on.
    NeverFires,
}

/// Stores `schedule`. Its next due time is the first after now. Wake the shards' owners (`Topic::ShardOwner`) when it is `Created` or `Updated`.
///
/// # Errors
/// When the database cannot answer.
pub async fn put(
    db: &ApiDb,
    scope: &TenantScope,
    schedule: &PutSchedule,
) -> Result<PutAnswer, StoreError> {
    let _ = (db, scope, schedule);
    Err(StoreError::Contended)
}
