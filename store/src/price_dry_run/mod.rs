//! What past use would have cost by other prices.
//!
//! Days whose attempts are kept are computed from them, as the roll-up prices them, in chunks; earlier ones from the roll-up, by tier and
//! without the discounts of each attempt. Nothing is written.

mod asked;
mod attempts;
mod rolled_up;
mod run;

pub use run::{DryRun, DryRunOutcome, DryRunTenant, MOST_ATTEMPTS, run};
