//! Schedules fired, and delayed tasks made ready, by real schedulers in this process, on a real Postgres. No task is run: none ends
//! by itself but those that expire.
//!
//! Run with `scripts/with-services --postgres -- cargo nextest run -p scheduler`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that cannot go on fails its test")]

mod away;
mod delayed;
mod doctor;
mod edits;
mod jitter;
mod made_up;
mod misfires;
mod overlaps;
mod ownership;
mod pools;
mod runs;
mod steady;
mod streaks;
mod world;
mod zones;
