//! Fires schedules: each due time once, with one outcome.
//!
//! Schedules are sharded, and the live schedulers distribute the shards among themselves ([`shards`]). Due times are
//! read into a timer wheel ([`reading`]), which is only a cache, and written in groups ([`firing`]) under the epochs of
//! the shards. [`keeping`] does background work; [`streaks`] pauses schedules whose tasks fail.

mod clock;
mod counted;
mod firing;
mod judge;
mod keeping;
mod parsed;
mod poll_interval;
mod pools;
mod reading;
mod rendezvous;
mod rooms;
mod shards;
mod streaks;
mod timers;
mod versions;
mod zones;

pub(crate) use clock::DbClock;
pub(crate) use firing::{FireKind, FireTick, Part};
pub(crate) use judge::Judge;
pub(crate) use keeping::{KeepFires, MissedTick};
pub(crate) use reading::{POLL as READ_POLL, ReadTick};
pub(crate) use shards::Shards;
pub(crate) use streaks::StreakTick;
pub(crate) use timers::Timers;
