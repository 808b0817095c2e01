//! `/schedules`: the list, one schedule with its calendar and its past, a form for a new or a stored one, and levers.

mod calendar;
mod due;
pub(crate) mod edit;
mod form;
mod heat;
pub(crate) mod lever;
pub(crate) mod list;
mod price;
pub(crate) mod schedule;
mod timing;
