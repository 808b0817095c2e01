//! What became of one row of a transition.

use domain::task::State;

/// The answer per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionResult {
    /// It moved; the state it is in now.
    Applied(State),
    /// It had moved already, by the same token and to the same outcome: a success.
    Repeated,
    /// Another state or token stands; nothing changed.
    Stale {
        /// The state that stands.
        actual: State,
    },
    /// There is no such task.
    NotFound,
}
