//! Fair order across tenants, by weighted use.

mod accounts;
mod charges;
mod estimates;

pub use accounts::{Accounts, Charge};
pub use charges::{Charges, Doubtful};
pub use estimates::{Estimates, NameKey};
