//! `POST /v1/workflow-runs/{id}/rerun`: a new run of some of its nodes, which takes over the results of the others.

use super::begin::{Begun, begin, run_of};
use super::place::read;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::request::json;
use api_types::WorkflowRun;
use api_types::request::WorkflowRerun;
use domain::task::State;
use domain::workflow::Redo;
use store::workflow::run::{NewRun, RunRecord, nodes};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Run nodes of a workflow run again",
    description: "A new run, whose `rerun_of` refers to this one, with the same input and definition. Without a body it runs each node \
                  that did not succeed, and everything below it; with `nodes` it runs these, with `below` also everything below them. The \
                  other nodes and their results are taken over. The run must have ended; it does not change.",
    request: Some("WorkflowRunRerun"),
    answers: &[AnswerDoc {
        status: 201,
        text: "The new run",
        content: Content::Json("WorkflowRun"),
    }],
    answer_headers: &[AnswerHeader::Location],
    problems: &[
        Code::NotFound,
        Code::NotEnded,
        Code::Conflict,
        Code::ValidationFailed,
        Code::TenantSuspended,
        Code::QuotaExceeded,
        Code::OutcomeUnknown,
    ],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; `not_ended`; `conflict` where nothing is to be run again; as where it is begun: `rate_limited`, `quota_exceeded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowRun>, Problem> {
    call.caller.require_active()?;
    call.query()?.finish()?;
    let asked: WorkflowRerun =
        if call.body.is_empty() { WorkflowRerun::default() } else { json::parse(&call.body)? };
    let redo = redo(asked)?;
    let before = read(&call).await?;
    if !before.state.is_terminal() {
        let detail = "The run has not ended. Wait until it has, or cancel it.";
        return Err(Problem::new(Code::NotEnded, detail));
    }
    let plan = before.plan()?;
    let chosen = redo
        .chosen(&plan, &states(&call, &before).await?)
        .map_err(|unknown| Problem::at(Code::ValidationFailed, "/nodes", unknown.to_string()))?;
    if !chosen.contains(&true) {
        let detail = "Each node of the run succeeded or was skipped. To run some again, name them in `nodes`.";
        return Err(Problem::new(Code::Conflict, detail));
    }
    let workflow = before.workflow.clone().zip(before.version);
    let of = run_of(
        &call,
        Begun { workflow, plan, input: before.input.clone(), fired: before.fired.clone() },
    );
    begin(&call, NewRun::again(of, &before, &chosen)).await
}

fn redo(asked: WorkflowRerun) -> Result<Redo, Problem> {
    match (asked.nodes, asked.below.unwrap_or(false)) {
        (Some(nodes), _) if nodes.is_empty() => {
            Err(Problem::at(Code::ValidationFailed, "/nodes", "must have at least one node"))
        }
        (Some(nodes), false) => Ok(Redo::Nodes(nodes)),
        (Some(nodes), true) => Ok(Redo::Below(nodes)),
        (None, false) => Ok(Redo::Failed),
        (None, true) => Err(Problem::at(
            Code::ValidationFailed,
            "/below",
            "is allowed only together with `nodes`",
        )),
    }
}

/// The states of the nodes; what is in no history any more cannot be run again without what it returned, and is taken as it was left.
async fn states(call: &Call, before: &RunRecord) -> Result<Vec<State>, Problem> {
    let stands = nodes(&call.state.api, &call.scope(), &before.tasks, before.tasks_since).await?;
    Ok(stands.into_iter().map(|one| one.state.unwrap_or(State::Succeeded)).collect())
}
