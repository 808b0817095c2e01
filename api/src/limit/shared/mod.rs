//! Redis: where all api processes count together. The only folder that knows it.
//!
//! `lease` takes tokens of a tenant's bucket, `probe` tells since when buckets count; each is one script. The rule: every call ends within
//! `redis.command_timeout`, and what it was for goes on without it.

mod away;
mod connection;
mod lease;
mod probe;

pub(super) use away::{Away, Cause};
pub(crate) use connection::NotRedis;
pub(super) use connection::Redis;
pub(super) use lease::{Answer, Ask, Lease};

#[cfg(test)]
mod tests;
