//! The batcher: per pool, how much may go, who goes, and off it goes.

mod load;
mod publish;
mod tenants;
mod tick;

pub(crate) use tick::Batcher;
