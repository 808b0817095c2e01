//! `/workflows`: definitions, and runs with their graph.

mod graph;
pub(crate) mod list;
pub(crate) mod run;
pub(crate) mod workflow;
