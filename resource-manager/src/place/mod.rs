//! Places hints on executors, one worker per pool.

mod waiting;
mod worker;
mod workers;

pub(crate) use worker::PoolWorker;
pub(crate) use workers::run as run_workers;
