//! `/operators`: the installation, for those who run it.

pub(crate) mod executors;
pub(crate) mod lever;
pub(crate) mod plan;
pub(crate) mod plans;
pub(crate) mod pool;
pub(crate) mod pools;
mod tabs;
pub(crate) mod tenant;
pub(crate) mod tenants;
