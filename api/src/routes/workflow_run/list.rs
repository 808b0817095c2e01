//! `GET /v1/workflow-runs`: a tenant's runs, latest first.

use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param};
use crate::pagination::{PageRequest, Rest, page_and};
use crate::problem::{Code, Problem};
use crate::request::{time_parameter, wrong_parameter};
use crate::routes::schedules::schedule_of;
use crate::workflow::run;
use api_types::{Page, WorkflowRun};
use domain::id::WorkflowRunId;
use domain::time::Timestamp;
use domain::workflow::RunState;
use store::workflow::run::{RunFilter, RunRecord};

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List workflow runs, latest first",
    query: &[
        Param {
            name: "state",
            text: "State; repeatable, or separated by commas",
            form: Form::Many(&Form::Schema("WorkflowRunState")),
        },
        Param { name: "workflow", text: "Name of the workflow", form: Form::Text },
        Param {
            name: "schedule",
            text: "Schedule that started the run, by name, or by id also for a deleted one",
            form: Form::Text,
        },
        Param {
            name: "created_from",
            text: "Started at or after this time (RFC 3339)",
            form: Form::Time,
        },
        Param {
            name: "created_before",
            text: "Started before this time (RFC 3339)",
            form: Form::Time,
        },
        PAGE[0],
        PAGE[1],
    ],
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("WorkflowRun") }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; `not_found` for a schedule of no such name; what the database said.
pub async fn handle(call: Call) -> Result<Answer<Page<WorkflowRun>>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    let mut states = Vec::new();
    for text in query.all("state") {
        for name in text.split(',') {
            let wanted = "must be running, cancelling, succeeded, failed, cancelled or expired";
            let state: RunState = name.parse().map_err(|()| wrong_parameter("state", wanted))?;
            if !states.contains(&state) {
                states.push(state);
            }
        }
    }
    let workflow = query.one("workflow")?;
    let schedule = query.one("schedule")?;
    let created_from = time_parameter(&mut query, "created_from")?;
    let created_before = time_parameter(&mut query, "created_before")?;
    query.finish()?;
    let schedule = match schedule {
        Some(text) => Some(schedule_of(&call, &text).await?),
        None => None,
    };
    let mut filter =
        RunFilter { states, workflow, schedule, created_from, created_before, before: None };
    let (sealer, tenant, context) = (&call.state.sealer, call.caller.tenant(), context(&filter));
    filter.before = page.after_id(sealer, tenant, context)?.map(WorkflowRunId);
    let (db, scope) = (&call.state.api, call.scope());
    let found = store::workflow::run::list(db, &scope, &filter, page.limit + 1).await?;
    let seal = |id: WorkflowRunId| sealer.seal(tenant, context, id.uuid().as_bytes());
    let mut rows = found.rows;
    let rest = Rest { more: page.cut(&mut rows), stopped_at: found.stopped_at.map(seal) };
    let show = |record: RunRecord| Ok(run(&record));
    page_and(rows, rest, show, |record: &RunRecord| record.id, seal).map(Answer::ok)
}

/// All filters but the cursor itself.
fn context(filter: &RunFilter) -> Context {
    let mut states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    states.sort_unstable();
    let workflow = filter.workflow.as_ref().map(|name| format!("={name}")).unwrap_or_default();
    let schedule = filter.schedule.map(|id| id.to_string()).unwrap_or_default();
    let time =
        |at: Option<Timestamp>| at.map(|at| at.timestamp_micros().to_string()).unwrap_or_default();
    let (from, before) = (time(filter.created_from), time(filter.created_before));
    let filters = [states.join(","), workflow, schedule, from, before];
    Context::new(List::WorkflowRuns, filters.iter().map(String::as_str))
}
