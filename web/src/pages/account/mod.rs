//! `/account`: what the tenant may use and uses, its keys, its users, its audit log.

pub(crate) mod audit;
pub(crate) mod invite;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod new_key;
mod roles;
pub(crate) mod rotate;
mod tabs;
pub(crate) mod user;
pub(crate) mod users;
