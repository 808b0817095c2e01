//! The processes that `berth up` starts: engines, and with `--full` the roles.
//!
//! The rule: none outlives `berth up`, however that ends, none hears a ctrl-C that is meant for it, and one that ends before
//! its time is started again.

mod become_child;
mod keeper;
mod leftovers;
mod merged_log;
mod supervised;

pub use become_child::{OURSELVES, maybe_become};
pub use keeper::{Keeper, Launch, Output, Surroundings};
pub use leftovers::end as end_leftovers;
pub use merged_log::MergedLog;
pub use supervised::{StopSteps, Supervised};
