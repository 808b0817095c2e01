//! Settles reported results: task, attempt and usage in one statement per event.

mod group;
mod next;
mod reported;
mod settler;
#[cfg(test)]
mod tests;

pub(crate) use reported::Reported;
pub(crate) use settler::Settler;
