//! What all tests here share: a migrated database with every role's handle, tasks in any state, and the invariants.

mod access;
mod checks;
mod priced;
mod put;
mod rivals;
mod schedule;
mod shuffle;
mod waiting;
mod world;

pub use access::{log_in, new_key, refused, two_tenants};
pub use priced::priced;
pub use put::{Put, claim, ended, id_days_off, labels, new_task, outcome_of};
pub use rivals::{Prize, Told, race};
pub use schedule::{Firing, new_schedule, once, template};
pub use shuffle::Shuffle;
pub use world::{Leader, Owned, World, config, config_of, new_session};
