//! What is known of a task and of what stands before it.

use super::reason::{KeyUse, LimitUse, Pause, Reason, Turn};
use super::room::Rooms;
use crate::id::{PoolName, TaskId};
use crate::resources::Resources;
use crate::task::State;
use crate::tenant::TenantState;
use crate::time::Timestamp;

/// All that is known of a task at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Which task.
    pub id: TaskId,
    /// Where it is in its life.
    pub state: State,
    /// As of when, by the database's clock.
    pub at: Timestamp,
    /// It ends `expired` then, unless it starts before.
    pub expires_at: Option<Timestamp>,
    /// What its own row says: its time, its place, its end. `None` for one that is ready.
    pub own: Option<Reason>,
    /// What holds its next attempt up, which would else be due by now: [`Reason::RetryBudget`] or [`Reason::BreakerOpen`].
    pub held: Option<Reason>,
    /// What stands before it; `None` once it was handed out.
    pub waits: Option<Waits>,
}

/// What stands before a task that was not handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    /// What it needs.
    pub resources: Resources,
    /// How its tenant stands.
    pub standing: TenantState,
    /// Since when nothing of its tenant starts.
    pub suspended_at: Option<Timestamp>,
    /// Where it is to run.
    pub pool: PoolName,
    /// Nothing of the pool is handed out.
    pub paused: Option<Pause>,
    /// What room the pool has.
    pub rooms: Rooms,
    /// What else a task that is ready waits for; `None` before its time.
    pub ready: Option<Ready>,
}

/// What a task waits for whose time has come.
#[derive(Debug, Clone, PartialEq)]
pub struct Ready {
    /// What holds its concurrency key, where it has one.
    pub key: Option<KeyUse>,
    /// Its tenant is at the limit on running tasks.
    pub limit: Option<LimitUse>,
    /// It is flexible, and until then it starts on spare room only.
    pub spare_until: Option<Timestamp>,
    /// Where it stands.
    pub turn: Turn,
}

impl Facts {
    /// When the task ended.
    #[must_use]
    pub fn ended_at(&self) -> Option<Timestamp> {
        let Some(Reason::Ended { at, .. }) = self.own else { return None };
        Some(at)
    }
}
