//! `/schedules/new` and `/schedules/{name}/edit`: a form for a schedule, with a preview of its due times and the price of a month.
//!
//! An edit names the version that the form was made from. If another was stored since, nothing is changed, and the page shows what
//! differs.

use super::due::Due;
use super::form::{Entered, Fits, stored};
use super::{price, timing};
use crate::backend::Method;
use crate::diff::{DiffLine, lines};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path, read};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, FieldError, Problem, Quote, Schedule, SchedulePreview};
use askama::Template;
use serde_json::{Value, json};

/// Due times that the preview shows.
const SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "schedules/edit.html")]
struct EditPage {
    frame: Frame,
    /// The stored one's version; none: a new one.
    version: Option<i64>,
    path: String,
    /// The page of the schedule.
    back: String,
    entered: Entered,
    fits: Fits,
    /// The timing in words, where there are no fields for it.
    timing: String,
    /// What runs, where there is no field for it.
    runs: String,
    errors: Vec<FieldError>,
    wrong: Option<String>,
    conflict: Option<Conflict>,
    due: Vec<Due>,
    price: Vec<String>,
    document: String,
}

/// Another version was stored meanwhile.
struct Conflict {
    version: i64,
    by: String,
    changes: Vec<DiffLine>,
}

impl EditPage {
    fn wrong_with(&self, pointers: &str) -> Option<&str> {
        let named =
            |error: &&FieldError| pointers.split(' ').any(|it| error.pointer.starts_with(it));
        self.errors.iter().find(named).map(|error| error.detail.as_str())
    }
}

/// A schedule that is edited, as it is stored now.
struct Base {
    schedule: Schedule,
    document: Value,
}

