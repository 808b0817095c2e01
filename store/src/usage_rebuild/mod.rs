//! Computes the roll-up of usage again, from the attempts that are kept.
//!
//! `berth doctor rebuild-usage` runs it, as `berth_scheduler`, a day at a time. A day is one transaction, which keeps the row of the
//! consumer `usage` locked: the count waits, and attempts that it has not reached are not in the day. So each attempt is counted once
//! by one or the other, and a day is as it was or as it should be, whatever is killed. Only what attempts make is corrected, and only
//! rows that differ are written.

mod day;
mod invoices;
mod report;
mod stored;
mod window;

pub use day::{RebuildDay, rebuild};
pub use invoices::differing;
pub use report::{CostCorrection, CostOfDay, DayRebuilt, InvoiceDifference, RebuildError};
pub use window::first_day;
