//! `GET /v1/tasks`: a tenant's tasks, newest first.

use crate::answer::Answer;
use crate::call::Call;
use crate::cursor::{Context, List};
use crate::openapi::{AnswerDoc, Content, Doc, Form, PAGE, Param, SOME_PAGES_ARE_SHORT};
use crate::pagination::{PageRequest, Rest, page_and};
use crate::problem::{Code, Problem};
use crate::request::{Query, time_parameter, wrong_parameter};
use crate::routes::schedules::schedule_of;
use crate::task::{task, task_without_run};
use api_types::{MAX_PAGE_BYTES, Page, Task};
use domain::id::TaskId;
use domain::resources::Tier;
use domain::task::State;
use domain::time::Timestamp;
use store::task::{LabelFilter, TaskFilter, TaskRecord};

/// As many as a task has labels.
const MOST_LABELS: usize = 32;

/// The document's words.
pub const DOC: Doc = Doc {
    summary: "List tasks, newest first",
    description: SOME_PAGES_ARE_SHORT,
    query: &[
        Param {
            name: "state",
            text: "State; comma-separated or repeated",
            form: Form::Many(&Form::Schema("State")),
        },
        Param { name: "tier", text: "Tier", form: Form::Schema("Tier") },
        Param { name: "name", text: "Exact name", form: Form::Text },
        Param {
            name: "label",
            text: "Label to have (`key=value`) or not to have (`key!=value`); repeatable, all must match",
            form: Form::Many(&Form::Pattern("=")),
        },
        Param {
            name: "schedule",
            text: "Schedule that created the task, by name, or by id also for a deleted one",
            form: Form::Text,
        },
        Param { name: "workflow_run", text: "Workflow run that the task is of", form: Form::Text },
        Param {
            name: "created_from",
            text: "Submitted at or after this time (RFC 3339)",
            form: Form::Time,
        },
        Param {
            name: "created_before",
            text: "Submitted before this time (RFC 3339)",
            form: Form::Time,
        },
        Param {
            name: "include",
            text: "`run`: include what each task runs",
            form: Form::OneOf(&["run"]),
        },
        PAGE[0],
        PAGE[1],
    ],
    answers: &[AnswerDoc { status: 200, text: "A page", content: Content::Page("Task") }],
    problems: &[Code::InvalidParameter, Code::InvalidCursor, Code::NotFound],
    ..Doc::EMPTY
};

/// Answers.
///
/// # Errors
/// As [`list`].
pub async fn handle(call: Call) -> Result<Answer<Page<Task>>, Problem> {
    Ok(Answer::ok(list(&call).await?))
}

/// One page of the list.
///
/// # Errors
/// `invalid_parameter`, `invalid_cursor`; `not_found` for a schedule of no such name; what the database said.
pub async fn list(call: &Call) -> Result<Page<Task>, Problem> {
    let mut query = call.query()?;
    let page = PageRequest::take(&mut query)?;
    let mut filter = filter(&mut query)?;
    let schedule = query.one("schedule")?;
    let with_run = includes_run(&mut query)?;
    query.finish()?;
    if let Some(schedule) = schedule {
        filter.schedule = Some(schedule_of(call, &schedule).await?);
    }
    let (sealer, tenant, context) = (&call.state.sealer, call.caller.tenant(), context(&filter));
    filter.before = page.after_id(sealer, tenant, context)?.map(TaskId);
    filter.ended_from = call.ended_from(runtime::clock::wall());
    let (db, scope) = (&call.state.api, call.scope());
    let found = store::task::find_page(db, &scope, &filter, page.limit + 1).await?;
    let seal = |id: TaskId| sealer.seal(tenant, context, id.uuid().as_bytes());
    let mut tasks = found.rows;
    let mut rest = Rest { more: page.cut(&mut tasks), stopped_at: found.stopped_at.map(seal) };
    if with_run {
        rest.more |= store::task::add_runs(db, &scope, &mut tasks, MAX_PAGE_BYTES).await?;
    }
    let show = |row| Ok(if with_run { task(row) } else { task_without_run(row) });
    page_and(tasks, rest, show, |row: &TaskRecord| row.id, seal)
}

/// Whether the client wants to see what each task runs, too.
fn includes_run(query: &mut Query) -> Result<bool, Problem> {
    match query.one("include")?.as_deref() {
        None => Ok(false),
        Some("run") => Ok(true),
        Some(_) => Err(wrong_parameter("include", "must be run")),
    }
}

fn filter(query: &mut Query) -> Result<TaskFilter, Problem> {
    let mut states = Vec::new();
    for text in query.all("state") {
        for name in text.split(',') {
            let state = name
                .parse::<State>()
                .map_err(|error| wrong_parameter("state", &error.to_string()))?;
            if !states.contains(&state) {
                states.push(state);
            }
        }
    }
    let (created_from, created_before) =
        (time_parameter(query, "created_from")?, time_parameter(query, "created_before")?);
    let labels = labels(query.all("label"))?;
    let tier = query.parsed::<Tier>("tier", "basic, regular or premium")?;
    Ok(TaskFilter {
        states,
        tier,
        name: query.one("name")?,
        labels,
        schedule: None,
        workflow_run: query.parsed("workflow_run", "the id of a workflow run")?,
        created_from,
        created_before,
        ended_from: None,
        before: None,
    })
}

