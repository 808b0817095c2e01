//! Limits on tasks that run at once under a tenant's concurrency keys.
//!
//! A key needs no row: without one a single task of it runs at a time. The batcher alone enforces them.

mod delete;
mod find;
mod held;
mod limit;
mod list;
mod put;

pub use delete::delete;
pub use find::{MOST_COUNTED, find, held_of};
pub use held::held;
pub use limit::ConcurrencyLimit;
pub use list::list;
pub use put::{MOST, MOST_RUNNING, Put, put};
