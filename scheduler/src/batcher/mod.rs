//! The batcher: per pool, how much may go, who goes, and off it goes.

mod backlog;
mod charging;
mod load;
mod pool;
mod publish;
mod rest;
mod standing;
mod tenants;
mod tick;

pub(crate) use tick::Batcher;
