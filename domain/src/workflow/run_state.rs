//! How a run stands, and how it ends.

use super::plan::Plan;
use crate::dependency::Condition;
use crate::task::State;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The state of a run.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Some of its tasks have not ended.
    Running,
    /// The same, and they are asked to stop.
    Cancelling,
    /// Each node succeeded or was skipped, or its failure was another node's to handle.
    Succeeded,
    /// A node ended otherwise.
    Failed,
    /// Its owner cancelled it.
    Cancelled,
    /// It was stopped at its deadline.
    Expired,
}

impl RunState {
    /// Every state.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in JSON and SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The state of a task that stands as this run does.
    #[must_use]
    pub const fn as_of_task(self) -> State {
        match self {
            Self::Running => State::Running,
            Self::Cancelling => State::Cancelling,
            Self::Succeeded => State::Succeeded,
            Self::Failed => State::Failed,
            Self::Cancelled => State::Cancelled,
            Self::Expired => State::Expired,
        }
    }

    /// Whether nothing of it changes any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Running | Self::Cancelling => false,
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Expired => true,
        }
    }
}

impl FromStr for RunState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|state| state.as_str() == text).ok_or(())
    }
}

/// The end of a run of `plan` whose nodes ended in `states`, and that was not stopped.
///
/// A node that failed is handled where a child waits for that: by an edge with `failed` that its end satisfies, or with `expired`.
#[must_use]
pub fn outcome(plan: &Plan, states: &[State]) -> RunState {
    let mut handled = vec![false; states.len()];
    for after in plan.nodes.iter().flat_map(|node| &node.after) {
        let Some(end) = states.get(after.node) else { continue };
        let handles =
            matches!(after.on, Condition::Failed | Condition::Expired) && after.on.holds(*end);
        if let Some(handled) = handled.get_mut(after.node) {
            *handled |= handles;
        }
    }
    let is_good = |(state, handled): (&State, &bool)| {
        matches!(state, State::Succeeded | State::Skipped) || *handled
    };
    if states.iter().zip(&handled).all(is_good) { RunState::Succeeded } else { RunState::Failed }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{After, Node};
    use super::*;
    use crate::dependency::Join;
    use std::time::Duration;

    fn plan(on: Condition) -> Plan {
        let node = |name| Node::noop(name, Duration::from_secs(1), Join::All);
        let child = Node { after: vec![After { node: 0, on }], ..node("b") };
        let nodes = vec![node("a"), child];
        Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() }
    }

    #[test]
    fn a_failure_counts_unless_another_node_waits_for_it() {
        use State as S;
        for (on, states, end) in [
            (Condition::Succeeded, [S::Succeeded, S::Succeeded], RunState::Succeeded),
            (Condition::Succeeded, [S::Failed, S::Skipped], RunState::Failed),
            (Condition::Failed, [S::Failed, S::Succeeded], RunState::Succeeded),
            (Condition::Failed, [S::Succeeded, S::Skipped], RunState::Succeeded),
            (Condition::Failed, [S::Killed, S::Failed], RunState::Failed),
            (Condition::Failed, [S::Cancelled, S::Skipped], RunState::Failed),
            (Condition::Finished, [S::Failed, S::Succeeded], RunState::Failed),
            (Condition::Expired, [S::Expired, S::Succeeded], RunState::Succeeded),
            (Condition::Expired, [S::Failed, S::Skipped], RunState::Failed),
        ] {
            assert_eq!(outcome(&plan(on), &states), end, "{on} {states:?}");
        }
    }

    #[test]
    fn states_are_read_by_their_names() {
        for state in RunState::ALL {
            assert_eq!(state.as_str().parse(), Ok(*state));
            assert_eq!(state.as_of_task().to_string(), state.as_str());
            assert_eq!(state.as_of_task().is_terminal(), state.is_terminal());
        }
    }
}
