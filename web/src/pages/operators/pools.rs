//! `GET /operators/pools`: the pools, and whether they are paused.

use super::lever::of_pool;
use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing};
use crate::visit::{Visit, in_path};
use crate::words::mark_of;
use actix_web::HttpResponse;
use api_types::{Page, Pool};
use domain::access::OperatorScope;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let pools: Page<Pool> = visit.get("/v1/admin/pools").await?;
    let columns =
        [("Pool", false), ("State", false), ("For", true), ("Commands", true), ("", false)];
    let empty = ("No pools", "Make one with: berth admin pool set NAME");
    let mut list = Listing::new(Frame::new(&visit, Section::Operators, "Pools"), &columns, empty);
    list.tabs = tabs(&visit);
    let may = visit.may_as_operator(OperatorScope::Admin);
    list.rows = pools.data.iter().map(|pool| row(pool, may)).collect();
    list.show()
}

fn row(pool: &Pool, may: bool) -> Vec<Cell> {
    let state = match &pool.paused {
        Some(pause) => Cell::Two("paused".to_owned(), pause.reason.clone()),
        None => Cell::Mark(mark_of("active")),
    };
    let grants = &pool.granted_to;
    let whom = if grants.everyone {
        "everybody".to_owned()
    } else {
        format!("{} plans, {} tenants", grants.plans.len(), grants.tenants.len())
    };
    let network = if pool.command_network { "with network" } else { "without network" };
    let name = pool.name.to_string();
    let acts = if may { of_pool(&name, pool.paused.is_some()) } else { Vec::new() };
    let (whom, network) = (Cell::Text(whom), Cell::Text(network.to_owned()));
    let link = Cell::Link(format!("/operators/pools/{}", in_path(&name)), name);
    vec![link, state, whom, network, Cell::Links(acts)]
}
