//! Gates: what tasks of nodes wait for after their parents.
//!
//! A task whose gate is closed is found by its `wake_at`, as any time-driven work. One transaction locks some of them, reads what they
//! need, and does what [`domain::workflow::Gate::open`] says of each; after a crash all of it is done again.

mod expand;
mod gather;
mod lack;
mod moves;
mod open;
mod read;
mod wait;

pub use lack::lack;
pub use open::{OpenedGates, open_gates};
