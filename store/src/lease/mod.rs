//! Leases: the right to run one attempt. A lease is (task, attempt) under an executor's session.

mod live;
mod overdue;
mod stops;

pub use live::{LiveLease, live};
pub use overdue::overdue;
pub use stops::stops;
