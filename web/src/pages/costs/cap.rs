//! `/costs/caps/…`: a spend cap: set, change its amount, delete.
//!
//! A change names the version that its page showed: what somebody else changed meanwhile is not overwritten.

use super::amount::{decimal, micros};
use crate::backend::Method;
use crate::confirm::Confirm;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path, read};
use crate::words::{Moment, money};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{Costs, ErrorCode, FieldError, Problem, SpendCap};
use askama::Template;
use serde_json::{Value, json};

#[derive(Template)]
#[template(path = "money/cap.html")]
struct CapPage {
    frame: Frame,
    path: String,
    /// The stored one; none: a new one.
    stored: Option<Stored>,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
}

struct Stored {
    version: i64,
    of: String,
    period: String,
    use_of: Vec<(&'static str, String)>,
    resets: Moment,
    alerts: Vec<(u8, Moment)>,
}

#[derive(Debug, Clone, Default)]
struct Entered {
    name: String,
    amount: String,
    currency: String,
    period: String,
    zone: String,
    key: String,
    value: String,
    schedule: String,
}

impl CapPage {
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        let found = self.errors.iter().find(|error| error.pointer.starts_with(pointer));
        found.map(|error| error.detail.as_str())
    }
}

/// What it holds for, in words.
pub(super) fn holds_for(cap: &SpendCap) -> String {
    match (&cap.label, &cap.schedule) {
        (Some(label), _) => format!("tasks with the label {}={}", label.key, label.value),
        (None, Some(schedule)) => format!("tasks of the schedule {schedule}"),
        (None, None) => "all tasks".to_owned(),
    }
}

async fn base(visit: &Visit) -> Result<Option<SpendCap>, Fault> {
    if visit.part("name").is_empty() {
        return Ok(None);
    }
    visit.get(format!("/v1/spend-caps/{}", visit.part_in_path("name"))).await.map(Some)
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let entered = if let Some(cap) = &base {
        Entered { amount: decimal(cap.amount.0), ..Entered::default() }
    } else {
        // The currency in which one is billed.
        let costs: Option<Costs> = visit.try_get("/v1/costs").await.ok();
        let month = costs.and_then(|costs| costs.month);
        let currency = month.map(|month| month.currency).unwrap_or_default();
        Entered {
            currency,
            period: "month".to_owned(),
            zone: "UTC".to_owned(),
            ..Entered::default()
        }
    };
    page(&form(&visit, base.as_ref(), entered))
}

/// Stores it.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let text = |name| visit.form.text(name).to_owned();
    let entered = Entered {
        name: text("name"),
        amount: text("amount"),
        currency: text("currency").to_uppercase(),
        period: text("period"),
        zone: text("zone"),
        key: text("key"),
        value: text("value"),
        schedule: text("schedule"),
    };
    let mut shown = form(&visit, base.as_ref(), entered.clone());
    let amount = match micros(&entered.amount) {
        Ok(amount) => amount,
        Err(wanted) => {
            let (pointer, detail) = ("/amount".to_owned(), wanted.to_owned());
            shown.errors = vec![FieldError { pointer, detail }];
            return page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown);
        }
    };
    match store(&visit, base.as_ref(), &entered, amount).await {
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 409 | 412 | 422) => {
            refused(&visit, shown, *problem).await
        }
        done => done,
    }
}

async fn refused(
    visit: &Visit,
    mut shown: CapPage,
    problem: Problem,
) -> Result<HttpResponse, Fault> {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    if problem.code == ErrorCode::VersionMismatch && shown.stored.is_some() {
        // With what is stored now; the next time the form is sent, it is over that.
        let now = base(visit).await?;
        shown = form(visit, now.as_ref(), shown.entered);
        if let (Some(stored), Some(now)) = (&mut shown.stored, &now) {
            stored.version = now.version;
        }
        let amount =
            now.map(|cap| money(cap.amount.0, &cap.currency.to_string())).unwrap_or_default();
        shown.wrong = Some(format!(
            "Nothing was stored: somebody else changed this cap meanwhile; it is {amount} now."
        ));
    } else if problem.code == ErrorCode::VersionMismatch {
        shown.wrong = Some(
            "There is a cap of this name. Choose another name, or change that one.".to_owned(),
        );
    } else {
        shown.wrong = problem.errors.is_empty().then_some(problem.detail);
        shown.errors = problem.errors;
    }
    page_with(status, &shown)
}

