//! Where the tasks of a pool are, as operators see it.

use crate::DateTime;
use domain::id::{PoolName, TenantId};
use serde::{Deserialize, Serialize};

/// Where the tasks of a pool are, and who gets how much of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolFlow {
    /// The pool.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub pool: PoolName,
    /// When it was read.
    pub as_of: DateTime,
    /// One row for each state that any task is in.
    pub hops: Vec<PoolHop>,
    /// False: more than the 10 000 waiting tasks that are counted may wait.
    pub is_complete: bool,
    /// The last dispatch; null: none in the last 15 s.
    pub dispatch: Option<PoolDispatch>,
    /// The tenants whose tasks wait: those that got most, at most 100.
    pub shares: Vec<PoolShare>,
}

/// Tasks in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolHop {
    /// `ready` (wait for dispatch), `queued` (dispatched, wait for an executor) or `running`.
    pub state: String,
    /// How many there are.
    pub tasks: u64,
    /// Those that wait although their start deadline is over; of `running` those that started after it.
    pub late: u64,
    /// The earliest start deadline among them.
    pub first_deadline: Option<DateTime>,
}

/// A dispatch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolDispatch {
    /// Why it dispatched no more: `nothing_waits`, `no_room`, `room_used`, `batch_full`, `sizes_lack`, `limits` or `paused`.
    pub stopped: String,
    /// Slots (rooms for a basic task) that became free per second, lately.
    pub slots_per_second: f64,
    /// Free slots.
    pub free_slots: u64,
    /// When it was.
    pub at: DateTime,
}

/// A tenant whose tasks wait in a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolShare {
    /// Its id.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub tenant: TenantId,
    /// Its name; null if it is deleted.
    pub name: Option<String>,
    /// Its weight.
    pub weight: f64,
    /// Share that its weight gives it among these tenants, 0 to 1.
    pub entitled: f64,
    /// Share that it has of the slots which these tenants use, 0 to 1.
    pub used: f64,
    /// Its running tasks in this pool.
    pub running: u64,
    /// Its dispatched tasks per second, lately.
    pub tasks_per_second: f64,
    /// How far its use is ahead of its share: seconds of the whole pool, divided by its weight.
    pub ahead: f64,
    /// Tenants whose turn is before.
    pub before: u32,
    /// Whether it is at its limit of running tasks.
    pub at_limit: bool,
    /// Its newest tasks that started and finished, of all pools: at most 100, of the last 24 hours.
    pub finished: u64,
    /// Those that started before their start deadline.
    pub on_time: u64,
}
