//! When the nodes of a run start that wait for others, estimated along the path before them.
//!
//! What is known of a node before it has run is its execution cap, and of a wait when it expires. So the estimate is a time by which a
//! node starts if none before it waits for room, and none is retried; it starts earlier where nodes need less than their caps.

use super::plan::{Node, Plan, WaitFor};
use crate::dependency::{Join, topological_order};
use crate::task::State;
use crate::time::Timestamp;

/// How a node stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The state of its task; `None` if it is in no history any more: it has ended.
    pub state: Option<State>,
    /// Whether its parents have released it.
    pub is_released: bool,
    /// When its first attempt was placed.
    pub since: Option<Timestamp>,
    /// It waits for a signal or a person.
    pub is_waiting: bool,
    /// If it is `scheduled` and released: when it is due, or its wait expires.
    pub wakes_at: Option<Timestamp>,
}

/// By when each node starts that waits for its parents, `now` being the time; `None` for all other nodes, and where a node before it has
/// no known end: one that waits for a signal or a person without a limit. `all` is how the nodes stand, in the order of the plan.
#[must_use]
pub fn starts_by(plan: &Plan, all: &[Progress], now: Timestamp) -> Vec<Option<Timestamp>> {
    let edges: Vec<(usize, usize)> = plan
        .nodes
        .iter()
        .enumerate()
        .flat_map(|(child, node)| node.after.iter().map(move |after| (after.node, child)))
        .collect();
    let mut starts = vec![None; plan.nodes.len()];
    let mut ends: Vec<Option<Timestamp>> = vec![None; plan.nodes.len()];
    for place in topological_order(plan.nodes.len(), &edges).unwrap_or_default() {
        let (Some(node), Some(stands)) = (plan.nodes.get(place), all.get(place)) else { continue };
        let end = match stands.state {
            None => Some(now),
            Some(state) if state.is_terminal() => Some(now),
            Some(_) if stands.is_released => ends_by(node, *stands, now),
            Some(_) => {
                let start = released_by(node, (all, &ends), now)
                    .and_then(|at| at.checked_add_signed(node.delay().ok()?));
                if let (Some(of), true) = (starts.get_mut(place), node.wait.is_none()) {
                    *of = start;
                }
                start.and_then(|start| lasts(node, start))
            }
        };
        if let Some(of) = ends.get_mut(place) {
            *of = end;
        }
    }
    starts
}

/// By when enough parents of `node` have ended.
fn released_by(
    node: &Node,
    (all, ends): (&[Progress], &[Option<Timestamp>]),
    now: Timestamp,
) -> Option<Timestamp> {
    let needs = match node.join {
        Join::All => node.after.len(),
        Join::Any => 1,
        Join::AtLeast(least) => usize::try_from(least).unwrap_or(usize::MAX),
    };
    // A parent that ended otherwise does not count any more. One that has not is taken to end as it must.
    let counts = |place: usize, holds: &dyn Fn(State) -> bool| {
        let state = all.get(place).and_then(|stands| stands.state);
        state.is_none_or(|state| !state.is_terminal() || holds(state))
    };
    let mut known: Vec<Timestamp> = node
        .after
        .iter()
        .filter(|after| counts(after.node, &|state| after.on.holds(state)))
        .filter_map(|after| ends.get(after.node).copied().flatten())
        .collect();
    known.sort_unstable();
    match needs {
        0 => Some(now),
        needs => known.get(needs - 1).copied(),
    }
}

/// By when a node ends that its parents have released.
fn ends_by(node: &Node, stands: Progress, now: Timestamp) -> Option<Timestamp> {
    let due = stands.wakes_at.filter(|_| stands.state == Some(State::Scheduled));
    let end = match node.wait.as_ref().map(|wait| &wait.until) {
        Some(WaitFor::Time) => Some(due.unwrap_or(now)),
        Some(WaitFor::Signal(_) | WaitFor::Approval) if stands.is_waiting => due,
        Some(WaitFor::Signal(_) | WaitFor::Approval) => lasts(node, now),
        None => match (stands.state, stands.since) {
            (Some(State::Running | State::Cancelling), Some(since)) => lasts(node, since),
            // Its next attempt has not begun.
            _ => lasts(node, due.map_or(now, |due| due.max(now))),
        },
    };
    end.map(|end| end.max(now))
}

/// By when a node ends that starts at `start`. The items of a node run in parallel.
fn lasts(node: &Node, start: Timestamp) -> Option<Timestamp> {
    let longest = match node.wait.as_ref().map(|wait| (&wait.until, wait.expires)) {
        None => node.task.execution_cap,
        Some((WaitFor::Time, _)) => return Some(start),
        Some((WaitFor::Signal(_) | WaitFor::Approval, expires)) => expires?,
    };
    start.checked_add_signed(chrono::TimeDelta::from_std(longest).ok()?)
}

