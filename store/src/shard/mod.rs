//! Parts of all schedules, and which scheduler fires each.
//!
//! A scheduler owns shards for as long as it keeps its own row up, so that a heartbeat is one row, whatever it owns. Who takes a
//! shard raises its epoch; fires name the epoch and hold the row while they write, so that an old owner writes nothing.

mod beat;
mod give_up;
mod prepare;
mod take;
mod tzdb;

pub use beat::{Beat, Shard, beat};
pub use give_up::{give_up, leave};
pub use prepare::prepare;
pub use take::take;
pub use tzdb::set_tzdb;

use domain::epoch::Epoch;

/// A shard and the epoch under which it is owned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShardEpoch {
    /// The shard.
    pub shard: i16,
    /// Under which epoch.
    pub epoch: Epoch,
}
