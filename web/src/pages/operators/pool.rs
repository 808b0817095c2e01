//! `GET /operators/pools/{name}`: where a pool's tasks are, and what each tenant that waits gets of it.

use super::lever::of_pool;
use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::listing::Tab;
use crate::svg::Gauge;
use crate::visit::Visit;
use crate::words::{Ago, count};
use actix_web::HttpResponse;
use api_types::{Pool, PoolDispatch, PoolFlow, PoolHop, PoolShare};
use askama::Template;
use domain::access::OperatorScope;
use domain::time::Timestamp;

#[derive(Template)]
#[template(path = "operators/pool.html")]
struct PoolPage {
    frame: Frame,
    tabs: Vec<Tab>,
    name: String,
    acts: Vec<(String, &'static str)>,
    part: Part,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "operators/pool_part.html")]
struct Part {
    here: String,
    paused: Option<String>,
    hops: Vec<HopRow>,
    is_complete: bool,
    dispatch: String,
    shares: Vec<ShareRow>,
}

struct HopRow {
    name: &'static str,
    tasks: String,
    late: Option<String>,
    first: Option<Ago>,
}

struct ShareRow {
    id: String,
    name: String,
    weight: String,
    entitled: (String, Gauge),
    used: (String, Gauge),
    running: String,
    rate: String,
    turn: String,
    in_time: String,
}

/// Shows it, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let name = visit.part_in_path("name");
    let pool: Pool = visit.get(format!("/v1/admin/pools/{name}")).await?;
    let flow: PoolFlow = visit.get(format!("/v1/admin/pools/{name}/flow")).await?;
    let part = Part {
        here: format!("/operators/pools/{name}"),
        paused: pool.paused.as_ref().map(|pause| pause.reason.clone()),
        hops: flow.hops.iter().map(|hop| hop_row(hop, flow.as_of)).collect(),
        is_complete: flow.is_complete,
        dispatch: dispatch(flow.dispatch.as_ref()),
        shares: flow.shares.iter().map(share_row).collect(),
    };
    if visit.fragment().is_some() {
        return page(&part);
    }
    let may = visit.may_as_operator(OperatorScope::Admin);
    let name = pool.name.to_string();
    let acts = if may { of_pool(&name, pool.paused.is_some()) } else { Vec::new() };
    let frame = Frame::new(&visit, Section::Operators, format!("Pool {name}"));
    page(&PoolPage { frame, tabs: tabs(&visit), name, acts, part })
}

fn number(number: u64) -> String {
    count(i64::try_from(number).unwrap_or(i64::MAX))
}

fn hop_row(hop: &PoolHop, now: Timestamp) -> HopRow {
    let (name, late) = match hop.state.as_str() {
        "ready" => ("Wait for dispatch", "late"),
        "queued" => ("Dispatched, wait for an executor", "late"),
        _ => ("Running", "started late"),
    };
    HopRow {
        name,
        tasks: number(hop.tasks),
        late: (hop.late > 0).then(|| format!("{} {late}", number(hop.late))),
        first: hop.first_deadline.filter(|_| hop.state != "running").map(|at| Ago { at, now }),
    }
}

/// What the last dispatch did, in a sentence.
fn dispatch(dispatch: Option<&PoolDispatch>) -> String {
    let Some(last) = dispatch else {
        return "No dispatch in the last 15 seconds: nothing waits, or no scheduler leads."
            .to_owned();
    };
    let why = match last.stopped.as_str() {
        "nothing_waits" => "everything that may start was dispatched",
        "no_room" => "no executor has room",
        "room_used" => "all room is used",
        "batch_full" => "one dispatch takes no more at once",
        "sizes_lack" => "no executor has room for tasks of these sizes",
        "limits" => "limits of running tasks hold back all that wait",
        "paused" => "the pool is paused",
        other => other,
    };
    format!(
        "The last dispatch ended because {why}; {} slots are free, and {:.1} become free a second.",
        number(last.free_slots),
        last.slots_per_second
    )
}

fn share_row(share: &PoolShare) -> ShareRow {
    let part = |part: f64| {
        // A share is at most the whole: neither negative nor large.
        let percent = (part.clamp(0.0, 1.0) * 100.0).round() as u64;
        (format!("{percent} %"), Gauge(percent))
    };
    let turn = match (share.at_limit, share.before) {
        (true, _) => "at its limit".to_owned(),
        (false, 0) => "next".to_owned(),
        (false, before) => format!("after {before}"),
    };
    let in_time = match share.finished {
        0 => "none finished".to_owned(),
        finished => format!("{} of {finished}", share.on_time),
    };
    ShareRow {
        id: share.tenant.to_string(),
        name: share.name.clone().unwrap_or_else(|| share.tenant.to_string()),
        weight: share.weight.to_string(),
        entitled: part(share.entitled),
        used: part(share.used),
        running: number(share.running),
        rate: format!("{:.1}/s", share.tasks_per_second),
        turn,
        in_time,
    }
}
