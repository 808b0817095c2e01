//! Levers of one task: what its owner does to it by hand. The rules are those of [`domain::task::Effect::of`].
//!
//! Each is one transaction: the task's row is locked, what stands is asked for its rule, the event is raised
//! ([`super::transition`]), and the audit gets its row. What is refused leaves nothing behind, an idempotency key neither.

mod change;
mod fields;
mod pull;
mod rerun;
mod standing;

pub use change::{ChangeAnswer, change};
pub use fields::TaskChange;
pub use pull::{LeverAnswer, Pull, PulledLever, pull};
pub use rerun::rerun;
