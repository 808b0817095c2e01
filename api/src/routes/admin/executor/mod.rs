//! `/v1/admin/executors`: the machines that run tasks, as they are connected.

pub mod list;
mod view;
