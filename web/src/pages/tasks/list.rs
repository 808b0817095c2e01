//! `GET /tasks`: the list, with its filters in the URL.

use super::view::TaskRow;
use crate::fault::Fault;
use crate::form::{Fields, with_query};
use crate::frame::{Frame, Section, page};
use crate::visit::{Visit, in_path};
use actix_web::HttpResponse;
use api_types::{Page, Task};
use askama::Template;
use domain::access::Permission;
use domain::id::TaskId;
use domain::resources::Tier;
use domain::task::State;
use runtime::clock::wall;

/// What a URL may hold of filters.
const FILTERS: [&str; 9] = [
    "q",
    "state",
    "tier",
    "name",
    "label",
    "schedule",
    "workflow_run",
    "created_from",
    "created_before",
];
/// Groups of states, as people think of them.
const VIEWS: [(&str, &[State]); 5] = [
    ("All", &[]),
    ("Waiting", &[State::Scheduled, State::Ready, State::Queued, State::Retrying]),
    ("Running", &[State::Running, State::Cancelling]),
    ("Failed", &[State::Failed, State::Aborted, State::Killed, State::Expired]),
    ("Succeeded", &[State::Succeeded]),
];
const ROWS: &str = "50";

#[derive(Template)]
#[template(path = "tasks/list.html")]
struct ListPage {
    frame: Frame,
    views: Vec<View>,
    filters: Filters,
    part: ListPart,
    live: Option<String>,
    may_submit: bool,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "tasks/list_part.html")]
struct ListPart {
    rows: Vec<TaskRow>,
    pick: bool,
    is_filtered: bool,
    first: Option<String>,
    next: Option<String>,
}

struct View {
    label: &'static str,
    href: String,
    current: bool,
}

struct Filters {
    q: String,
    tier: String,
    tiers: [&'static str; 3],
    schedule: String,
    workflow_run: String,
    created_from: String,
    created_before: String,
    states: Vec<String>,
    are_open: bool,
}

/// Shows the list, or the part of it that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    // An id leads to its task.
    if let Ok(id) = visit.query.text("q").parse::<TaskId>() {
        return Err(Fault::to(format!("/tasks/{}", in_path(&id.to_string()))));
    }
    let tasks: Page<Task> = visit.get(with_query("/v1/tasks", &asked(&visit.query))).await?;
    let now = wall();
    let cursor = visit.query.get("cursor");
    let to =
        |cursor: &str| with_query("/tasks", &visit.query.query(&FILTERS, &[("cursor", cursor)]));
    let may_submit = visit.may(Permission::SubmitTasks);
    let part = ListPart {
        rows: tasks.data.iter().map(|task| TaskRow::of(task, now)).collect(),
        pick: may_submit,
        is_filtered: FILTERS.iter().any(|name| visit.query.has(name)),
        first: cursor.map(|_| to("")),
        next: tasks.next_cursor.map(|cursor| to(&cursor.to_string())),
    };
    if visit.fragment().is_some() {
        return page(&part);
    }
    let again = || with_query("/tasks", &visit.query.query(&FILTERS, &[("fragment", "list")]));
    page(&ListPage {
        frame: Frame::new(&visit, Section::Tasks, "Tasks"),
        views: views(&visit.query),
        filters: filters(&visit.query),
        part,
        live: cursor.is_none().then(again),
        may_submit,
    })
}

/// The query of the API.
fn asked(query: &Fields) -> String {
    let mut more = vec![("limit", ROWS.to_owned())];
    // A search is for a label where it looks like one, else for a name.
    match query.text("q") {
        "" => {}
        label if label.contains('=') => more.push(("label", label.to_owned())),
        name => more.push(("name", name.to_owned())),
    }
    for name in ["created_from", "created_before"] {
        if let Some(time) = query.get(name) {
            more.push((name, moment(time)));
        }
    }
    let more: Vec<(&str, &str)> =
        more.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut names = vec!["state", "tier", "schedule", "workflow_run", "cursor"];
    // Labels of the URL are kept beside the one that is searched for.
    let searched = more.iter().any(|(name, _)| *name == "label");
    let labels = if searched { query.query(&["label"], &[]) } else { String::new() };
    names.extend(if searched { None } else { Some("label") });
    names.extend((!more.iter().any(|(name, _)| *name == "name")).then_some("name"));
    let asked = query.query(&names, &more);
    if labels.is_empty() { asked } else { format!("{asked}&{labels}") }
}

