//! Settles what executors report: task, attempt and usage in one statement an event.

mod group;
mod next;
mod settler;

pub(crate) use settler::{Reported, Settler, unit};
