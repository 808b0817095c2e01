//! WHEN: due times, whose turn it is, and what has gone stale.
//!
//! Any number of schedulers run; one of them is the batcher, by a row with an epoch. Everything is a
//! bounded, idempotent tick over the database: a scheduler may be killed between any two lines.
//! Never talks to another role: it meets them in Postgres and on the bus.
#![warn(missing_docs)]

mod batcher;
mod doctor;
mod due;
mod fire;
mod keep;
mod leader;
mod metrics;
mod start;
mod tenants;

pub use start::{Scheduler, StartError};
