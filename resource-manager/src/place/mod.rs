//! Places hints on executors, one worker per pool.

#[cfg(test)]
mod tests;
mod waiting;
mod worker;
mod workers;

pub(crate) use worker::PoolWorker;
pub(crate) use workers::run as run_workers;
