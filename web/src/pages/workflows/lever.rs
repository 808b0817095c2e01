//! What can be done with a run, a node of it, or a definition: a page that says what it will do, and does it when that is meant.

use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page_with};
use crate::needs::Needs;
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::Problem;
use askama::Template;
use domain::access::Permission;
use serde_json::Value;

/// What can be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lever {
    pub word: &'static str,
    pub label: &'static str,
    pub title: &'static str,
    pub says: &'static str,
    /// What the form asks for.
    pub asks: Asks,
    pub is_danger: bool,
    pub done: &'static str,
    pub permission: Permission,
}

/// Fields of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Nothing,
    /// A note, which may be left out.
    Note,
    /// JSON that the signal carries, and for how long it is kept.
    Signal,
    /// Whether everything below runs again, too.
    Below,
    /// JSON that the run gets.
    Input,
}

/// A lever with nothing said.
pub(super) const PLAIN: Lever = Lever {
    word: "",
    label: "",
    title: "",
    says: "",
    asks: Asks::Nothing,
    is_danger: false,
    done: "",
    permission: Permission::SubmitTasks,
};

/// What a lever is pulled on.
pub(super) struct On {
    /// What it is called, and its page.
    pub name: String,
    pub back: String,
    /// Where the form goes.
    pub action: String,
    /// What else the one who asks should know.
    pub more: Vec<String>,
}

#[derive(Template)]
#[template(path = "workflows/lever.html")]
struct LeverPage {
    frame: Frame,
    lever: Lever,
    on: On,
    once: String,
    note: String,
    json: String,
    keep: String,
    below: bool,
    wrong: Option<String>,
}

/// The lever of this word that the one who asks may pull.
pub(super) fn named(visit: &Visit, levers: &[Lever]) -> Result<Lever, Fault> {
    let word = visit.part("lever");
    let lever = *levers.iter().find(|lever| lever.word == word).ok_or(Fault::NoPage)?;
    if visit.may(lever.permission) {
        return Ok(lever);
    }
    Err(Fault::NotAllowed(Needs::May(lever.permission)))
}

/// Asks whether it is meant, again where something was wrong.
pub(super) fn asking(
    visit: &Visit,
    lever: Lever,
    on: On,
    wrong: Option<String>,
) -> Result<HttpResponse, Fault> {
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let text = |name| visit.form.text(name).to_owned();
    let shown = LeverPage {
        frame: Frame::new(visit, Section::Workflows, lever.title),
        lever,
        on,
        once: visit.once(),
        note: text("note"),
        json: text("json"),
        keep: text("keep"),
        below: wrong.is_none() || visit.form.has("below"),
        wrong,
    };
    page_with(status, &shown)
}

/// A field with JSON; none where it is empty.
pub(super) fn json(visit: &Visit) -> Result<Option<Value>, String> {
    let text = visit.form.text("json");
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|error| format!("This is not JSON: {error}."))
}

/// What was wrong with the fields, in a sentence.
pub(super) fn sentence(problem: Problem) -> String {
    let first = problem.errors.into_iter().next();
    first.map_or(problem.detail, |error| {
        format!("{} {}", error.pointer.trim_start_matches('/'), error.detail)
    })
}

/// After it was done.
pub(super) fn to(back: &str, lever: Lever) -> Fault {
    Fault::to(format!("{back}?done={}", lever.done))
}

/// Writes, with what the form asks for or without.
pub(super) async fn write(
    visit: &Visit,
    target: String,
    body: Option<Value>,
) -> Result<Value, Fault> {
    match body {
        Some(body) => visit.send(Method::Post, target, &body).await,
        None => visit.act(Method::Post, target).await,
    }
}

/// The page of a run.
pub(super) fn run_path(id: &str) -> String {
    format!("/workflows/runs/{}", in_path(id))
}