/// None for a new one.
async fn base(visit: &Visit) -> Result<Option<Base>, Fault> {
    if visit.part("name").is_empty() {
        return Ok(None);
    }
    let found: Value = visit.get(format!("/v1/schedules/{}", visit.part_in_path("name"))).await?;
    let document = stored(&found);
    Ok(Some(Base { schedule: serde_json::from_value(found)?, document }))
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let mut entered = match &base {
        Some(base) => Entered::of(&base.schedule.name, &base.document),
        None => Entered { zone: "UTC".to_owned(), ..Entered::default() },
    };
    if visit.query.text("as") == "document" {
        let whole = match &base {
            Some(base) => base.document.clone(),
            None => json!({"timing": {"specs": [{"daily": {"at": ["02:30"]}}], "zone": "UTC"},
                "task": {"run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}}),
        };
        entered.document = Some(serde_json::to_string_pretty(&whole)?);
    }
    page(&form(&visit, base.as_ref(), entered))
}

/// Stores the schedule, or shows what it would do.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let entered = Entered::read(&visit.form);
    let document = match entered.document(base.as_ref().map(|base| &base.document)) {
        Ok(document) => document,
        Err((pointer, detail)) => {
            let mut shown = form(&visit, base.as_ref(), entered);
            shown.errors = vec![FieldError { pointer: pointer.to_owned(), detail }];
            return page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown);
        }
    };
    let done = if visit.form.has("preview") {
        preview(&visit, base.as_ref(), &entered, &document).await
    } else {
        store(&visit, base.as_ref(), &entered, &document).await
    };
    match done {
        Err(Fault::Problem(problem))
            if problem.code == ErrorCode::VersionMismatch && base.is_some() =>
        {
            conflict(&visit, entered, &document).await
        }
        Err(Fault::Problem(problem))
            if problem.status == 422 || problem.code == ErrorCode::VersionMismatch =>
        {
            refused(&visit, base.as_ref(), entered, *problem)
        }
        done => done,
    }
}

/// The form with what is wrong, at the fields where they are.
fn refused(
    visit: &Visit,
    base: Option<&Base>,
    entered: Entered,
    problem: Problem,
) -> Result<HttpResponse, Fault> {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    let mut shown = form(visit, base, entered);
    let fields = if problem.code == ErrorCode::VersionMismatch {
        let taken = "There is a schedule of this name. Choose another name, or edit that one.";
        shown.wrong = Some(taken.to_owned());
        Vec::new()
    } else if shown.entered.document.is_some() {
        problem.errors.iter().map(at_document).collect()
    } else {
        if !problem.errors.iter().all(is_of_a_field) || problem.errors.is_empty() {
            let whole = |error: &FieldError| format!("{}: {}", error.pointer, error.detail);
            let all: Vec<String> = problem.errors.iter().map(whole).collect();
            shown.wrong = Some(if all.is_empty() { problem.detail } else { all.join("; ") });
        }
        problem.errors
    };
    shown.errors = fields;
    page_with(status, &shown)
}

fn at_document(error: &FieldError) -> FieldError {
    let detail = format!("{}: {}", error.pointer, error.detail);
    FieldError { pointer: "/document".to_owned(), detail }
}

fn is_of_a_field(error: &FieldError) -> bool {
    let fields = ["/timing", "/task/run", "/task/execution_cap", "/task/max_attempts", "/workflow"];
    fields.iter().any(|field| error.pointer.starts_with(field))
}

/// Stores it: a new one where none is, an edited one over the version that the form was made from.
async fn store(
    visit: &Visit,
    base: Option<&Base>,
    entered: &Entered,
    document: &Value,
) -> Result<HttpResponse, Fault> {
    let name = base.map_or(entered.name.as_str(), |base| base.schedule.name.as_str());
    if name.is_empty() {
        return Err(Fault::BadForm("Give the schedule a name."));
    }
    let condition = match base {
        None => ("if-none-match", "*".to_owned()),
        Some(_) => {
            let version = visit.form.text("version").parse::<i64>();
            let version =
                version.map_err(|_| Fault::BadForm("It does not say which version it changes."))?;
            ("if-match", format!("\"{version}\""))
        }
    };
    let headers = vec![("content-type", "application/json".to_owned()), condition];
    let target = format!("/v1/schedules/{}", in_path(name));
    let body = serde_json::to_vec(document)?;
    let reply = visit.reply(Method::Put, target, Some(body), headers).await;
    let stored: Schedule = read(&reply)?;
    Err(Fault::to(format!("/schedules/{}?done=stored", in_path(&stored.name))))
}

/// Says that somebody else stored another version, and what differs. The next time the form is sent, it is over that one.
async fn conflict(visit: &Visit, entered: Entered, sent: &Value) -> Result<HttpResponse, Fault> {
    let base = base(visit).await?;
    let Some(found) = &base else { return Err(Fault::NoPage) };
    let (theirs, own) =
        (serde_json::to_string_pretty(&found.document)?, serde_json::to_string_pretty(sent)?);
    let conflict = Conflict {
        version: found.schedule.version,
        by: found.schedule.created_by.to_string(),
        changes: lines(&theirs, &own),
    };
    let mut shown = form(visit, base.as_ref(), entered);
    shown.version = Some(conflict.version);
    shown.conflict = Some(conflict);
    page_with(StatusCode::PRECONDITION_FAILED, &shown)
}

async fn preview(
    visit: &Visit,
    base: Option<&Base>,
    entered: &Entered,
    document: &Value,
) -> Result<HttpResponse, Fault> {
    let ask = json!({"timing": document["timing"], "count": SHOWN});
    let found: SchedulePreview = visit.send(Method::Post, "/v1/schedules/preview", &ask).await?;
    let mut ask = json!({"schedule": document});
    if let Some(base) = base {
        ask["schedule_name"] = base.schedule.name.as_str().into();
    }
    let quote: Result<Quote, Fault> = visit.send(Method::Post, "/v1/quotes", &ask).await;
    let mut shown = form(visit, base, entered.clone());
    shown.due = found.due.iter().map(Due::of).collect();
    shown.price = match quote {
        Ok(quote) => price::in_words(&quote),
        Err(Fault::Problem(problem)) if problem.status != 422 => vec![problem.detail],
        Err(fault) => return Err(fault),
    };
    page(&shown)
}

fn form(visit: &Visit, base: Option<&Base>, mut entered: Entered) -> EditPage {
    if let Some(base) = base {
        entered.name.clone_from(&base.schedule.name);
    }
    let title = base
        .map_or_else(|| "New schedule".to_owned(), |base| format!("Edit {}", base.schedule.name));
    let back =
        base.map(|base| format!("/schedules/{}", in_path(&base.schedule.name))).unwrap_or_default();
    let path = if back.is_empty() { "/schedules/new".to_owned() } else { format!("{back}/edit") };
    let whole = entered.document(base.map(|base| &base.document)).unwrap_or_default();
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    // A version that the browser sent stays, so that a preview does not hide that another was stored.
    let sent = visit.form.text("version").parse::<i64>().ok();
    EditPage {
        frame: Frame::new(visit, Section::Schedules, title),
        version: base.map(|base| sent.unwrap_or(base.schedule.version)),
        path,
        back,
        fits: base.map_or(Fits::NEW, |base| Fits::of(&base.document)),
        timing: base.map(|base| timing::in_words(&base.schedule.timing)).unwrap_or_default(),
        runs: base.map(|base| pretty(&base.document["task"]["run"])).unwrap_or_default(),
        entered,
        errors: Vec::new(),
        wrong: None,
        conflict: None,
        due: Vec::new(),
        price: Vec::new(),
        document: pretty(&whole),
    }
}
