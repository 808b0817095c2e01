//! The batcher: per pool, computes the free room, selects and picks tasks, marks them `queued` and publishes their
//! hints.

mod backlog;
mod charging;
mod load;
mod next_tick;
mod pool;
mod publish;
mod standing;
mod tenants;
mod tick;

pub(crate) use tick::Batcher;
