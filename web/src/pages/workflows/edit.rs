//! `/workflows/new` and `/workflows/definitions/{name}/edit`: the text of a definition, and what differs from the stored version.
//!
//! Nothing is stored by a comparison. An edit names the version that it was made from: if another was stored since, nothing is
//! changed, and the page shows what differs from that one.

use super::pretty::pretty;
use super::workflow::path;
use crate::backend::Method;
use crate::diff::{DiffLine, lines};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::{Visit, in_path, read};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{ErrorCode, Problem, Workflow};
use askama::Template;

/// What a new one begins with.
const FIRST: &str = r#"{"nodes": {
  "list": {"task": {"run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}},
  "ask": {"after": ["list"], "wait": {"approval": true, "expires": "1h"}}
}}"#;

#[derive(Template)]
#[template(path = "workflows/edit.html")]
struct EditPage {
    frame: Frame,
    name: String,
    /// Version that the text was made from; none: a new one.
    version: Option<i64>,
    /// Version that is stored.
    stored: i64,
    by: String,
    path: String,
    back: String,
    text: String,
    wrong: Vec<String>,
    /// What differs from the stored one, where that was asked for or somebody else stored it.
    changes: Option<Vec<DiffLine>>,
    is_conflict: bool,
}

/// None for a new one.
async fn base(visit: &Visit) -> Result<Option<Workflow>, Fault> {
    if visit.part("name").is_empty() {
        return Ok(None);
    }
    visit.get(format!("/v1/workflows/{}", visit.part_in_path("name"))).await.map(Some)
}

/// Shows the text.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let text = pretty(base.as_ref().map_or(FIRST, |base| base.definition.as_str()));
    page(&form(&visit, base.as_ref(), text))
}

/// Stores it, or compares.
pub(crate) async fn send(visit: Visit) -> Result<HttpResponse, Fault> {
    let base = base(&visit).await?;
    let text = visit.form.get("text").unwrap_or_default().replace("\r\n", "\n");
    let mut shown = form(&visit, base.as_ref(), text.clone());
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        shown.wrong = vec![format!("This is not JSON: {error}.")];
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown);
    }
    if let (Some(base), true) = (&base, visit.form.has("compare")) {
        shown.changes = Some(lines(&pretty(base.definition.as_str()), &pretty(&text)));
        return page(&shown);
    }
    match store(&visit, base.as_ref(), text).await {
        Err(Fault::Problem(problem)) if problem.code == ErrorCode::VersionMismatch => {
            conflict(&visit, shown).await
        }
        Err(Fault::Problem(problem)) if problem.status == 422 || problem.status == 400 => {
            shown.wrong = all(*problem);
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &shown)
        }
        done => done,
    }
}

fn all(problem: Problem) -> Vec<String> {
    let each = problem.errors.iter().map(|error| format!("{}: {}", error.pointer, error.detail));
    let each: Vec<String> = each.collect();
    if each.is_empty() { vec![problem.detail] } else { each }
}

async fn store(
    visit: &Visit,
    base: Option<&Workflow>,
    text: String,
) -> Result<HttpResponse, Fault> {
    let name = base.map_or_else(|| visit.form.text("name"), |base| base.name.as_str());
    if name.is_empty() {
        return Err(Fault::BadForm("Give the workflow a name."));
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
    let target = format!("/v1/workflows/{}", in_path(name));
    let reply = visit.reply(Method::Put, target, Some(text.into_bytes()), headers).await;
    let stored: Workflow = read(&reply)?;
    Err(Fault::to(format!("{}?done=stored", path(&stored.name))))
}

/// Another version was stored meanwhile, or one under the name of a new one.
async fn conflict(visit: &Visit, mut shown: EditPage) -> Result<HttpResponse, Fault> {
    if let Some(base) = base(visit).await? {
        shown.changes = Some(lines(&pretty(base.definition.as_str()), &pretty(&shown.text)));
        (shown.stored, shown.by) = (base.version, base.updated_by.to_string());
        // The next time it is over that one.
        shown.version = Some(base.version);
        shown.is_conflict = true;
    } else {
        let taken = "There is a workflow of this name. Choose another name, or edit that one.";
        shown.wrong = vec![taken.to_owned()];
    }
    page_with(StatusCode::PRECONDITION_FAILED, &shown)
}

fn form(visit: &Visit, base: Option<&Workflow>, text: String) -> EditPage {
    let title =
        base.map_or_else(|| "New workflow".to_owned(), |base| format!("Edit {}", base.name));
    let back = base.map_or_else(|| "/workflows".to_owned(), |base| path(&base.name));
    let sent = visit.form.text("version").parse::<i64>().ok();
    EditPage {
        frame: Frame::new(visit, Section::Workflows, title),
        name: base.map_or_else(|| visit.form.text("name").to_owned(), |base| base.name.clone()),
        version: base.map(|base| sent.unwrap_or(base.version)),
        stored: base.map(|base| base.version).unwrap_or_default(),
        by: base.map(|base| base.updated_by.to_string()).unwrap_or_default(),
        path: if base.is_some() { format!("{back}/edit") } else { "/workflows/new".to_owned() },
        back,
        text,
        wrong: Vec::new(),
        changes: None,
        is_conflict: false,
    }
}
