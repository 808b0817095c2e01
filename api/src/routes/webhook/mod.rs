//! Webhooks, and what was sent to them.

pub mod delete;
pub mod deliveries;
pub mod get;
pub mod list;
mod place;
pub mod put;
pub mod replay;
pub mod resume;
pub mod rotate;
pub mod test;
mod view;
