//! Messages between Berth's processes: hints for resource managers, and wake-ups.
//!
//! Row is truth, message is hint. Losing, doubling or reordering everything here costs time, never
//! a task: a sweep stands behind every hint, a poll behind every wake-up. [`Bus`] is carried by
//! RabbitMQ, or by memory where one process holds all roles; no other crate depends on which.
#![warn(missing_docs)]

mod bus;
mod consumer;
mod delivery;
mod error;
mod hint;
mod in_process;
mod inbox;
mod metrics;
mod outcome;
mod queues;
mod rabbit;
mod topic;
mod wakeups;

pub use bus::Bus;
pub use consumer::HintConsumer;
pub use delivery::Delivery;
pub use error::ConnectError;
pub use hint::{DecodeError, Hint, HintBatch};
pub use outcome::{ConnectionState, PublishOutcome};
pub use queues::{QueueFault, QueueReport};
pub use topic::Topic;
pub use wakeups::Wakeups;
