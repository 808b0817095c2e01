//! A whole Berth on one machine, for end-to-end tests and measurements: real processes on real engines.
//!
//! The rule: nothing is mocked, every process is the `berth` binary, and all that is checked is read from
//! outside (the API, the tables, the ledger that the tasks themselves write).

pub mod chaos;
mod cluster;
mod customer;
mod load;
mod look;
mod oracle;
mod pace;
mod ports;
mod promise;
mod rabbitmqctl;
mod receiver;
mod schedules;
mod steady;
mod up;
mod usage;

pub use cluster::{Cluster, EXECUTOR_SECRET, KEY_HASH_SECRET, Role, Shape};
pub use customer::Customer;
pub use load::{Mix, Submitted};
pub use look::{batcher, freeze, metric, now_ms, now_ns, page, sum};
pub use oracle::Oracle;
pub use pace::Pace;
pub use ports::{PortsSeen, watch_ports};
pub use promise::{Promise, Violation, by_promise};
pub use rabbitmqctl::{rabbitmqctl, rabbitmqctl_of};
pub use receiver::{Manner, Received, Receiver};
pub use schedules::{Lateness, Schedules};
pub use steady::{Answer, Seen, Steady};
pub use up::{Up, UpCommand};
pub use usage::usage_faults;
