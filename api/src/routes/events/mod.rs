//! `/v1/events`: what changed, as CloudEvents.

pub mod list;
mod place;
mod stream;
mod view;
