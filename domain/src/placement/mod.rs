//! Where a task runs: filter what fits, score, take the best.

mod choose;
mod ports;
mod shapes;

pub use choose::{Node, Score, choose};
pub use ports::PortBlocks;
pub use shapes::Shapes;
