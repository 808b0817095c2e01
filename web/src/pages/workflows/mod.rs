//! `/workflows`: definitions, and runs with their graph.

mod critical;
pub(crate) mod edit;
mod graph;
mod lever;
pub(crate) mod list;
pub(crate) mod node;
pub(crate) mod pretty;
pub(crate) mod run;
mod stands;
pub(crate) mod versions;
pub(crate) mod workflow;
