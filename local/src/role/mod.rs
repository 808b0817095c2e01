//! The long-running roles, each a process of its own.
//!
//! Every one of them: reads its settings, starts its logs, starts its library crate, says once on standard output where
//! it listens, and drains on SIGTERM. The order of ending is the same too: the role first, its bus after it.

mod api;
mod executor;
mod notifier;
mod notify;
mod own_bus;
mod process;
mod ready;
mod resource_manager;
mod scheduler;

pub use api::run as api;
pub use executor::run as executor;
pub(crate) use notifier::LAST_TRIES;
pub use notifier::run as notifier;
pub use own_bus::OwnBus;
pub(crate) use ready::Ready;
pub use resource_manager::run as resource_manager;
pub use scheduler::run as scheduler;
