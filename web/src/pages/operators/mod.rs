//! `/operators`: the installation, for those who run it.

pub(crate) mod executors;
pub(crate) mod plans;
pub(crate) mod pools;
mod tabs;
pub(crate) mod tenants;
