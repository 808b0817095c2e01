//! `/workflows/definitions/{name}/versions`: the versions of a definition, the text of one, and what differs between two.

use super::pretty::pretty;
use super::workflow::path;
use crate::diff::{DiffLine, lines};
use crate::fault::Fault;
use crate::frame::{Frame, Section, page, page_with};
use crate::visit::Visit;
use crate::words::{Ago, count};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use api_types::{Page, WorkflowVersion};
use askama::Template;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "workflows/versions.html")]
struct VersionsPage {
    frame: Frame,
    name: String,
    back: String,
    versions: Vec<VersionRow>,
    from: i64,
    to: i64,
    compared: Compared,
}

/// What is shown of the versions that the URL names.
enum Compared {
    Nothing,
    Wrong(String),
    Text { version: i64, text: String },
    Changes(Vec<DiffLine>),
}

struct VersionRow {
    number: i64,
    nodes: String,
    stored: Ago,
    by: String,
    /// The one that it replaced, where that is listed.
    before: Option<i64>,
}

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let api = format!("/v1/workflows/{}/versions", visit.part_in_path("name"));
    let all: Page<WorkflowVersion> = visit.get(format!("{api}?limit=200")).await?;
    let now = wall();
    let number = |name: &str| visit.query.text(name).parse::<i64>().ok();
    let newest = all.data.first().map_or(1, |one| one.version);
    let compared = compared(&visit, &api).await;
    let status = match &compared {
        Compared::Wrong(_) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    };
    let before = all.data.iter().skip(1).map(|one| Some(one.version)).chain([None]);
    let row = |(one, before): (&WorkflowVersion, Option<i64>)| VersionRow {
        number: one.version,
        nodes: count(i64::try_from(one.nodes).unwrap_or(i64::MAX)),
        stored: Ago { at: one.stored_at, now },
        by: one.stored_by.to_string(),
        before,
    };
    let name = visit.part("name");
    let shown = VersionsPage {
        frame: Frame::new(&visit, Section::Workflows, format!("Versions of {name}")),
        back: path(&name),
        from: number("from").unwrap_or_else(|| all.data.get(1).map_or(newest, |one| one.version)),
        to: number("to").unwrap_or(newest),
        versions: all.data.iter().zip(before).map(row).collect(),
        compared,
        name,
    };
    if status == StatusCode::OK { page(&shown) } else { page_with(status, &shown) }
}

async fn compared(visit: &Visit, api: &str) -> Compared {
    let text = async |number: i64| {
        let version: WorkflowVersion = visit.try_get(format!("{api}/{number}")).await?;
        Ok::<String, String>(version.definition.map_or_else(String::new, |it| pretty(it.as_str())))
    };
    let asked = |name: &str| match visit.query.get(name) {
        None => Ok(None),
        Some(text) => text.trim().parse::<i64>().map(Some),
    };
    let (Ok(from), Ok(to), Ok(one)) = (asked("from"), asked("to"), asked("version")) else {
        return Compared::Wrong("A version is a number, from 1.".to_owned());
    };
    let found = match (from, to, one) {
        (Some(from), Some(to), _) => match futures::join!(text(from), text(to)) {
            (Ok(old), Ok(new)) => Ok(Compared::Changes(lines(&old, &new))),
            (Err(wrong), _) => Err((from, wrong)),
            (_, Err(wrong)) => Err((to, wrong)),
        },
        (_, _, Some(one)) => {
            text(one).await.map(|text| Compared::Text { version: one, text }).map_err(|e| (one, e))
        }
        _ => Ok(Compared::Nothing),
    };
    found.unwrap_or_else(|(number, wrong)| {
        Compared::Wrong(format!("Version {number} cannot be shown: it is not kept. {wrong}"))
    })
}
