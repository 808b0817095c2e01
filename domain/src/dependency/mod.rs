//! Tasks that wait for others: edges with a condition, how many of them must hold, and what each end of a parent decides.
//!
//! The api checks the graph of a batch, `store` counts in SQL, and the reference of the tests walks whole graphs: all by these rules.

mod condition;
mod edges;
mod order;
mod waiting;

pub use condition::{Condition, ParseConditionError};
pub use edges::{Dependencies, Edge, Join, MAX_PARENTS};
pub use order::{Circle, topological_order};
pub use waiting::{Verdict, Waiting};
