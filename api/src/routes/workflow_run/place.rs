//! Which run a request is about.

use crate::call::Call;
use crate::problem::Problem;
use domain::id::WorkflowRunId;
use store::workflow::run::RunRecord;

/// The run named in the path. A malformed id is a run that does not exist.
///
/// # Errors
/// `not_found`.
pub(super) fn run_id(call: &Call) -> Result<WorkflowRunId, Problem> {
    let text = call.request.part("id").unwrap_or_default();
    text.parse().map_err(|_| no_such_run())
}

/// "Not found", in the same words for a foreign and an unknown one.
pub(super) fn no_such_run() -> Problem {
    Problem::no_such("workflow run")
}

/// The run named in the path, with its plan.
///
/// # Errors
/// `not_found`; what the database said.
pub(super) async fn read(call: &Call) -> Result<RunRecord, Problem> {
    let found = store::workflow::run::get(&call.state.api, &call.scope(), run_id(call)?).await?;
    found.ok_or_else(no_such_run)
}
