//! Pools: groups of executors. A task goes to one.

mod list;
mod pause;
mod policy;
mod record;
mod set;

pub use list::{DispatchPool, SubmitPool, list, list_for_dispatch, list_for_operator};
pub use pause::{pause, resume};
pub use policy::policy;
pub use record::{Pause, PoolRecord};
pub use set::set;
