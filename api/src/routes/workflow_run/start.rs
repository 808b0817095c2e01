//! `POST /v1/workflow-runs`: start a run of a stored workflow, or of a definition that comes with it.

use super::begin::{Begun, begin, run_of};
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc};
use crate::problem::{Code, Problem};
use crate::routes::workflow::{checked, no_such_workflow};
use crate::workflow::with_input;
use api_types::WorkflowRun;
use api_types::request::NewWorkflowRun;
use domain::workflow::{MAX_INPUT, Plan};
use serde_json::Value;
use serde_json::value::RawValue;
use store::workflow::run::NewRun;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Start a workflow run",
    description: "All of its tasks are stored durably before the response. Counts as one submit. With `workflow`, the latest version is \
                  run.",
    request: Some("WorkflowRunStart"),
    answers: &[AnswerDoc { status: 201, text: "The run", content: Content::Json("WorkflowRun") }],
    answer_headers: &[AnswerHeader::Location],
    problems: &[
        Code::NotFound,
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
/// What is wrong with the definition or the input; `not_found` for a workflow of no such name; as where it is begun: `rate_limited`, `quota_exceeded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<WorkflowRun>, Problem> {
    call.caller.require_active()?;
    call.query()?.finish()?;
    let Asked { workflow, plan, input } = checked_run(&call, call.parsed().await?).await?;
    let of = run_of(&call, Begun { workflow, plan, input, fired: None });
    begin(&call, NewRun::new(of)).await
}

/// A run that can be started, as far as its definition and its input are concerned.
pub(in crate::routes) struct Asked {
    /// A stored workflow, in a version.
    pub workflow: Option<(String, i64)>,
    /// What it is made of, with the input in it.
    pub plan: Plan,
    /// The input, JSON.
    pub input: Option<String>,
}

/// Checks what is asked for.
///
/// # Errors
/// What is wrong with the definition or the input; `not_found` for a workflow of no such name; what the database said.
pub(in crate::routes) async fn checked_run(
    call: &Call,
    asked: NewWorkflowRun<Box<RawValue>>,
) -> Result<Asked, Problem> {
    let (workflow, plan) = match (asked.workflow, asked.definition) {
        (Some(name), None) => stored(call, name).await?,
        (None, Some(definition)) => {
            let text = definition.get().as_bytes().to_vec();
            (None, checked(call, text, "/definition").await?.plan)
        }
        _ => {
            let detail = "must have exactly one of `workflow` and `definition`";
            return Err(Problem::at(Code::ValidationFailed, "", detail));
        }
    };
    let input = asked.input.as_ref().map(Value::to_string);
    if input.as_ref().is_some_and(|input| input.len() > MAX_INPUT) {
        let detail = format!("must have {MAX_INPUT} bytes at most");
        return Err(Problem::at(Code::ValidationFailed, "/input", detail));
    }
    let value = asked.input.unwrap_or_default();
    let bytes = plan.nodes.len() * 1024;
    let plan = call.reading(bytes, move || with_input(plan, &value, "/input")).await?;
    Ok(Asked { workflow, plan, input })
}

async fn stored(call: &Call, name: String) -> Result<(Option<(String, i64)>, Plan), Problem> {
    let found = store::workflow::get(&call.state.api, &call.scope(), &name).await?;
    let record = found.ok_or_else(|| no_such_workflow().called(&name))?;
    let (version, bytes) = (record.version, record.plan.len());
    let plan = call.reading(bytes, move || Ok(record.plan()?)).await?;
    Ok((Some((name, version)), plan))
}
