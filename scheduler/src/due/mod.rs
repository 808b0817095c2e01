//! What time has come for: due tasks become ready, late ones expire, stale hints are taken back.
//!
//! `poll` and `stale` look for all of it and miss nothing. Beside them whoever is the batcher holds the due times of the next moment in memory
//! (`held`, `look`) and releases each when it comes (`release`): a cache, without which tasks are ready a poll later.

mod held;
mod look;
mod poll;
mod release;
mod stale;

pub(crate) use held::HeldTasks;
pub(crate) use look::{LOOK, LookTick};
pub(crate) use poll::DueTick;
pub(crate) use release::ReleaseTick;
pub(crate) use stale::{LEAST as STALE_POLL, StaleTick};
