//! Where a task runs: filter what fits, score, take the best.

mod choose;
mod lacks;
mod misfit;
mod occupancy;
mod ports;
mod shapes;

pub use choose::{Node, Score, choose};
pub use lacks::Lacks;
pub use misfit::{Misfit, misfit};
pub use occupancy::Occupancy;
pub use ports::PortBlocks;
pub use shapes::Shapes;
