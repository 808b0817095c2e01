//! What every role of Berth shares: settings, clocks, shutdown, tasks, ticks, health, metrics, logs,
//! traces and fault points.
//!
//! Roles bring the work; this crate does the waiting. Only here are clocks read, tasks spawned and the
//! environment looked at, so that a test can stand in for each of them and no loop runs unseen.
#![warn(missing_docs)]

pub mod backoff;
pub mod clock;
pub mod config;
pub mod cores;
pub mod error_chain;
pub mod fault;
pub mod health;
pub mod health_server;
mod log_level;
pub mod log_queue;
pub mod log_trace;
pub mod low_priority;
mod malformed;
pub mod metrics;
pub mod otlp;
pub mod random;
pub mod shares;
pub mod shutdown;
mod signals;
pub mod tasks;
pub mod telemetry;
pub mod tick;
pub mod tls;
pub mod trace;
pub mod turns;
