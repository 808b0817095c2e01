//! Why a task is where it is, and when it will probably start.
//!
//! Pure: [`Facts`] are what is known at one moment, and [`explain`] says which of them hold the task up, the decisive one
//! first, and what follows for its start. It never guesses beyond them: where nothing is known of the start, it says why.

mod eta;
mod facts;
mod order;
mod reason;
mod room;

pub use eta::{Basis, Eta};
pub use facts::{Facts, Ready, Waits};
pub use reason::{Holder, KeyUse, LimitUse, Pause, Reason, Turn};
pub use room::{Room, Rooms};

use crate::id::TaskId;
use crate::task::State;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What holds a task up, and when it will probably start. In JSON as the API answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Which task.
    pub id: TaskId,
    /// Where it is in its life.
    pub state: State,
    /// As of when all this is.
    pub at: Timestamp,
    /// What it waits for, or does instead; the decisive one first.
    pub reasons: Vec<Reason>,
    /// When it will probably start.
    pub eta: Eta,
    /// It ends `expired` then, unless it starts before.
    pub expires_at: Option<Timestamp>,
}

/// Explains a task from what is known of it.
#[must_use]
pub fn explain(facts: Facts) -> Explanation {
    let reasons = order::reasons(&facts);
    let eta = eta::eta(facts.at, &reasons);
    let Facts { id, state, at, expires_at, .. } = facts;
    Explanation { id, state, at, reasons, eta, expires_at }
}
