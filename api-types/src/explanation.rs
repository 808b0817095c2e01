//! `GET /v1/tasks/{id}/explain`: what a task waits for and its estimated start.

use crate::{DateTime, Extensible};
use domain::explain::{Basis, Eta, Reason};
use domain::id::TaskId;
use domain::task::State;
use serde::{Deserialize, Serialize};

/// What a task waits for and its estimated start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The task.
    pub id: TaskId,
    /// Its state.
    pub state: Extensible<State>,
    /// Time of this explanation.
    pub at: DateTime,
    /// What it waits for, the decisive reason first.
    pub reasons: Vec<Extensible<Reason>>,
    /// Estimated start.
    pub eta: StartEstimate,
    /// When it expires unless started.
    pub expires_at: Option<DateTime>,
}

/// Estimated start of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartEstimate {
    /// Earliest start, as far as known.
    pub earliest: Option<DateTime>,
    /// Estimated start.
    pub estimate: Option<DateTime>,
    /// Basis of the times, or why there are none.
    pub basis: Extensible<Basis>,
}

impl From<domain::explain::Explanation> for Explanation {
    fn from(explanation: domain::explain::Explanation) -> Self {
        let domain::explain::Explanation { id, state, at, reasons, eta, expires_at } = explanation;
        let Eta { earliest, estimate, basis } = eta;
        Self {
            id,
            state: state.into(),
            at,
            reasons: reasons.into_iter().map(Extensible::Known).collect(),
            eta: StartEstimate { earliest, estimate, basis: basis.into() },
            expires_at,
        }
    }
}
