//! `/operators/plans/new` and `/operators/plans/{name}/edit`: a field for each limit of a plan, what it is billed by, and what an edit
//! changes.
//!
//! The fields are those of the table of limits in `domain`. An edit names the version that the form was made from: if another was
//! stored since, nothing is changed, and the page shows what differs from that one.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path, read};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, FieldError, Plan};
use askama::Template;
use domain::plan::{LIMITS, Limit, LimitRange, PlanLimits};
use serde_json::{Map, Value, json};

/// Amounts of the billing: name of the field, its place in `billing`, its label.
const AMOUNTS: [(&str, &str, &str); 4] = [
    ("minimum", "/minimum", "Least that a month comes to, micro-units"),
    ("included_attempts", "/included/attempts", "Included cost of attempts, micro-units"),
    ("included_tasks", "/included/tasks", "Included tasks"),
    ("included_fires", "/included/fires", "Included fires of schedules"),
];

#[derive(Template)]
#[template(path = "operators/plan.html")]
struct PlanPage {
    frame: Frame,
    /// Version that the form was made from; none: a new plan.
    version: Option<i64>,
    path: String,
    name: String,
    limits: Vec<Field>,
    billing: Vec<Field>,
    wrong: Option<String>,
    /// What would change, where that was asked for or somebody else stored another version.
    changes: Option<Vec<Change>>,
    is_conflict: bool,
}

impl PlanPage {
    fn has_wrong(&self) -> bool {
        self.limits.iter().chain(&self.billing).any(|field| field.wrong.is_some())
    }
}

struct Field {
    name: &'static str,
    label: String,
    hint: String,
    value: String,
    is_switch: bool,
    wrong: Option<String>,
}

/// A limit, as it is and as it would be.
struct Change {
    label: String,
    from: String,
    to: String,
}

/// None for a new one.
async fn base(visit: &Visit) -> Result<Option<Plan>, Fault> {
    if visit.part("name").is_empty() {
        return Ok(None);
    }
    visit.get(format!("/v1/admin/plans/{}", visit.part_in_path("name"))).await.map(Some)
}

/// The form of a stored plan.
pub(super) fn path(name: &str) -> String {
    format!("/operators/plans/{}/edit", in_path(name))
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let plan = base.as_ref().map_or_else(|| of(&PlanLimits::default().values(), None), document);
    page(&form(&visit, base.as_ref(), &plan, &[]))
}

/// Stores the plan, or shows what that would change.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let sent = entered(&visit);
    let wrong: Vec<FieldError> = LIMITS.iter().filter_map(|limit| check(limit, &sent)).collect();
    if !wrong.is_empty() {
        return page_with(
            StatusCode::UNPROCESSABLE_ENTITY,
            &form(&visit, base.as_ref(), &sent, &wrong),
        );
    }
    if let (Some(base), true) = (&base, visit.form.has("preview")) {
        let mut shown = form(&visit, Some(base), &sent, &[]);
        shown.changes = Some(changes(&document(base), &sent));
        return page(&shown);
    }
    match store(&visit, base.as_ref(), &sent).await {
        Err(Fault::Problem(problem)) if problem.code == ErrorCode::VersionMismatch => {
            conflict(&visit, base.is_some(), &sent).await
        }
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 422) => {
            let mut shown = form(&visit, base.as_ref(), &sent, &problem.errors);
            let is_placed = |error: &FieldError| pointers().any(|it| it == error.pointer);
            if problem.errors.is_empty() || !problem.errors.iter().all(is_placed) {
                shown.wrong = Some(problem.errors.first().map_or(problem.detail, |error| {
                    format!("{}: {}", error.pointer, error.detail)
                }));
            }
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown)
        }
        done => done,
    }
}

async fn store(visit: &Visit, base: Option<&Plan>, plan: &Value) -> Result<HttpResponse, Fault> {
    let name = base.map_or_else(|| visit.form.text("name").to_owned(), |it| it.name.to_string());
    if name.is_empty() {
        return Err(Fault::BadForm("Give the plan a name."));
    }
    let condition = if base.is_none() {
        ("if-none-match", "*".to_owned())
    } else {
        let version = visit.form.text("version").parse::<i64>();
        let version =
            version.map_err(|_| Fault::BadForm("It does not say which version it changes."))?;
        ("if-match", format!("\"{version}\""))
    };
    let headers = vec![("content-type", "application/json".to_owned()), condition];
    let target = format!("/v1/admin/plans/{}", in_path(&name));
    let body = Some(serde_json::to_vec(plan)?);
    let stored: Plan = read(&visit.reply(Method::Put, target, body, headers).await)?;
    Err(Fault::to(format!("{}?done=stored", path(stored.name.as_str()))))
}

/// Another version was stored meanwhile, or one under the name of a new plan.
async fn conflict(visit: &Visit, is_edit: bool, sent: &Value) -> Result<HttpResponse, Fault> {
    let base = base(visit).await?;
    let mut shown = form(visit, base.as_ref(), sent, &[]);
    match &base {
        Some(base) => {
            shown.changes = Some(changes(&document(base), sent));
            // The next time it is over that one.
            shown.version = Some(base.version);
            shown.is_conflict = true;
        }
        None if is_edit => return Err(Fault::NoPage),
        None => {
            let taken = "There is a plan of this name. Choose another name, or edit that one.";
            shown.wrong = Some(taken.to_owned());
        }
    }
    page_with(StatusCode::PRECONDITION_FAILED, &shown)
}