/// What labels must be, or must not be. A key holds no `!`, so what stands before `!=` is one.
fn labels(texts: Vec<String>) -> Result<Vec<LabelFilter>, Problem> {
    if texts.len() > MOST_LABELS {
        let detail = format!("must be given at most {MOST_LABELS} times");
        return Err(wrong_parameter("label", &detail));
    }
    let read = |text: String| {
        let (key, value) = text.split_once('=')?;
        let (key, equal) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        let (key, value) = (key.to_owned(), value.to_owned());
        (!key.is_empty()).then_some(LabelFilter { key, value, equal })
    };
    let wrong = || wrong_parameter("label", "must be of the form key=value or key!=value");
    texts.into_iter().map(|text| read(text).ok_or_else(wrong)).collect()
}

/// All filters but the cursor itself.
fn context(filter: &TaskFilter) -> Context {
    let mut states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    states.sort_unstable();
    let time =
        |at: Option<Timestamp>| at.map(|at| at.timestamp_micros().to_string()).unwrap_or_default();
    let some = |text: Option<&str>| text.map(|text| format!("={text}")).unwrap_or_default();
    let mut labels: Vec<&LabelFilter> = filter.labels.iter().collect();
    labels.sort_unstable();
    labels.dedup();
    let states = states.join(",");
    let schedule = filter.schedule.map(|id| id.to_string());
    let run = filter.workflow_run.map(|id| id.to_string());
    let parts = [
        states,
        some(filter.tier.map(Tier::as_str)),
        some(filter.name.as_deref()),
        some(schedule.as_deref()),
        some(run.as_deref()),
        time(filter.created_from),
        time(filter.created_before),
    ];
    let of_labels = labels.into_iter().flat_map(|label| {
        let compares = if label.equal { "=" } else { "!=" };
        [label.key.as_str(), compares, label.value.as_str()]
    });
    Context::new(List::Tasks, parts.iter().map(String::as_str).chain(of_labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<TaskFilter, Problem> {
        filter(&mut Query::parse(text)?)
    }

    #[test]
    fn filters_are_read() {
        let filter = parsed(
            "state=ready,queued&state=running&tier=basic&name=a&label=team=a=b&label=env!=prod&created_from=2030-01-31T12:00:00%2B02:00",
        )
        .unwrap();
        assert_eq!(filter.states, [State::Ready, State::Queued, State::Running]);
        let label = |key: &str, value: &str, equal| LabelFilter {
            key: key.to_owned(),
            value: value.to_owned(),
            equal,
        };
        assert_eq!(filter.labels, [label("team", "a=b", true), label("env", "prod", false)]);
        assert_eq!(filter.created_from.unwrap().to_rfc3339(), "2030-01-31T10:00:00+00:00");
        assert!(
            parsed("created_before=2030-01-31T12:00:00+02:00").is_ok(),
            "a plus that was not escaped"
        );
    }

    #[test]
    fn what_is_no_filter_is_refused_where_it_stands() {
        for (bad, pointer) in [
            ("state=done", "query:state"),
            ("state=", "query:state"),
            ("tier=gold", "query:tier"),
            ("label=team", "query:label"),
            ("label==x", "query:label"),
            ("label=!=x", "query:label"),
            ("label=a=b&label=team", "query:label"),
            ("created_from=yesterday", "query:created_from"),
            ("created_before=%2B99999-01-01T00:00:00Z", "query:created_before"),
            ("created_before=2900-01-01T00:00:00Z", "query:created_before"),
            ("workflow_run=x", "query:workflow_run"),
            ("workflow_run=task_0190a6f3c1d27a3e8b1f0c2d4e5f6071", "query:workflow_run"),
            ("name=a&name=b", "query:name"),
        ] {
            assert_eq!(parsed(bad).unwrap_err().errors()[0].pointer, pointer, "{bad}");
        }
    }

    #[test]
    fn any_other_filter_is_another_context() {
        let contexts: Vec<Context> = [
            "",
            "state=ready",
            "tier=basic",
            "name=basic",
            "workflow_run=run_0190a6f3c1d27a3e8b1f0c2d4e5f6071",
            "label=a=b",
            "label=a=",
            "name=",
            "label=a!=b",
            "label=a=b&label=c=d",
        ]
        .iter()
        .map(|text| context(&parsed(text).unwrap()))
        .collect();
        for (at, one) in contexts.iter().enumerate() {
            assert!(contexts.iter().skip(at + 1).all(|other| other != one));
        }
        let order = |text| context(&parsed(text).unwrap());
        assert_eq!(order("state=ready,queued"), order("state=queued,ready"));
        assert_eq!(order("label=a=b&label=c!=d"), order("label=c!=d&label=a=b"));
    }
}
