//! Who goes next across tenants: what each has consumed, by its weight.

mod accounts;
mod charges;
mod estimates;

pub use accounts::{Accounts, Charge};
pub use charges::Charges;
pub use estimates::{Estimates, NameKey};
