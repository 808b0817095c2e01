//! Spend caps.

pub mod delete;
pub mod get;
pub mod list;
pub mod put;
mod view;

pub(super) use view::view;
