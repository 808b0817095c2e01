//! Rate limits: how many requests a peer may send, and how many tasks a tenant may submit.
//!
//! `keyed` limits peers, by address. `limiter` admits submissions. Each tenant has a `bucket` in this process with a `lease`: tokens
//! taken in advance from the bucket in Redis (`shared`), so that most requests do not call it. Without Redis the process enforces its
//! share of the limit by a bucket of its own. `upkeep` has the periodic work. The rule: no request fails, or waits for longer than
//! twice `redis.command_timeout`, because of Redis.

mod bucket;
mod decision;
mod headers;
mod keyed;
mod lease;
mod limiter;
mod metrics;
mod mode;
mod plans;
mod refusal;
mod shared;
mod unclaimed;
mod upkeep;

pub(crate) use bucket::TenantBucket;
pub(crate) use decision::{Decision, Shortage};
pub(crate) use lease::RateUse;
pub(crate) use limiter::Limiter;
pub(crate) use refusal::of_item;
pub(crate) use shared::NotRedis;
pub(crate) use upkeep::keep_up;
