//! What stands around each page: navigation, who is signed in, theme.

use crate::assets::ASSETS;
use crate::fault::Fault;
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use domain::access::Permission;

/// The cookie of the chosen theme.
pub(crate) const THEME: &str = "berth-theme";

/// A place of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Tasks,
    Schedules,
    Workflows,
    Webhooks,
    Money,
    Account,
    Operators,
    Nowhere,
}

/// A link of the navigation.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub href: &'static str,
    pub label: &'static str,
    pub current: bool,
}

/// What every page is shown in.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub title: String,
    pub style: String,
    pub script: String,
    pub icon: String,
    /// `light`, `dark`, or empty: as the system has it.
    pub theme: &'static str,
    /// The tenant.
    pub place: String,
    /// Who is signed in.
    pub name: String,
    pub signed_in: bool,
    /// Whether everybody may see the status.
    pub has_status: bool,
    pub links: Vec<Link>,
    /// For the forms of the page.
    pub token: String,
    /// Path and query of this page.
    pub here: String,
    /// What was done just now.
    pub done: Option<&'static str>,
}

impl Frame {
    /// For a page called `title` in `section`.
    pub(crate) fn new(visit: &Visit, section: Section, title: impl Into<String>) -> Self {
        let signed_in = visit.who.is_some();
        let here = visit.http.uri().path_and_query().map_or("/", |here| here.as_str());
        Self {
            title: title.into(),
            style: ASSETS.style.path(),
            script: ASSETS.script.path(),
            icon: ASSETS.icon.path(),
            theme: theme(visit.cookie(THEME)),
            place: visit.session.place.clone(),
            name: visit.session.name.clone(),
            signed_in,
            has_status: visit.dashboard.has_status,
            links: if signed_in { links(visit, section) } else { Vec::new() },
            token: visit.token(),
            here: here.to_owned(),
            done: visit.query.get("done").and_then(done),
        }
    }
}

/// A theme that the browser keeps; anything else is the system's.
pub(crate) fn theme(kept: Option<&str>) -> &'static str {
    match kept {
        Some("dark") => "dark",
        Some("light") => "light",
        _ => "",
    }
}

fn links(visit: &Visit, section: Section) -> Vec<Link> {
    let link = |href, label, own| Link { href, label, current: own == section };
    if visit.is_operator() {
        return vec![link("/operators", "Installation", Section::Operators)];
    }
    let tasks = visit.may(Permission::ReadTasks);
    let account = visit.may(Permission::ReadUsage)
        || visit.may(Permission::ReadUsers)
        || visit.may(Permission::OwnKeys)
        || visit.may(Permission::ReadAudit);
    [
        (true, link("/", "Overview", Section::Overview)),
        (tasks, link("/tasks", "Tasks", Section::Tasks)),
        (tasks, link("/schedules", "Schedules", Section::Schedules)),
        (tasks, link("/workflows", "Workflows", Section::Workflows)),
        (visit.may(Permission::ManageWebhooks), link("/webhooks", "Webhooks", Section::Webhooks)),
        (visit.may(Permission::ReadUsage), link("/costs", "Costs", Section::Money)),
        (account, link("/account", "Account", Section::Account)),
    ]
    .into_iter()
    .filter_map(|(shown, link)| shown.then_some(link))
    .collect()
}

/// What a lever did, as the page after it says.
fn done(code: &str) -> Option<&'static str> {
    Some(match code {
        "submitted" => "The task was submitted.",
        "cancelled" => "The task was cancelled.",
        "stopping" => "The task was asked to stop.",
        "ended" => "The task had ended before; nothing was changed.",
        "retried" => "The task was submitted again.",
        "run-now" => "The task was made due now.",
        "marked" => "The task was marked as succeeded.",
        "approved" => "The task was approved.",
        "rejected" => "The task was rejected.",
        "changed" => "The change was stored.",
        "bulk" => "Done. What could not be done is listed below.",
        "paused" => "Paused.",
        "resumed" => "Resumed.",
        "triggered" => "A fire was triggered.",
        "backfilled" => "The backfill was started.",
        "stored" => "Stored.",
        "deleted" => "Deleted.",
        "started" => "The run was started.",
        "run-cancelled" => "The run was cancelled.",
        "rerun" => "A new run was started.",
        "sent" => "A test was sent.",
        "sent-again" => "It is sent again.",
        "signalled" => "The signal was sent.",
        "removed" => "The user was removed.",
        "revoked" => "The key was revoked.",
        "accepted" => "The password is set. Sign in with it.",
        "signed-out" => "You are signed out.",
        "session-over" => "Your session is over. Sign in again to go on.",
        _ => return None,
    })
}

/// A page.
pub(crate) fn page(template: &impl Template) -> Result<HttpResponse, Fault> {
    page_with(StatusCode::OK, template)
}

/// A page with another status.
pub(crate) fn page_with(
    status: StatusCode,
    template: &impl Template,
) -> Result<HttpResponse, Fault> {
    let html = template.render()?;
    Ok(HttpResponse::build(status).content_type("text/html; charset=utf-8").body(html))
}
