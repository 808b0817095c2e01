//! `/webhooks`: where events are sent, what was sent, and what receivers answered.

mod ask;
pub(crate) mod delivery;
pub(crate) mod edit;
mod form;
pub(crate) mod lever;
pub(crate) mod list;
mod secret;
pub(crate) mod webhook;
mod words;
