//! What live streams share: how many there may be, and who is told that there is something new.
//!
//! `slots` counts them, `hub` looks at the database for all of them together. The rule: a stream that waits costs nothing;
//! what costs is one statement for each tenant that follows something, at most every 25 ms.

mod hub;
mod slots;

pub(crate) use hub::{Hub, Pulses};
pub(crate) use slots::{Slot, Slots};
