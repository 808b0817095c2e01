//! The facts about a waiting task.

use super::reason::{KeyUse, LimitUse, Pause, Reason, Turn};
use super::room::Rooms;
use crate::id::{PoolName, TaskId};
use crate::resources::Resources;
use crate::task::{DriverName, State};
use crate::tenant::TenantState;
use crate::time::Timestamp;

/// Facts about a task at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Which task.
    pub id: TaskId,
    /// Its state.
    pub state: State,
    /// Time of the facts, by the database clock.
    pub at: Timestamp,
    /// When it expires unless started.
    pub expires_at: Option<Timestamp>,
    /// The reason in its own row: due time, placement or end. `None` if ready.
    pub own: Option<Reason>,
    /// Why its retry is held: [`Reason::RetryBudget`] or [`Reason::BreakerOpen`].
    pub held: Option<Reason>,
    /// What it waits for; `None` after dispatch.
    pub waits: Option<Waits>,
}

/// What an undispatched task waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    /// What it needs.
    pub resources: Resources,
    /// Its driver; `None`: stored by a release that did not note it.
    pub driver: Option<DriverName>,
    /// How its tenant stands.
    pub standing: TenantState,
    /// When its tenant was suspended.
    pub suspended_at: Option<Timestamp>,
    /// Its pool.
    pub pool: PoolName,
    /// The pause of the pool, if any.
    pub paused: Option<Pause>,
    /// Free room of the pool.
    pub rooms: Rooms,
    /// What a ready task waits for; `None` before its due time.
    pub ready: Option<Ready>,
}

/// What a ready task waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// Tasks that hold its concurrency key, if any.
    pub key: Option<KeyUse>,
    /// Its tenant is at the limit on running tasks.
    pub limit: Option<LimitUse>,
    /// End of its flexible time, if flexible.
    pub spare_until: Option<Timestamp>,
    /// Its position.
    pub turn: Turn,
}

impl Facts {
    /// Its time has come, and it is not ready: what it waits for is not in its own row.
    #[must_use]
    pub fn is_overdue(&self) -> bool {
        matches!(self.own, Some(Reason::Due { at }) if at <= self.at)
    }

    /// When the task ended.
    #[must_use]
    pub fn ended_at(&self) -> Option<Timestamp> {
        let Some(Reason::Ended { at, .. }) = self.own else { return None };
        Some(at)
    }
}
