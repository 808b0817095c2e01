//! WHEN: due times, dispatch order, and the sweep of stale hints.
//!
//! Any number of schedulers run; one is the batcher, by a row with an epoch. Everything is a bounded, idempotent tick
//! over the database: a scheduler may be killed at any time. It calls no other role: they meet in Postgres and on the
//! bus.
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
mod workflow;

pub use start::{Scheduler, StartError};
