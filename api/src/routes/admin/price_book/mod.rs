//! `/v1/admin/price-books`: what things cost.

pub mod delete;
pub mod dry_run;
pub mod get;
pub mod list;
pub mod put;
mod view;
