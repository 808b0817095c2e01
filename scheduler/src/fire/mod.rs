//! Fires schedules: every due time once, with one outcome.
//!
//! All schedules are dealt into shards, and the schedulers that live share these out by themselves ([`shards`]). What is due soon is
//! read into a wheel ([`reading`]), which is a cache and no more; what has come is written in groups ([`firing`]), under the epochs
//! of the shards. [`keeping`] does what is not urgent: fixed delays, backfills, what was missed, and a new release of the time zones;
//! [`streaks`] pauses schedules whose tasks fail.

mod attention;
mod clock;
mod counted;
mod firing;
mod judge;
mod keeping;
mod known;
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
pub(crate) use firing::{FireTick, Part};
pub(crate) use judge::Judge;
pub(crate) use keeping::{KeepFires, MissedTick};
pub(crate) use reading::{POLL as READ_POLL, ReadTick};
pub(crate) use shards::Shards;
pub(crate) use streaks::StreakTick;
pub(crate) use timers::Timers;