async fn store(
    visit: &Visit,
    base: Option<&SpendCap>,
    entered: &Entered,
    amount: i64,
) -> Result<HttpResponse, Fault> {
    let (name, body, condition) = if let Some(cap) = base {
        let version = visit.form.text("version").parse::<i64>();
        let version =
            version.map_err(|_| Fault::BadForm("It does not say which version it changes."))?;
        // The rest as it is stored.
        let mut body = serde_json::to_value(cap)?;
        let fields = ["currency", "period", "zone", "label", "schedule"];
        if let Some(object) = body.as_object_mut() {
            object.retain(|name, value| fields.contains(&name.as_str()) && !value.is_null());
            object.insert("amount".to_owned(), amount.into());
        }
        (cap.name.to_string(), body, ("if-match", format!("\"{version}\"")))
    } else {
        (entered.name.clone(), document(entered, amount), ("if-none-match", "*".to_owned()))
    };
    if name.is_empty() {
        return Err(Fault::BadForm("Give the cap a name."));
    }
    let headers = vec![("content-type", "application/json".to_owned()), condition];
    let target = format!("/v1/spend-caps/{}", in_path(&name));
    let reply = visit.reply(Method::Put, target, Some(serde_json::to_vec(&body)?), headers).await;
    let _stored: SpendCap = read(&reply)?;
    Err(Fault::to("/costs?done=stored#caps"))
}

fn document(entered: &Entered, amount: i64) -> Value {
    let mut body =
        json!({"amount": amount, "currency": entered.currency, "period": entered.period});
    if !entered.zone.is_empty() {
        body["zone"] = entered.zone.as_str().into();
    }
    if !entered.key.is_empty() || !entered.value.is_empty() {
        body["label"] = json!({"key": entered.key, "value": entered.value});
    }
    if !entered.schedule.is_empty() {
        body["schedule"] = entered.schedule.as_str().into();
    }
    body
}

fn form(visit: &Visit, base: Option<&SpendCap>, entered: Entered) -> CapPage {
    let title =
        base.map_or_else(|| "New spend cap".to_owned(), |cap| format!("Spend cap {}", cap.name));
    let path = base.map_or_else(|| "/costs/caps/new".to_owned(), |cap| path(&cap.name.to_string()));
    let sent = visit.form.text("version").parse::<i64>().ok();
    let stored = base.map(|cap| {
        let of = |micros: i64| money(micros, &cap.currency.to_string());
        Stored {
            // What the browser sent stays: somebody may have stored another since.
            version: sent.unwrap_or(cap.version),
            of: holds_for(cap),
            period: format!("each {}, which begins in the time zone {}", cap.period, cap.zone),
            use_of: vec![
                ("The most", of(cap.amount.0)),
                ("Spent", of(cap.spent.0)),
                ("Reserved by tasks that have not ended", of(cap.reserved.0)),
                ("Free", of(cap.free.0)),
            ],
            resets: Moment(cap.resets_at),
            alerts: cap.alerts.iter().map(|alert| (alert.percent, Moment(alert.at))).collect(),
        }
    });
    let frame = Frame::new(visit, Section::Money, title);
    CapPage { frame, path, stored, entered, errors: Vec::new(), wrong: None }
}

/// The page of a cap.
pub(super) fn path(name: &str) -> String {
    format!("/costs/caps/{}", in_path(name))
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let cap = base(&visit).await?.ok_or(Fault::NoPage)?;
    let amount = money(cap.amount.0, &cap.currency.to_string());
    let says = format!(
        "Nothing limits any more what {} may cost, which is {amount} a {} now. Tasks that were accepted under it go on.",
        holds_for(&cap),
        cap.period
    );
    let action = format!("{}/delete", path(&cap.name.to_string()));
    let frame = Frame::new(&visit, Section::Money, format!("Delete the spend cap {}?", cap.name));
    page(&Confirm { frame, says, action, back: "/costs#caps".to_owned(), button: "Delete the cap" })
}

/// Deletes it.
pub(crate) async fn delete(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/spend-caps/{}", visit.part_in_path("name"));
    let _gone: Value = visit.act(Method::Delete, target).await?;
    Err(Fault::to("/costs?done=deleted#caps"))
}
