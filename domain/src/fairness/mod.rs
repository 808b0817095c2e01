//! Who goes next across tenants.

mod accounts;

pub use accounts::Accounts;
