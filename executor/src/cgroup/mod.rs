//! Limits that the kernel holds whole process trees to, by control groups of version 1 or 2 as found.
//!
//! The executor has a folder of its own in each hierarchy it may use, named after its data folder, and in it
//! each attempt has a group for as long as it runs. Groups outlive processes, so they are also how leftovers
//! are found.

mod claim;
mod clean;
mod find;
mod group;
mod mounts;
mod place;

pub(crate) use claim::{Claim, PREFIX};
pub(crate) use clean::{clean, kill_all};
pub(crate) use find::{Found, find};
pub(crate) use group::Group;
pub(crate) use place::{Controller, Place};
