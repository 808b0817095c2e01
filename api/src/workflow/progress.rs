//! How the nodes of a run stand, for an estimate of when the others start.

use domain::workflow::Progress;
use store::workflow::run::NodeRecord;

/// How a node stands.
#[must_use]
pub fn progress(node: &NodeRecord) -> Progress {
    Progress {
        state: node.state,
        is_released: node.is_released,
        since: node.started_at,
        is_waiting: node.signal.is_some() || node.waits_for_approval,
        wakes_at: node.wakes_at,
    }
}
