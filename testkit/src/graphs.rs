//! Random graphs of tasks, and how their tasks must end: a reference that is written apart from the product's rules.
//!
//! The tests of the store and of the whole system submit such a graph, let its tasks end as they are fated to, and compare.

use domain::task::State;

/// How an edge may be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `succeeded`.
    Success,
    /// `failed`.
    Failure,
    /// `finished`.
    AnyEnd,
    /// `skipped_ok`.
    SuccessOrSkip,
}

impl Wanted {
    /// Its word in the API.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Success => "succeeded",
            Self::Failure => "failed",
            Self::AnyEnd => "finished",
            Self::SuccessOrSkip => "skipped_ok",
        }
    }

    fn is_met(self, end: State) -> bool {
        let did_its_work = end == State::Succeeded;
        let did_not = [State::Failed, State::Aborted, State::Killed, State::Expired].contains(&end);
        match self {
            Self::Success => did_its_work,
            Self::Failure => did_not,
            Self::AnyEnd => true,
            Self::SuccessOrSkip => did_its_work || end == State::Skipped,
        }
    }
}

/// How many edges a node needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Each of them.
    All,
    /// One of them.
    Any,
    /// So many.
    AtLeast(usize),
}

/// A task of a graph.
#[derive(Debug, Clone)]
pub struct Node {
    /// Places of its parents, all smaller than its own, and how each must end.
    pub parents: Vec<(usize, Wanted)>,
    /// How many of them it needs.
    pub needs: Needs,
    /// How it ends if it runs.
    pub fate: State,
}

/// Numbers from a seed.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// The same numbers for the same seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end as u64)).unwrap_or(0)
    }
}

/// A graph of `nodes` tasks, each of which ends as one of `fates` if it runs; most succeed.
#[must_use]
pub fn random(numbers: &mut Numbers, nodes: usize, fates: &[State]) -> Vec<Node> {
    let mut graph = Vec::with_capacity(nodes);
    for place in 0..nodes {
        let most = [0, 1, 2, 3, 6][numbers.below(5)].min(place);
        let mut parents: Vec<(usize, Wanted)> = Vec::new();
        for _ in 0..most {
            // Mostly near: chains as well as wide layers.
            let reach = if numbers.below(3) == 0 { place } else { place.min(8) };
            let parent = place - 1 - numbers.below(reach);
            let wanted = match numbers.below(8) {
                0 => Wanted::Failure,
                1 => Wanted::AnyEnd,
                2 => Wanted::SuccessOrSkip,
                _ => Wanted::Success,
            };
            if parents.iter().all(|(other, _)| *other != parent) {
                parents.push((parent, wanted));
            }
        }
        let needs = match numbers.below(4) {
            0 => Needs::Any,
            1 if !parents.is_empty() => Needs::AtLeast(1 + numbers.below(parents.len())),
            _ => Needs::All,
        };
        let fate = if numbers.below(4) == 0 {
            fates[numbers.below(fates.len())]
        } else {
            State::Succeeded
        };
        graph.push(Node { parents, needs, fate });
    }
    graph
}

/// How each task of `graph` ends: those that never run are skipped.
#[must_use]
pub fn ends(graph: &[Node]) -> Vec<State> {
    let mut ends: Vec<State> = Vec::with_capacity(graph.len());
    for node in graph {
        let met =
            node.parents.iter().filter(|(parent, wanted)| wanted.is_met(ends[*parent])).count();
        let runs = match node.needs {
            _ if node.parents.is_empty() => true,
            Needs::All => met == node.parents.len(),
            Needs::Any => met > 0,
            Needs::AtLeast(wanted) => met >= wanted,
        };
        ends.push(if runs { node.fate } else { State::Skipped });
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_skips_what_needs_success_and_no_more() {
        let node = |parents: &[(usize, Wanted)], needs, fate| Node {
            parents: parents.to_vec(),
            needs,
            fate,
        };
        let graph = [
            node(&[], Needs::All, State::Failed),
            node(&[(0, Wanted::Success)], Needs::All, State::Succeeded),
            node(&[(0, Wanted::Failure)], Needs::All, State::Succeeded),
            node(&[(1, Wanted::Success), (2, Wanted::Success)], Needs::Any, State::Succeeded),
            node(
                &[(1, Wanted::SuccessOrSkip), (2, Wanted::Success)],
                Needs::AtLeast(2),
                State::Killed,
            ),
            node(&[(1, Wanted::Failure), (4, Wanted::AnyEnd)], Needs::All, State::Succeeded),
        ];
        use State::{Failed, Killed, Skipped, Succeeded};
        assert_eq!(ends(&graph), [Failed, Skipped, Succeeded, Succeeded, Killed, Skipped]);
    }
}
