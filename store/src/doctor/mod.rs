//! Proves the invariants on a live system: one read-only pass, one snapshot, limited time.
//!
//! For `berth doctor` and for the scheduler, each minute. As `berth_scheduler`, whose policies show all tenants' rows. The rule:
//! nothing here writes, waits for a lock or runs for long; what cannot be looked at in time is told as such and never as sound.
//! What is live is looked at whole; of what has ended, a sample of the last day.

mod attempts;
mod capacity;
mod clock;
mod connect;
mod database;
mod executors;
mod fires;
mod leases;
mod limits;
mod look;
mod owners;
mod tasks;

pub use connect::DoctorDb;
pub use look::{Look, look, pools, unplaceable};
pub use tasks::Unplaceable;

use crate::StoreError;
use domain::doctor::{Check, Seen};

/// How often a check found something, and one of them.
struct Found {
    check: Check,
    count: i64,
    example: Option<String>,
}

impl From<Found> for Seen {
    fn from(found: Found) -> Self {
        match u64::try_from(found.count) {
            Ok(count) if count > 0 => {
                Self::Found { count, example: found.example.unwrap_or_default() }
            }
            _ => Self::Sound,
        }
    }
}

/// The one row of a statement that gives one.
fn one<T>(row: Option<T>) -> Result<T, StoreError> {
    row.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
}
