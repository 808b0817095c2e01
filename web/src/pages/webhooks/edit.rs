//! `/webhooks/new` and `/webhooks/{name}/edit`: a form for a webhook.
//!
//! An edit names the version that the form was made from. If another was stored since, nothing is changed, and the page shows what
//! differs. The secret of a new one is on the page that answers the form, once.

use super::form::{Entered, stored};
use super::secret::SecretPage;
use super::words::path;
use crate::backend::Method;
use crate::diff::{DiffLine, lines};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path, read};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, FieldError, Problem, Webhook, WebhookPut};
use askama::Template;

/// Pointers of what has a field.
const FIELDS: [&str; 9] = [
    "/url",
    "/events",
    "/task_name",
    "/labels",
    "/schedule",
    "/workflow",
    "/headers",
    "/payload",
    "/secret",
];

#[derive(Template)]
#[template(path = "webhooks/edit.html")]
struct EditPage {
    frame: Frame,
    /// The stored one's version; none: a new one.
    version: Option<i64>,
    path: String,
    back: String,
    entered: Entered,
    errors: Vec<FieldError>,
    wrong: Option<String>,
    conflict: Option<Conflict>,
}

/// Another version was stored meanwhile.
struct Conflict {
    version: i64,
    changes: Vec<DiffLine>,
}

impl EditPage {
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        let found = self.errors.iter().find(|error| error.pointer.starts_with(pointer));
        found.map(|error| error.detail.as_str())
    }
}

/// None for a new one.
async fn base(visit: &Visit) -> Result<Option<Webhook>, Fault> {
    if visit.part("name").is_empty() {
        return Ok(None);
    }
    visit.get(format!("/v1/webhooks/{}", visit.part_in_path("name"))).await.map(Some)
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let entered = base.as_ref().map(Entered::of).unwrap_or_default();
    page(&form(&visit, base.as_ref(), entered))
}

/// Stores it.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let entered = Entered::read(&visit.form);
    let mut shown = form(&visit, base.as_ref(), entered.clone());
    let put = match entered.document(base.as_ref()) {
        Ok(put) => put,
        Err(error) => {
            shown.errors = vec![error];
            return page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown);
        }
    };
    match store(&visit, base.as_ref(), &entered, &put).await {
        Err(Fault::Problem(problem))
            if problem.code == ErrorCode::VersionMismatch && base.is_some() =>
        {
            conflict(&visit, entered, &put).await
        }
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 409 | 412 | 422) => {
            refused(shown, *problem)
        }
        done => done,
    }
}

/// Stores it: a new one where none is, an edited one over the version that the form was made from.
async fn store(
    visit: &Visit,
    base: Option<&Webhook>,
    entered: &Entered,
    put: &WebhookPut,
) -> Result<HttpResponse, Fault> {
    let name = base.map_or_else(|| entered.name.clone(), |base| base.name.to_string());
    if name.is_empty() {
        return Err(Fault::BadForm("Give the webhook a name."));
    }
    let mut put = put.clone();
    let condition = if base.is_none() {
        put.secret = visit.form.has("secret").then(|| visit.form.text("secret").to_owned());
        ("if-none-match", "*".to_owned())
    } else {
        let version = visit.form.text("version").parse::<i64>();
        let version =
            version.map_err(|_| Fault::BadForm("It does not say which version it changes."))?;
        ("if-match", format!("\"{version}\""))
    };
    let headers = vec![("content-type", "application/json".to_owned()), condition];
    let target = format!("/v1/webhooks/{}", in_path(&name));
    let reply = visit.reply(Method::Put, target, Some(serde_json::to_vec(&put)?), headers).await;
    let stored: Webhook = read(&reply)?;
    // Who chose the secret has it.
    if stored.secret.is_some() && put.secret.is_none() {
        let shown = SecretPage::of(visit, stored, "The new webhook");
        return page_with(StatusCode::CREATED, &shown);
    }
    Err(Fault::to(format!("{}?done=stored", path(&name))))
}

/// The form with what is wrong, at the fields where they are.
fn refused(mut shown: EditPage, problem: Problem) -> Result<HttpResponse, Fault> {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
    let is_of_a_field = |error: &FieldError| FIELDS.iter().any(|it| error.pointer.starts_with(it));
    if problem.code == ErrorCode::VersionMismatch {
        let taken = "There is a webhook of this name. Choose another name, or edit that one.";
        shown.wrong = Some(taken.to_owned());
    } else if problem.errors.is_empty() || !problem.errors.iter().all(is_of_a_field) {
        let each = |error: &FieldError| match error.pointer.as_str() {
            "path:name" => format!("The name {}.", error.detail),
            pointer => format!("{pointer} {}.", error.detail),
        };
        let all: Vec<String> = problem.errors.iter().map(each).collect();
        shown.wrong = Some(if all.is_empty() { problem.detail } else { all.join(" ") });
    }
    shown.errors = problem.errors;
    page_with(status, &shown)
}

/// Says that somebody else stored another version, and what differs. The next time the form is sent, it is over that one.
async fn conflict(
    visit: &Visit,
    entered: Entered,
    sent: &WebhookPut,
) -> Result<HttpResponse, Fault> {
    let base = base(visit).await?;
    let Some(found) = &base else { return Err(Fault::NoPage) };
    let (theirs, own) =
        (serde_json::to_string_pretty(&stored(found))?, serde_json::to_string_pretty(sent)?);
    let mut shown = form(visit, base.as_ref(), entered);
    shown.version = Some(found.version);
    shown.conflict = Some(Conflict { version: found.version, changes: lines(&theirs, &own) });
    page_with(StatusCode::PRECONDITION_FAILED, &shown)
}

fn form(visit: &Visit, base: Option<&Webhook>, mut entered: Entered) -> EditPage {
    let name = base.map(|base| base.name.to_string());
    if let Some(name) = &name {
        entered.name.clone_from(name);
    }
    let title = name.as_ref().map_or_else(|| "New webhook".to_owned(), |it| format!("Edit {it}"));
    let back = name.as_deref().map_or_else(|| "/webhooks".to_owned(), path);
    // What the browser sent stays: somebody may have stored another since.
    let sent = visit.form.text("version").parse::<i64>().ok();
    EditPage {
        frame: Frame::new(visit, Section::Webhooks, title),
        version: base.map(|base| sent.unwrap_or(base.version)),
        path: if base.is_some() { format!("{back}/edit") } else { "/webhooks/new".to_owned() },
        back,
        entered,
        errors: Vec::new(),
        wrong: None,
        conflict: None,
    }
}