/// What a browser's field for a time gives, which has no zone: UTC.
pub(crate) fn moment(time: &str) -> String {
    let is_local = !time.ends_with(['Z', 'z']) && time.rfind(['+', '-']).is_none_or(|at| at < 10);
    match (is_local, time.len()) {
        (true, 10) => format!("{time}T00:00:00Z"),
        (true, 16) => format!("{time}:00Z"),
        (true, _) => format!("{time}Z"),
        (false, _) => time.to_owned(),
    }
}

fn states(query: &Fields) -> Vec<String> {
    let words = query.all("state").flat_map(|text| text.split(','));
    words.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

fn views(query: &Fields) -> Vec<View> {
    let chosen = states(query);
    let names: Vec<&str> = FILTERS.into_iter().filter(|name| *name != "state").collect();
    let view = |(label, states): (&'static str, &[State])| {
        let words: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
        let href = with_query("/tasks", &query.query(&names, &[("state", &words.join(","))]));
        View { label, href, current: words == chosen }
    };
    VIEWS.into_iter().map(view).collect()
}

fn filters(query: &Fields) -> Filters {
    let text = |name| query.text(name).to_owned();
    // One name or label that a link brought is shown where it can be changed.
    let brought = query.get("name").or_else(|| query.get("label")).unwrap_or_default();
    let q = if query.has("q") { text("q") } else { brought.to_owned() };
    let narrow = ["schedule", "workflow_run", "created_from", "created_before"];
    Filters {
        q,
        tier: text("tier"),
        tiers: [Tier::Basic, Tier::Regular, Tier::Premium].map(Tier::as_str),
        schedule: text("schedule"),
        workflow_run: text("workflow_run"),
        created_from: text("created_from"),
        created_before: text("created_before"),
        states: states(query),
        are_open: narrow.iter().any(|name| query.has(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> String {
        asked(&Fields::parse(query.as_bytes()))
    }

    #[test]
    fn a_search_is_for_a_label_or_a_name_and_keeps_the_other_filters() {
        assert_eq!(of(""), "limit=50");
        assert_eq!(
            of("q=resize&state=ready,queued&cursor=c"),
            "state=ready%2Cqueued&cursor=c&limit=50&name=resize"
        );
        assert_eq!(
            of("q=team%3Da&label=env%3Dprod&tier=basic"),
            "tier=basic&limit=50&label=team%3Da&label=env%3Dprod"
        );
        assert_eq!(of("name=a&label=b%3Dc"), "name=a&label=b%3Dc&limit=50");
    }

    #[test]
    fn a_time_without_a_zone_is_utc() {
        for (time, wanted) in [
            ("2030-01-31", "2030-01-31T00:00:00Z"),
            ("2030-01-31T12:30", "2030-01-31T12:30:00Z"),
            ("2030-01-31T12:30:01", "2030-01-31T12:30:01Z"),
            ("2030-01-31T12:30:01Z", "2030-01-31T12:30:01Z"),
            ("2030-01-31T12:30:00+02:00", "2030-01-31T12:30:00+02:00"),
        ] {
            assert_eq!(moment(time), wanted);
        }
    }

    #[test]
    fn a_view_keeps_the_other_filters_and_starts_at_the_first_page() {
        let views = views(&Fields::parse(b"state=running,cancelling&q=a&cursor=c"));
        let hrefs: Vec<&str> = views.iter().map(|view| view.href.as_str()).collect();
        assert_eq!(hrefs[0], "/tasks?q=a");
        assert_eq!(hrefs[2], "/tasks?q=a&state=running%2Ccancelling");
        assert!(views[2].current && !views[0].current);
    }
}
