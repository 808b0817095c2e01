//! Checks the invariants of a live installation: read-only, in one snapshot, with a time limit.
//!
//! `berth doctor` runs it, and the scheduler once a minute, as `berth_scheduler`, whose policies show the rows of all tenants.
//! Nothing here writes, waits for a lock or runs for long. A check that has no time left is reported as not checked, never as
//! passed. Live rows are checked completely; of history, a sample of the last day.

mod attempts;
mod capacity;
mod check;
mod clock;
mod connect;
mod database;
mod executors;
mod fires;
mod leases;
mod options;
mod owners;
mod rollup;
mod run;
mod spend;
mod tasks;

pub use check::{Check, CheckOutcome, CheckResult};
pub use connect::DoctorDb;
pub use options::DoctorOptions;
pub use run::{pools, run_checks, unplaceable};
pub use tasks::Unplaceable;

use crate::StoreError;

/// How many rows violate a check, and one of them.
struct Finding {
    check: Check,
    count: i64,
    example: Option<String>,
}

impl From<Finding> for CheckOutcome {
    fn from(finding: Finding) -> Self {
        match u64::try_from(finding.count) {
            Ok(count) if count > 0 => {
                Self::Failed { count, example: finding.example.unwrap_or_default() }
            }
            _ => Self::Passed,
        }
    }
}

/// The one row of a statement that gives one.
fn one<T>(row: Option<T>) -> Result<T, StoreError> {
    row.ok_or(StoreError::Database(sqlx::Error::RowNotFound))
}
