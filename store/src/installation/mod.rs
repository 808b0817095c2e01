//! An installation that was restored from a dump: its schedules are held until an operator has looked.
//!
//! `berth migrate` notices a restore ([`crate::migrate`]); no scheduler owns shards of schedules meanwhile ([`crate::shard::take`]).

mod alive;
mod held;
mod overdue;
mod resume;

pub use alive::{AliveTasks, alive};
pub use held::{held, held_for_operator, held_for_tenant};
pub use overdue::{Overdue, OverdueSchedule, overdue};
pub use resume::resume;
