//! `/account`: what the tenant may use and uses, its keys, its users, its audit log.

pub(crate) mod audit;
pub(crate) mod keys;
pub(crate) mod limits;
mod tabs;
pub(crate) mod users;
