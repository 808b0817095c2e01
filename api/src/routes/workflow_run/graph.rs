//! `GET /v1/workflow-runs/{id}/graph`: nodes, edges, states and times, to be drawn.

use super::place::read;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, Content, Doc};
use crate::problem::{Code, Problem};
use crate::workflow::graph;
use api_types::WorkflowGraph;
use domain::id::TaskId;
use std::collections::HashMap;
use store::workflow::run::{RunRecord, items, nodes};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Read the graph of a workflow run",
    description: "Each node with its parents, its state and its times, and what it waits for.",
    answers: &[AnswerDoc {
        status: 200,
        text: "The graph",
        content: Content::Json("WorkflowGraph"),
    }],
    problems: &[Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `not_found`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowGraph>, Problem> {
    call.query()?.finish()?;
    let record = read(&call).await?;
    let (db, scope) = (&call.state.api, call.scope());
    let stands = nodes(db, &scope, &record.tasks, record.tasks_since).await?;
    let items = items(db, &scope, &record.tasks).await?;
    let of_items: Vec<TaskId> = items.values().flatten().copied().collect();
    let states = states(&call, &record, &of_items).await?;
    let (bytes, now) = (record.plan.len(), runtime::clock::wall());
    let graph = call.reading(bytes, move || graph(&record, stands, (&items, &states), now)).await?;
    Ok(Answer::ok(graph))
}

async fn states(
    call: &Call,
    record: &RunRecord,
    tasks: &[TaskId],
) -> Result<HashMap<TaskId, domain::task::State>, Problem> {
    if tasks.is_empty() {
        return Ok(HashMap::new());
    }
    let stands = nodes(&call.state.api, &call.scope(), tasks, record.tasks_since).await?;
    Ok(stands.into_iter().filter_map(|one| Some((one.task, one.state?))).collect())
}
