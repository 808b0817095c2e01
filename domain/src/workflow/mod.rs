//! Workflows: graphs of nodes that become tasks, what flows between them, and how a run ends.
//!
//! The api makes a [`Plan`] of a definition, a run turns each node into a task with edges as in [`crate::dependency`], and what a node
//! waits for besides its parents is the [`Gate`] of its task. Everything here is decided without a database: `store` and the scheduler ask.

mod compare;
mod fill;
mod gate;
mod most_tasks;
mod order;
mod path;
mod plan;
mod rerun;
mod run_state;
mod value;

pub use compare::{Comparison, Test};
pub use fill::{FillProblem, MAX_FILLED_RUN, fill};
pub use gate::{Gate, Opening, ParentNode, is_signal_key};
pub use most_tasks::NodeTasks;
pub use order::{bears_fire, longest_path_first};
pub use path::{Progress, starts_by};
pub use plan::{After, Hole, InputProblem, Items, Node, Plan, Wait, WaitFor, is_node_name};
pub use rerun::{Redo, UnknownNode};
pub use run_state::{RunState, outcome};
pub use value::{Source, at_pointer, is_pointer, text_of};

/// Nodes of one definition, at most; a plan may allow fewer.
pub const MAX_NODES: usize = 10_000;
/// Edges of one definition, at most.
pub const MAX_EDGES: usize = 100_000;
/// Longest input of a run as JSON, bytes.
pub const MAX_INPUT: usize = 256 * 1024;
/// Longest payload of a signal as JSON, bytes: that of a task's result.
pub const MAX_PAYLOAD: usize = crate::task::MAX_RESULT_BYTES;
/// Longest key of a signal, characters.
pub const MAX_SIGNAL_KEY: usize = 200;
