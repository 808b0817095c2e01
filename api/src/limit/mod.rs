//! Rate limits: how many requests a peer may send, and how many tasks a tenant may submit.
//!
//! `peers` counts requests by address, before anything is known of who sends them. `limiter` admits submissions: each tenant has a
//! `meter` here, which holds tokens leased from `shared` (Redis), so that most requests ask nobody; without Redis it holds this
//! process's share of the limits (`counting`). What is refused is told by `refusal`, what is left by `headers`. The ticks of `upkeep` do
//! the rest. The rule: no request fails, or waits for longer than `redis.command_timeout`, because of Redis.

mod admission;
mod counting;
mod demand;
mod figures;
mod headers;
mod limiter;
mod meter;
mod meters;
mod moment;
mod peers;
mod plans;
mod rate_use;
mod refusal;
mod repeats;
mod shared;
mod state;
mod trouble;
mod upkeep;

pub(crate) use admission::{Admission, Shortage};
pub(crate) use limiter::Limiter;
pub(crate) use meter::Meter;
pub(crate) use rate_use::RateUse;
pub(crate) use refusal::of_item;
pub(crate) use shared::NotRedis;
pub(crate) use upkeep::keep_up;
