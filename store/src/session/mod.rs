//! Executor sessions: one boot of an executor, owned by one resource manager at a time.

mod end;
mod lapse;
mod list;
mod open;
mod owners;
mod prune;
mod quarantine;
mod renew;

pub use end::end;
pub use lapse::{Lapsed, lapse};
pub use list::{ConnectedExecutor, ExecutorPosition, list};
pub use open::{NewSession, Opened, open_or_adopt};
pub use owners::{SessionOwner, owners};
pub use prune::prune;
pub use quarantine::{SessionQuarantine, quarantine};
pub use renew::{Renewal, Renewed, renew};
