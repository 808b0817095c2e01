//! Time-driven transitions: due tasks become ready, late ones expire, tasks with stale hints become ready again.
//!
//! `poll` and `stale` find all of them. In addition, the batcher's process holds the next due times in memory (`held`,
//! `read`) and releases each task on time (`release`). Without this cache, tasks are ready one poll later.

mod called;
mod children;
mod held;
mod poll;
mod read;
mod release;
mod stale;

pub(crate) use called::CalledTick;
pub(crate) use children::ChildrenTick;
pub(crate) use held::HeldTasks;
pub(crate) use poll::DueTick;
pub(crate) use read::{READ_INTERVAL, ReadDueTick};
pub(crate) use release::ReleaseTick;
pub(crate) use stale::{MIN_INTERVAL as STALE_POLL, StaleTick};
