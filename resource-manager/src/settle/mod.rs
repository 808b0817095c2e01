//! Settles what executors report: task, attempt and usage in one statement an event.

mod group;
mod next;
mod reported;
mod settler;

pub(crate) use reported::Reported;
pub(crate) use settler::Settler;
