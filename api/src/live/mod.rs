//! What live streams share: how many there may be, and who is notified of changes.
//!
//! `slots` counts them, `hub` polls the database for all of them together. The rule: a stream that waits costs nothing;
//! what costs is one statement for each tenant that follows something, at most every 25 ms.

mod hub;
mod slots;

pub(crate) use hub::{Hub, Pulses};
pub(crate) use slots::{Slot, Slots};
