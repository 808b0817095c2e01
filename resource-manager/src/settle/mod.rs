//! Settles reported results: task, attempt and usage in one statement per event.

mod group;
mod next;
mod settler;

pub(crate) use settler::{Reported, Settler, unit};
