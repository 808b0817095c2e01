//! `/schedules/new`: a form for a schedule, with a preview of its due times and the price of a month.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path};
use crate::words::{Moment, money};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, FieldError, Quote, Schedule, SchedulePreview};
use askama::Template;
use serde_json::{Map, Value, json};

/// Due times that the preview shows.
const SHOWN: usize = 8;

#[derive(Debug, Clone, Default)]
struct Entered {
    name: String,
    cron: String,
    every: String,
    zone: String,
    command: String,
    tier: String,
    execution_cap: String,
    max_attempts: String,
    overlap: String,
}

#[derive(Template)]
#[template(path = "schedules/new.html")]
struct NewPage {
    frame: Frame,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
    due: Vec<(Moment, String)>,
    price: Option<String>,
    cli: String,
}

impl NewPage {
    fn wrong_with(&self, pointers: &str) -> Option<&str> {
        let named =
            |error: &&FieldError| pointers.split(' ').any(|it| error.pointer.starts_with(it));
        self.errors.iter().find(named).map(|error| error.detail.as_str())
    }
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let entered = Entered { zone: "UTC".to_owned(), ..Entered::default() };
    page(&form(&visit, entered, Vec::new(), None))
}

/// Stores the schedule, or shows what it would do.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let text = |name| visit.form.text(name).to_owned();
    let entered = Entered {
        name: text("name"),
        cron: text("cron"),
        every: text("every"),
        zone: text("zone"),
        command: visit.form.get("command").unwrap_or_default().replace("\r\n", "\n"),
        tier: text("tier"),
        execution_cap: text("execution_cap"),
        max_attempts: text("max_attempts"),
        overlap: text("overlap"),
    };
    let document = document(&entered);
    let done = if visit.form.has("preview") {
        preview(&visit, &entered, &document).await
    } else {
        store(&visit, &entered, &document).await
    };
    match done {
        Err(Fault::Problem(problem))
            if problem.status == 422 || problem.code == ErrorCode::VersionMismatch =>
        {
            let status =
                StatusCode::from_u16(problem.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
            let wrong = (!problem.errors.iter().all(is_of_a_field)).then_some(problem.detail);
            page_with(status, &form(&visit, entered, problem.errors, wrong))
        }
        done => done,
    }
}

fn is_of_a_field(error: &FieldError) -> bool {
    let fields = ["/timing", "/task/run", "/task/execution_cap", "/task/max_attempts"];
    fields.iter().any(|field| error.pointer.starts_with(field))
}

/// Stores a new one: one that exists under the name stays as it is.
async fn store(visit: &Visit, entered: &Entered, document: &Value) -> Result<HttpResponse, Fault> {
    if entered.name.is_empty() {
        return Err(Fault::BadForm("Give the schedule a name."));
    }
    let target = format!("/v1/schedules/{}", in_path(&entered.name));
    let headers =
        vec![("content-type", "application/json".to_owned()), ("if-none-match", "*".to_owned())];
    let body = serde_json::to_vec(document)?;
    let reply = visit.reply(Method::Put, target, Some(body), headers).await;
    let stored: Schedule = crate::visit::read(&reply)?;
    Err(Fault::to(format!("/schedules/{}?done=stored", in_path(&stored.name))))
}

async fn preview(
    visit: &Visit,
    entered: &Entered,
    document: &Value,
) -> Result<HttpResponse, Fault> {
    let ask = json!({"timing": document["timing"], "count": SHOWN});
    let found: SchedulePreview = visit.send(Method::Post, "/v1/schedules/preview", &ask).await?;
    let quote: Result<Quote, Fault> =
        visit.send(Method::Post, "/v1/quotes", &json!({"schedule": document})).await;
    let mut page_of = form(visit, entered.clone(), Vec::new(), None);
    page_of.due = found.due.iter().map(|due| (Moment(due.at), due.local.clone())).collect();
    page_of.price = match quote {
        Ok(quote) => Some(price(&quote)),
        Err(Fault::Problem(problem)) if problem.status != 422 => None,
        Err(fault) => return Err(fault),
    };
    page(&page_of)
}

fn price(quote: &Quote) -> String {
    let fires = quote.month.as_ref().and_then(|month| month.fires);
    let times = fires.map(|fires| format!(" for {fires} fires")).unwrap_or_default();
    match (quote.most, &quote.currency) {
        (Some(most), Some(currency)) => {
            format!("At most {} a month{times}.", money(most, currency))
        }
        _ => format!("No prices hold for you: a month{times} costs nothing."),
    }
}

fn document(entered: &Entered) -> Value {
    let spec = if entered.every.is_empty() {
        json!({"cron": entered.cron})
    } else {
        json!({"every": {"every": entered.every}})
    };
    let mut timing = Map::from_iter([("specs".to_owned(), json!([spec]))]);
    if !entered.zone.is_empty() {
        timing.insert("zone".to_owned(), entered.zone.as_str().into());
    }
    let argv = if entered.command.trim().is_empty() {
        json!([])
    } else {
        json!(["bash", "-c", entered.command])
    };
    let mut task = Map::from_iter([("run".to_owned(), json!({"command": {"argv": argv}}))]);
    for (name, value) in [("tier", &entered.tier), ("execution_cap", &entered.execution_cap)] {
        if !value.is_empty() {
            task.insert(name.to_owned(), value.as_str().into());
        }
    }
    if !entered.max_attempts.is_empty() {
        let number = entered.max_attempts.parse::<u32>();
        task.insert(
            "max_attempts".to_owned(),
            number.map_or_else(|_| entered.max_attempts.as_str().into(), Value::from),
        );
    }
    let mut document =
        Map::from_iter([("timing".to_owned(), timing.into()), ("task".to_owned(), task.into())]);
    if !entered.overlap.is_empty() {
        document.insert("overlap".to_owned(), entered.overlap.as_str().into());
    }
    document.into()
}

fn form(
    visit: &Visit,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
) -> NewPage {
    let body = serde_json::to_string_pretty(&document(&entered)).unwrap_or_default();
    let frame = Frame::new(visit, Section::Schedules, "New schedule");
    NewPage { frame, entered, errors, wrong, due: Vec::new(), price: None, cli: body }
}
