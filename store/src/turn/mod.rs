//! What the batcher remembers of turns, as of a second ago: for whoever takes its place, and for those who ask when it is theirs.

mod keep;
mod last;

pub use keep::{PoolTurn, TenantTurn, keep};
pub use last::{InFlight, in_flight, last};
