//! Places hints on executors, a worker a pool.

#[cfg(test)]
mod tests;
mod waiting;
mod worker;
mod workers;

pub(crate) use worker::PoolWorker;
pub(crate) use workers::run as run_workers;
