//! `/v1/invoices`: what each month comes to.

pub mod attempts;
pub mod get;
pub mod list;
pub(in crate::routes) mod named;
