//! Values as people read them: times, lengths, amounts, states. Each with its unit.

mod amount;
mod moment;
mod state;

pub(crate) use amount::{bytes, count, money, ratio};
pub(crate) use moment::{Ago, Moment, length, ms};
pub(crate) use state::{Mark, mark, mark_of};
