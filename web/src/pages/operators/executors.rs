//! `GET /operators`: the connected executors, and how full each is, dimension by dimension.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, Section, page};
use crate::listing::{Tab, asked};
use crate::svg::Gauge;
use crate::visit::Visit;
use crate::words::{Ago, Mark, bytes, count, mark_of, ratio};
use actix_web::HttpResponse;
use api_types::{Executor, Page};
use askama::Template;
use domain::time::Timestamp;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "operators/executors.html")]
struct ExecutorsPage {
    frame: Frame,
    tabs: Vec<Tab>,
    part: Part,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "operators/executors_part.html")]
struct Part {
    rows: Vec<ExecutorRow>,
    next: Option<String>,
}

struct ExecutorRow {
    id: String,
    pool: String,
    state: Mark,
    running: String,
    since: Ago,
    fills: Vec<Fill>,
}

struct Fill {
    name: &'static str,
    text: String,
    gauge: Gauge,
}

/// Shows them, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let executors: Page<Executor> =
        visit.get(asked(&visit, "/v1/admin/executors", &["pool"])).await?;
    let now = wall();
    let next = executors.next_cursor.map(|cursor| {
        with_query("/operators", &visit.query.query(&["pool"], &[("cursor", &cursor.to_string())]))
    });
    let part = Part { rows: executors.data.iter().map(|one| row(one, now)).collect(), next };
    if visit.fragment().is_some() {
        return page(&part);
    }
    let frame = Frame::new(&visit, Section::Operators, "Executors");
    page(&ExecutorsPage { frame, tabs: tabs(&visit), part })
}

fn row(executor: &Executor, now: Timestamp) -> ExecutorRow {
    let state = match (executor.quarantined_at, executor.draining) {
        (Some(_), _) => mark_of("quarantined"),
        (None, true) => mark_of("draining"),
        (None, false) => mark_of("active"),
    };
    let (all, free) = (&executor.capacity, &executor.free);
    let fill = |name, all: u32, free: u32, show: fn(u32) -> String| {
        let used = all.saturating_sub(free);
        let text = format!("{} of {}", show(used), show(all));
        Fill { name, text, gauge: Gauge(ratio(used.into(), all.into())) }
    };
    let mib = |mib: u32| bytes(u64::from(mib) << 20);
    let cores = |millis: u32| format!("{}.{} cores", millis / 1000, millis % 1000 / 100);
    let fills = vec![
        fill("CPU", all.cpu_millis, free.cpu_millis, cores),
        fill("Memory", all.memory_mib, free.memory_mib, mib),
        fill("Disk", all.disk_mib, free.disk_mib, mib),
    ];
    ExecutorRow {
        id: executor.id.to_string(),
        pool: executor.pool.to_string(),
        state,
        running: count(i64::try_from(executor.running).unwrap_or(i64::MAX)),
        since: Ago { at: executor.started_at, now },
        fills,
    }
}
