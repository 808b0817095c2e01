//! Redis: where all api processes count together. The only folder that knows it.
//!
//! One script, `gcra.lua`, leases tokens from a tenant's bucket. The rule: every call ends within `redis.command_timeout`, and what it
//! was for goes on without it.

mod connection;
mod failure;
mod gcra;

pub(crate) use connection::NotRedis;
pub(super) use connection::Redis;
pub(super) use failure::{Cause, Failure};
pub(super) use gcra::{Grant, LeaseRequest};

#[cfg(test)]
mod tests;
