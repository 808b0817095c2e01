//! Tenants: the customers.

mod create;
mod find;
mod weights;

pub use create::create;
pub use find::find_by_name;
pub use weights::weights;