/// The document of a stored plan, as it is sent.
fn document(plan: &Plan) -> Value {
    let billing = plan.billing.as_ref().and_then(|billing| serde_json::to_value(billing).ok());
    of(&plan.limits.values(), billing)
}

fn of(limits: &Map<String, Value>, billing: Option<Value>) -> Value {
    let mut plan = limits.clone();
    plan.insert("billing".to_owned(), billing.unwrap_or_default());
    plan.into()
}

/// What the form says. What is no number stays a text, and is told at its field.
fn entered(visit: &Visit) -> Value {
    let number = |name: &str| {
        let text = visit.form.text(name).replace([' ', '_', '\u{202f}'], "");
        let whole = text.parse::<u64>().map(Value::from).ok();
        let part = || text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
        whole.or_else(|| part().map(Value::Number)).unwrap_or_else(|| text.clone().into())
    };
    let limit = |limit: &Limit| match limit.range {
        LimitRange::Switch => visit.form.has(limit.name).into(),
        LimitRange::Positive(_) => {
            number(limit.name).as_f64().map_or(number(limit.name), |n| json!(n))
        }
        LimitRange::Whole { .. } => number(limit.name),
    };
    let limits = LIMITS.iter().map(|it| (it.name.to_owned(), limit(it))).collect();
    let amount = |name: &str| if visit.form.has(name) { number(name) } else { 0.into() };
    let billing = visit.form.get("price_book").map(|book| {
        json!({"price_book": book.trim(), "minimum": amount("minimum"), "included": {
            "attempts": amount("included_attempts"), "tasks": amount("included_tasks"), "fires": amount("included_fires")}})
    });
    of(&limits, billing)
}

fn check(limit: &Limit, plan: &Value) -> Option<FieldError> {
    let pointer = format!("/{}", limit.name);
    let detail = format!("must be {}", limit.range);
    (!limit.range.admits(&plan[limit.name])).then_some(FieldError { pointer, detail })
}

/// The places of all fields.
fn pointers() -> impl Iterator<Item = String> {
    let billing = AMOUNTS.iter().map(|(_, place, _)| format!("/billing{place}"));
    let limits = LIMITS.iter().map(|limit| format!("/{}", limit.name));
    limits.chain(billing).chain(["/billing/price_book".to_owned()])
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    }
}

/// A sentence of the table of limits as a label.
fn plain(text: &str) -> String {
    text.replace('`', "").trim_end_matches('.').to_owned()
}

/// What differs, in the order of the form.
fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let book = ("Price book", "/billing/price_book".to_owned());
    let limits = LIMITS.iter().map(|limit| (limit.text, format!("/{}", limit.name)));
    let amounts = AMOUNTS.iter().map(|(_, place, label)| (*label, format!("/billing{place}")));
    let value = |of: &Value, place: &str| of.pointer(place).cloned().unwrap_or_default();
    let change = |(label, place): (&'static str, String)| {
        let (from, to) = (value(old, &place), value(new, &place));
        (from != to).then(|| Change { label: plain(label), from: words(&from), to: words(&to) })
    };
    limits.chain([book]).chain(amounts).filter_map(change).collect()
}

fn form(visit: &Visit, base: Option<&Plan>, plan: &Value, errors: &[FieldError]) -> PlanPage {
    let title = base.map_or_else(|| "New plan".to_owned(), |base| format!("Plan {}", base.name));
    let sent = visit.form.text("version").parse::<i64>().ok();
    let wrong = |place: &str| {
        let found = errors.iter().find(|error| error.pointer == place);
        found.map(|error| error.detail.clone())
    };
    let text = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(value) => words(value),
    };
    let limit = |limit: &'static Limit| Field {
        name: limit.name,
        label: plain(limit.text),
        hint: limit.range.to_string(),
        value: text(plan.get(limit.name)),
        is_switch: limit.range == LimitRange::Switch,
        wrong: wrong(&format!("/{}", limit.name)),
    };
    let billed = |name: &'static str, place: &str, label: &'static str, hint: &str| Field {
        name,
        label: label.to_owned(),
        hint: hint.to_owned(),
        value: text(plan.pointer(&format!("/billing{place}"))),
        is_switch: false,
        wrong: wrong(&format!("/billing{place}")),
    };
    let book = "Name of a price book. Empty: what is used costs nothing.";
    let amounts = AMOUNTS.iter().map(|(name, place, label)| billed(name, place, label, "a month"));
    PlanPage {
        frame: Frame::new(visit, Section::Operators, title),
        version: base.map(|base| sent.unwrap_or(base.version)),
        path: base.map_or("/operators/plans/new".to_owned(), |base| path(base.name.as_str())),
        name: base.map_or_else(|| visit.form.text("name").to_owned(), |it| it.name.to_string()),
        limits: LIMITS.iter().map(limit).collect(),
        billing: [billed("price_book", "/price_book", "Price book", book)]
            .into_iter()
            .chain(amounts)
            .collect(),
        wrong: None,
        changes: None,
        is_conflict: false,
    }
}
