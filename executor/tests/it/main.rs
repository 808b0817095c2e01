//! The executor as a real process against a real gRPC server that plays the resource manager.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "these are tests, down to their helpers"
)]

mod agent;
mod called;
mod host;
mod proxy;
mod rm;

mod commands;
mod drains;
mod fencing;
mod http_answers;
mod http_calls;
mod http_ends;
mod noops;
mod outputs;
mod probes;
mod spooling;
mod streams;
mod trees;
