//! What all tests here share: a migrated database with every role's handle, tasks in any state, and the invariants.

mod checks;
mod put;
mod rivals;
mod shuffle;
mod world;

pub use put::{Put, ended, new_task, outcome_of};
pub use rivals::{Prize, Told, race};
pub use shuffle::Shuffle;
pub use world::{Leader, Owned, World};
