//! Why a task waits and its estimated start.
//!
//! Pure: from [`Facts`] of one time, [`explain`] derives the reasons, the decisive one first, and the estimated start.
//! Without a basis for an estimate it says why.

mod eta;
mod expected;
mod facts;
mod order;
mod reason;
mod room;

pub use eta::{Basis, Eta};
pub use expected::{ExpectedStart, expected_start};
pub use facts::{Facts, Ready, Waits};
pub use reason::{CapLack, Holder, KeyUse, LimitUse, OpenParent, OpenParents, Pause, Reason, Turn};
pub use room::{Room, Rooms};

use crate::id::TaskId;
use crate::task::State;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Why a task waits and its estimated start. Its JSON is the API's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Which task.
    pub id: TaskId,
    /// Its state.
    pub state: State,
    /// Time of the explanation.
    pub at: Timestamp,
    /// The reasons, the decisive one first.
    pub reasons: Vec<Reason>,
    /// Estimated start.
    pub eta: Eta,
    /// When it expires unless started.
    pub expires_at: Option<Timestamp>,
}

/// Explains a task from its facts.
#[must_use]
pub fn explain(facts: Facts) -> Explanation {
    let reasons = order::reasons(&facts);
    let eta = eta::eta(facts.at, &reasons);
    let Facts { id, state, at, expires_at, .. } = facts;
    Explanation { id, state, at, reasons, eta, expires_at }
}