impl Node {
    /// From its release to its due time.
    fn delay(&self) -> Result<chrono::TimeDelta, chrono::OutOfRangeError> {
        chrono::TimeDelta::from_std(self.delay.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{After, Wait};
    use super::*;
    use crate::dependency::Condition;
    use std::time::Duration;

    const WAITS: Progress = Progress {
        state: Some(State::Scheduled),
        is_released: false,
        since: None,
        is_waiting: false,
        wakes_at: None,
    };
    const READY: Progress = Progress { state: Some(State::Ready), is_released: true, ..WAITS };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + second, 0).unwrap()
    }

    fn ended(state: State) -> Progress {
        Progress { state: Some(state), since: Some(at(-50)), ..READY }
    }

    fn running(since: i64) -> Progress {
        Progress { state: Some(State::Running), since: Some(at(since)), ..READY }
    }

    fn node(cap: u64, after: &[(usize, Condition)], join: Join) -> Node {
        let after = after.iter().map(|(node, on)| After { node: *node, on: *on }).collect();
        Node { after, ..Node::noop("n", Duration::from_secs(cap), join) }
    }

    fn plan(nodes: Vec<Node>) -> Plan {
        Plan { nodes, deadline: None, max_parallel: None, labels: Default::default() }
    }

    fn seconds(plan: &Plan, all: &[Progress]) -> Vec<Option<i64>> {
        let starts = starts_by(plan, all, at(0));
        starts.into_iter().map(|start| Some((start? - at(0)).num_seconds())).collect()
    }

    #[test]
    fn a_node_starts_when_the_caps_before_it_are_over_by_the_longest_path() {
        let ok = Condition::Succeeded;
        // 0 -> 1 -> 3, 0 -> 2 -> 3 -> 4.
        let mut nodes = vec![
            node(60, &[], Join::All),
            node(10, &[(0, ok)], Join::All),
            node(300, &[(0, ok)], Join::All),
            node(5, &[(1, ok), (2, ok)], Join::All),
            node(1, &[(3, ok)], Join::All),
        ];
        let all = |first: Progress| [first, WAITS, WAITS, WAITS, WAITS];
        let of = |first| seconds(&plan(nodes.clone()), &all(first));
        assert_eq!(of(READY), [None, Some(60), Some(60), Some(360), Some(365)]);
        assert_eq!(of(running(-20)), [None, Some(40), Some(40), Some(340), Some(345)]);
        assert_eq!(of(running(-90)), [None, Some(0), Some(0), Some(300), Some(305)], "by now");
        nodes[3].join = Join::Any;
        nodes[4].delay = Some(Duration::from_secs(7));
        let all = [ended(State::Succeeded), running(-4), running(-4), WAITS, WAITS];
        assert_eq!(seconds(&plan(nodes), &all), [None, None, None, Some(6), Some(18)]);
    }

    #[test]
    fn a_wait_lasts_until_it_expires_and_without_that_what_is_below_is_not_known() {
        let wait = |until, expires: Option<u64>, after: &[(usize, Condition)]| Node {
            wait: Some(Wait { until, expires: expires.map(Duration::from_secs) }),
            ..node(0, after, Join::All)
        };
        let ok = Condition::Succeeded;
        let below = |of| node(1, &[(of, ok)], Join::All);
        let plan = plan(vec![
            wait(WaitFor::Approval, Some(100), &[]),
            below(0),
            wait(WaitFor::Approval, None, &[]),
            below(2),
            Node { delay: Some(Duration::from_secs(30)), ..wait(WaitFor::Time, None, &[(1, ok)]) },
            below(4),
        ]);
        let waiting = Progress { is_released: true, is_waiting: true, ..WAITS };
        let expires = Progress { wakes_at: Some(at(60)), ..waiting };
        let all = [expires, WAITS, waiting, WAITS, WAITS, WAITS];
        assert_eq!(seconds(&plan, &all), [None, Some(60), None, None, None, Some(91)]);
        // Its gate is not open yet.
        let begins = Progress { is_waiting: false, ..waiting };
        let all = [begins, WAITS, begins, WAITS, WAITS, WAITS];
        assert_eq!(seconds(&plan, &all), [None, Some(100), None, None, None, Some(131)]);
        let due = Progress { is_released: true, wakes_at: Some(at(9)), ..WAITS };
        let all = [expires, ended(State::Succeeded), waiting, WAITS, due, WAITS];
        assert_eq!(seconds(&plan, &all), [None, None, None, None, None, Some(9)]);
    }

    #[test]
    fn a_parent_that_ended_otherwise_does_not_count() {
        let two = |join| {
            plan(vec![
                node(10, &[], Join::All),
                node(20, &[], Join::All),
                node(1, &[(0, Condition::Succeeded), (1, Condition::Finished)], join),
            ])
        };
        let failed = [ended(State::Failed), READY, WAITS];
        assert_eq!(seconds(&two(Join::Any), &failed), [None, None, Some(20)]);
        assert_eq!(seconds(&two(Join::All), &failed), [None, None, None], "it is skipped");
        let forgotten = [Progress { state: None, ..READY }, READY, WAITS];
        assert_eq!(seconds(&two(Join::All), &forgotten), [None, None, Some(20)]);
    }
}
