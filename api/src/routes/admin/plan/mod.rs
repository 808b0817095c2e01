//! `/v1/admin/plans`: what subscriptions allow.

pub mod delete;
pub mod get;
pub mod list;
pub mod put;
mod view;
