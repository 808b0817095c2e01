//! What became of one row of a transition.

use domain::task::State;

/// The answer per row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionResult {
    /// It moved; the state it is in now.
    Applied(State),
    /// The same, and others wait for it: some may be ready, or to be skipped.
    AppliedToParent(State),
    /// It had moved already, by the same token and to the same outcome: a success.
    Repeated,
    /// Another state or token stands; nothing changed.
    Stale {
        /// The state that stands.
        actual: State,
        /// The lease that was named stands, too: its state is not one that the event leaves.
        leased: bool,
    },
    /// There is no such task.
    NotFound,
}

impl TransitionResult {
    /// It moved to `state`, and others wait for it where it `is_parent`.
    pub(super) const fn applied(state: State, is_parent: bool) -> Self {
        if is_parent { Self::AppliedToParent(state) } else { Self::Applied(state) }
    }

    /// The state that it moved to; `None` where it did not move now.
    #[must_use]
    pub const fn moved_to(self) -> Option<State> {
        match self {
            Self::Applied(state) | Self::AppliedToParent(state) => Some(state),
            Self::Repeated | Self::Stale { .. } | Self::NotFound => None,
        }
    }
}
