//! `/schedules`: the list, one with its due times and fires, what can be done with it, and a form for a new one.

pub(crate) mod edit;
mod heat;
pub(crate) mod lever;
pub(crate) mod list;
pub(crate) mod schedule;
mod timing;
