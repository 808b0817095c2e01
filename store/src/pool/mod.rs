//! Pools: groups of executors. A task goes to one, of those that are granted to its tenant.

mod delete;
mod flow;
mod granted;
mod list;
mod pause;
mod policy;
mod record;
mod set;

pub use delete::{PoolDeleted, delete};
pub use flow::{Flow, Hop, LastLook, MOST_WAITING, Share, flow};
pub use granted::list_for_fires;
pub use list::{DispatchPool, SubmitPool, find, list, list_for_dispatch, list_for_operator};
pub use pause::{pause, resume};
pub use policy::policy;
pub use record::{Pause, PoolRecord};
pub use set::{PoolChange, PoolStored, PutPool, put, set};
