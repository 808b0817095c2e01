//! `GET /schedules/{name}`: when it is due next, what became of its due times, what it runs.

use super::calendar::Calendar;
use super::due::Due;
use super::heat::{Heat, tone};
use super::lever::{Lever, of};
use super::timing::in_words;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::visit::{Visit, in_path};
use crate::words::{Ago, Mark, Moment, count, mark_of};
use actix_web::HttpResponse;
use api_types::{Extensible, Fire, Page, Schedule, SchedulePreview};
use askama::Template;
use domain::access::Permission;
use runtime::clock::wall;

/// Fires that are shown without asking.
const LATEST: usize = 12;

#[derive(Template)]
#[template(path = "schedules/schedule.html")]
struct SchedulePage {
    frame: Frame,
    name: String,
    path: String,
    state: Mark,
    paused: Option<String>,
    warnings: Vec<String>,
    levers: Vec<Lever>,
    timing: String,
    next: Option<Ago>,
    may_edit: bool,
    due: Vec<Due>,
    due_wrong: Option<String>,
    calendar: Result<Calendar, String>,
    heat: Heat,
    fires: Vec<FireRow>,
    older: Vec<FireRow>,
    facts: Vec<(&'static str, String)>,
    document: String,
    tasks: String,
}

struct FireRow {
    due: Moment,
    /// Its class on the map, and its word.
    tone: &'static str,
    outcome: String,
    kind: String,
    /// What it made, and where that is.
    made: &'static str,
    href: Option<String>,
    detail: String,
}

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let part = visit.part_in_path("name");
    let path = format!("/v1/schedules/{part}");
    let (schedule, fires, preview) = futures::join!(
        visit.get::<Schedule>(path.clone()),
        visit.get::<Page<Fire>>(format!("{path}/fires?limit=200")),
        visit.try_get::<SchedulePreview>(format!("{path}/preview?count=12")),
    );
    let (schedule, fires) = (schedule?, fires?);
    let next = preview.as_ref().ok().and_then(|preview| preview.due.first());
    let calendar = Calendar::of(&visit, &schedule, next).await;
    let (due, due_wrong) = match preview {
        Ok(preview) => (preview.due.iter().map(Due::of).collect(), None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let now = wall();
    let name = schedule.name.clone();
    let may_submit = visit.may(Permission::SubmitTasks);
    page(&SchedulePage {
        frame: Frame::new(&visit, Section::Schedules, name.clone()),
        path: format!("/schedules/{}", in_path(&name)),
        state: mark_of(&schedule.state.to_string()),
        paused: schedule.paused.as_ref().map(|pause| {
            let why = pause.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("Paused by {}{why}", pause.by)
        }),
        warnings: schedule.warnings.iter().map(|warning| warning.detail.clone()).collect(),
        levers: if may_submit { of(&schedule.state.to_string()) } else { Vec::new() },
        timing: in_words(&schedule.timing),
        next: schedule.next_due_at.map(|at| Ago { at, now }),
        may_edit: may_submit,
        due,
        due_wrong,
        calendar,
        heat: Heat::of(&fires.data),
        fires: fires.data.iter().take(LATEST).map(fire).collect(),
        older: fires.data.iter().skip(LATEST).map(fire).collect(),
        facts: facts(&schedule),
        document: serde_json::to_string_pretty(&serde_json::json!({
            "timing": schedule.timing, "task": schedule.task, "workflow": schedule.workflow,
        }))?,
        tasks: format!(
            "/tasks?schedule={}",
            url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>()
        ),
        name,
    })
}

fn fire(fire: &Fire) -> FireRow {
    let task = fire.task.map(|id| format!("/tasks/{id}"));
    let run = fire.workflow_run.map(|id| format!("/workflows/runs/{id}"));
    FireRow {
        due: Moment(fire.due_at),
        tone: tone(&fire.outcome.to_string()),
        outcome: fire.outcome.to_string().replace('_', " "),
        kind: fire.kind.to_string(),
        made: if task.is_some() { "task" } else { "run" },
        href: task.or(run),
        detail: fire.detail.clone().unwrap_or_default(),
    }
}

fn facts(schedule: &Schedule) -> Vec<(&'static str, String)> {
    let word = |value: &Extensible<_>| serde_json::to_value(value).ok();
    let mut facts = vec![
        ("Fires so far", count(i64::try_from(schedule.fires).unwrap_or(i64::MAX))),
        ("If the one before still runs", schedule.overlap.to_string().replace('_', " ")),
    ];
    if let Some(misfire) = word(&schedule.misfire) {
        let text =
            misfire.as_str().map_or_else(|| misfire.to_string(), |text| text.replace('_', " "));
        facts.push(("If a time was missed", text));
    }
    if let Some(most) = schedule.pause_after_failures {
        facts.push((
            "Pauses after failures",
            format!("{most} in a row; {} now", schedule.failures_in_row),
        ));
    }
    if let Some(workflow) = &schedule.workflow {
        facts.push(("Workflow", workflow.name.clone()));
    }
    facts.push(("Version", format!("{}, stored by {}", schedule.version, schedule.created_by)));
    facts
}
