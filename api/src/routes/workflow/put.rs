//! `PUT /v1/workflows/{name}`: store a workflow, or change it. The same again changes nothing.

use super::place::name_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::openapi::{AnswerDoc, AnswerHeader, Content, Doc, IF_MATCH, IF_NONE_MATCH};
use crate::problem::{Code, Problem};
use crate::request::{other_version, wanted_version};
use crate::task::{Links, Origin, Rules};
use crate::workflow::{Checked, check, workflow};
use actix_web::http::StatusCode;
use api_types::Workflow;
use domain::plan::Quota;
use runtime::clock::wall;
use std::sync::Arc;
use store::workflow::{PutAnswer, PutWorkflow};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "Store a workflow under its name",
    description: "Idempotent: an equal workflow keeps its version. Runs that were started before keep the definition that they were \
                  started with.",
    headers: &[IF_MATCH, IF_NONE_MATCH],
    request: Some("WorkflowDefinition"),
    answers: &[
        AnswerDoc { status: 201, text: "Created", content: Content::Json("Workflow") },
        AnswerDoc {
            status: 200,
            text: "Changed, or unchanged",
            content: Content::Json("Workflow"),
        },
    ],
    answer_headers: &[AnswerHeader::ETag],
    problems: &[Code::TenantSuspended, Code::QuotaExceeded, Code::VersionMismatch],
    ..Doc::EMPTY
};

/// What is said of a task's parents in a workflow.
pub(in crate::routes) const NO_PARENTS: Links<'static> =
    Links::None("is not allowed in a workflow; use `after` of the node");

/// Answers.
///
/// # Errors
/// What is wrong with the workflow; `version_mismatch`; `quota_exceeded`; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Workflow>, Problem> {
    call.caller.require_active()?;
    call.query()?.finish()?;
    let name = name_in_path(&call)?;
    let if_version = wanted_version(call.request.headers())?;
    let Checked { plan, warnings } = checked(&call, call.body.to_vec(), "").await?;
    let put = PutWorkflow {
        name: name.to_owned(),
        definition: String::from_utf8_lossy(&call.body).into_owned(),
        plan,
        updated_by: call.caller.actor().to_string().into(),
        if_version,
        most: call.caller.limits().of(Quota::Workflows),
    };
    let (db, scope) = (&call.state.api, call.scope());
    let (status, record) = match store::workflow::put(db, &scope, &put).await? {
        PutAnswer::Created(record) => (StatusCode::CREATED, record),
        PutAnswer::Updated(record) | PutAnswer::Unchanged(record) => (StatusCode::OK, record),
        PutAnswer::VersionMismatch { version } => return Err(other_version("workflow", version)),
        PutAnswer::QuotaReached => {
            return Err(call
                .state
                .refusals
                .used_up(&call.caller, Quota::Workflows, put.most)
                .await);
        }
    };
    Ok(Answer::versioned(status, record.version, workflow(*record, warnings)?))
}

/// Checks a definition, which stands at `base` in the body.
///
/// # Errors
/// What is wrong with it; `too_many_at_once` where it finds no turn.
pub(in crate::routes) async fn checked(
    call: &Call,
    text: Vec<u8>,
    base: &'static str,
) -> Result<Checked, Problem> {
    let (pools, now) = (call.state.pools.current().await?, wall());
    let origin = Origin {
        tenant: call.caller.tenant(),
        key_id: call.caller.actor().to_string(),
        traceparent: call.trace.to_string(),
        idempotency: None,
    };
    let (state, caller) = (Arc::clone(&call.state), call.caller.clone());
    let work = move || {
        let (limits, user, plan) = (&state.limits, caller.pool_user(), caller.limits());
        let rules = Rules { limits, pools: &pools, user, now, plan, links: NO_PARENTS };
        let most = state.task_limit(Some(plan)).bytes;
        check(&text, base, (&rules, most), &origin)
    };
    call.state.computing.compute(call.caller.tenant(), work).await
}
