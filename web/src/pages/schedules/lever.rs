//! `/schedules/{name}/do/{lever}`: pause, resume, trigger, backfill, delete: asked first, then done.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use crate::words::{Moment, length};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::ScheduleBackfillPlan;
use askama::Template;
use serde_json::{Value, json};

/// What can be done with a schedule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lever {
    pub word: &'static str,
    pub label: &'static str,
    title: &'static str,
    says: &'static str,
    pub is_danger: bool,
    done: &'static str,
    /// States in which it does something; empty: all.
    states: &'static [&'static str],
}

const LEVERS: [Lever; 5] = [
    Lever {
        word: "trigger",
        label: "Run now",
        title: "Fire this schedule now?",
        says: "It makes one task or starts one run now, besides its due times. The overlap policy holds.",
        is_danger: false,
        done: "triggered",
        states: &["active", "paused"],
    },
    Lever {
        word: "pause",
        label: "Pause",
        title: "Pause this schedule?",
        says: "Its due times make nothing until it is resumed; each is recorded as paused. What runs goes on.",
        is_danger: false,
        done: "paused",
        states: &["active"],
    },
    Lever {
        word: "resume",
        label: "Resume",
        title: "Resume this schedule?",
        says: "It fires again at its next due time. Due times that passed while it was paused are not made up for; a backfill does that.",
        is_danger: false,
        done: "resumed",
        states: &["paused"],
    },
    Lever {
        word: "backfill",
        label: "Backfill",
        title: "Fire due times of the past?",
        says: "Each due time of the range that made nothing fires once. First it is shown what would be made; nothing is done until that is confirmed.",
        is_danger: false,
        done: "backfilled",
        states: &[],
    },
    Lever {
        word: "delete",
        label: "Delete",
        title: "Delete this schedule?",
        says: "It is never due again. Its tasks stay, and what runs goes on. It cannot be taken back.",
        is_danger: true,
        done: "deleted",
        states: &[],
    },
];

/// Those that do something in this state.
pub(super) fn of(state: &str) -> Vec<Lever> {
    let fits = |lever: &Lever| lever.states.is_empty() || lever.states.contains(&state);
    LEVERS.into_iter().filter(fits).collect()
}

#[derive(Template)]
#[template(path = "schedules/lever.html")]
struct LeverPage {
    frame: Frame,
    lever: Lever,
    name: String,
    path: String,
    once: String,
    reason: String,
    from: String,
    to: String,
    per_second: String,
    plan: Option<Plan>,
    wrong: Option<String>,
}

impl LeverPage {
    /// A backfill of a range in which nothing would fire.
    fn is_idle(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.to_fire == 0)
    }
}

/// What a backfill would do.
struct Plan {
    due: u32,
    to_fire: u32,
    span: Option<(Moment, Moment)>,
    /// The pace, and how long it takes so.
    pace: String,
}

impl Plan {
    fn of(plan: &ScheduleBackfillPlan) -> Self {
        let seconds = f64::from(plan.to_fire) / plan.per_second.max(0.001);
        // 10 000 due times at the slowest pace are some months: it fits.
        let takes = chrono::TimeDelta::from_std(std::time::Duration::from_secs_f64(seconds))
            .unwrap_or_default();
        Self {
            due: plan.due,
            to_fire: plan.to_fire,
            span: plan.first.zip(plan.last).map(|(first, last)| (Moment(first), Moment(last))),
            pace: format!("{} a second, which takes {}", plan.per_second, length(takes)),
        }
    }
}

fn named(visit: &Visit) -> Result<Lever, Fault> {
    let word = visit.part("lever");
    LEVERS.into_iter().find(|lever| lever.word == word).ok_or(Fault::NoPage)
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    let _exists: Value = visit.get(format!("/v1/schedules/{}", visit.part_in_path("name"))).await?;
    page(&asking(&visit, lever, None, None))
}

fn asking(
    visit: &Visit,
    lever: Lever,
    plan: Option<&ScheduleBackfillPlan>,
    wrong: Option<String>,
) -> LeverPage {
    let name = visit.part("name");
    let text = |field| visit.form.text(field).to_owned();
    LeverPage {
        frame: Frame::new(visit, Section::Schedules, lever.title),
        lever,
        path: format!("/schedules/{}", in_path(&name)),
        name,
        once: visit.once(),
        reason: text("reason"),
        from: text("from"),
        to: text("to"),
        per_second: text("per_second"),
        plan: plan.map(Plan::of),
        wrong,
    }
}

/// Does it.
pub(crate) async fn pull(visit: Visit) -> Result<HttpResponse, Fault> {
    let lever = named(&visit)?;
    let target = format!("/v1/schedules/{}", visit.part_in_path("name"));
    let pulled: Result<Value, Fault> = match lever.word {
        "delete" => visit.act(Method::Delete, target).await,
        "pause" if visit.form.has("reason") => {
            let body = json!({"reason": visit.form.text("reason")});
            visit.send(Method::Post, format!("{target}/pause"), &body).await
        }
        "backfill" => {
            let is_sure = visit.form.has("sure");
            let utc = |name| format!("{}:00Z", visit.form.text(name));
            let mut body = json!({"from": utc("from"), "to": utc("to"), "dry_run": !is_sure});
            if visit.form.has("per_second") {
                let pace = visit.form.text("per_second");
                body["per_second"] = pace.parse::<f64>().map_or_else(|_| pace.into(), Value::from);
            }
            let planned: Result<ScheduleBackfillPlan, Fault> =
                visit.send(Method::Post, format!("{target}/backfill"), &body).await;
            match planned {
                Ok(plan) if !is_sure => return page(&asking(&visit, lever, Some(&plan), None)),
                planned => planned.map(|_| Value::Null),
            }
        }
        word => visit.act(Method::Post, format!("{target}/{word}")).await,
    };
    match pulled {
        Ok(_) if lever.word == "delete" => Err(Fault::to("/schedules?done=deleted")),
        Ok(_) => {
            Err(Fault::to(format!("/schedules/{}?done={}", visit.part_in_path("name"), lever.done)))
        }
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 422) => {
            let first = problem.errors.first();
            let wrong = first
                .map(|error| format!("{} {}", error.pointer.trim_start_matches('/'), error.detail));
            let shown = asking(&visit, lever, None, wrong.or(Some(problem.detail)));
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown)
        }
        Err(fault) => Err(fault),
    }
}
