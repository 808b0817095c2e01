//! `/account/keys/new`: an API key, whose text is shown once, on the page that answers the form.
//!
//! The text is in that answer alone: no URL, cookie or log has it, and the answer is kept by no cache. Loading it again shows the key
//! without its text.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::Visit;
use crate::words::Moment;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{FieldError, NewApiKey, Secret};
use askama::Template;
use domain::access::Scope;
use serde_json::json;

/// Lives that are offered: hours and words. Empty: no end.
const LIVES: [(&str, &str); 5] = [
    ("720h", "30 days"),
    ("2160h", "90 days"),
    ("8760h", "one year"),
    ("24h", "one day"),
    ("", "never"),
];

#[derive(Template)]
#[template(path = "account/new_key.html")]
struct NewKeyPage {
    frame: Frame,
    once: String,
    name: String,
    scopes: Vec<ScopeBox>,
    lives: Vec<(&'static str, &'static str, bool)>,
    errors: Vec<FieldError>,
    wrong: Option<String>,
}

struct ScopeBox {
    word: &'static str,
    says: &'static str,
    picked: bool,
}

impl NewKeyPage {
    fn wrong_with(&self, pointer: &str) -> Option<&str> {
        let found = self.errors.iter().find(|error| error.pointer.starts_with(pointer));
        found.map(|error| error.detail.as_str())
    }
}

/// The key that was made. Its text is escaped by the template, as all is.
#[derive(Template)]
#[template(path = "account/made_key.html")]
pub(super) struct MadeKeyPage {
    frame: Frame,
    key: Option<Secret>,
    name: String,
    id: String,
    scopes: String,
    expires: Option<Moment>,
    /// Of a rotation: the key that it replaces, and until when that one is good.
    old: Option<(String, Option<Moment>)>,
}

impl MadeKeyPage {
    /// Of a new key, which replaces `old`.
    pub(super) fn of(visit: &Visit, new: NewApiKey, old: Option<(String, Option<Moment>)>) -> Self {
        let NewApiKey { key, info } = new;
        let scopes: Vec<String> = info.scopes.iter().map(ToString::to_string).collect();
        Self {
            frame: Frame::new(visit, Section::Account, "The new API key"),
            key,
            name: info.name,
            id: info.id.to_string(),
            scopes: scopes.join(", "),
            expires: info.expires_at.map(Moment),
            old,
        }
    }
}

const fn says(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read tasks, schedules, workflows, usage and costs",
        Scope::Submit => "submit tasks and act on them; store schedules and workflows",
        Scope::Approve => "approve and reject what workflows wait for",
        Scope::Admin => "manage keys, users and spend caps; read the audit log",
    }
}

/// Shows the form.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    page(&form(&visit, Vec::new(), None))
}

/// Makes the key.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let scopes: Vec<&str> = visit.form.all("scope").collect();
    let mut body = json!({"name": visit.form.text("name"), "scopes": scopes});
    if visit.form.has("life") {
        body["expires_in"] = visit.form.text("life").into();
    }
    let made: Result<NewApiKey, Fault> = visit.send(Method::Post, "/v1/keys", &body).await;
    match made {
        Ok(made) => page_with(StatusCode::CREATED, &MadeKeyPage::of(&visit, made, None)),
        Err(Fault::Problem(problem)) if matches!(problem.status, 400 | 403 | 422) => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            let wrong = problem.errors.is_empty().then_some(problem.detail);
            page_with(status, &form(&visit, problem.errors, wrong))
        }
        Err(fault) => Err(fault),
    }
}

fn form(visit: &Visit, errors: Vec<FieldError>, wrong: Option<String>) -> NewKeyPage {
    let picked: Vec<&str> = visit.form.all("scope").collect();
    // Nobody gives what they lack.
    let scopes = Scope::ALL.into_iter().filter(|scope| may_give(visit, *scope));
    let chosen = visit.form.get("life").unwrap_or("2160h");
    NewKeyPage {
        frame: Frame::new(visit, Section::Account, "New API key"),
        once: visit.once(),
        name: visit.form.text("name").to_owned(),
        scopes: scopes
            .map(|scope| ScopeBox {
                word: scope.as_str(),
                says: says(scope),
                picked: picked.contains(&scope.as_str()),
            })
            .collect(),
        lives: LIVES.map(|(life, words)| (life, words, life == chosen)).to_vec(),
        errors,
        wrong,
    }
}

fn may_give(visit: &Visit, scope: Scope) -> bool {
    use crate::backend::Who;
    matches!(&visit.who, Some(Who::Tenant(_, all)) if all.includes(scope.permissions()))
}
