//! Schedules fired by real schedulers, in this process, on a real Postgres. No task of theirs is run: none ends by itself.
//!
//! Run with `scripts/with-services --postgres -- cargo nextest run -p scheduler`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that cannot go on fails its test")]

mod doctor;
mod edits;
mod misfires;
mod overlaps;
mod ownership;
mod steady;
mod world;
mod zones;
