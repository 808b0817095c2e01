//! `GET /operators/plans`: the plans and what they allow.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing};
use crate::visit::Visit;
use actix_web::HttpResponse;
use api_types::Page;
use domain::access::OperatorScope;
use serde_json::Value;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let plans: Page<Value> = visit.get("/v1/admin/plans").await?;
    let columns = [
        ("Plan", false),
        ("Submits", false),
        ("Unfinished", true),
        ("Running", true),
        ("Weight", true),
        ("Prices", false),
    ];
    let empty = ("No plans", "Make one with: berth admin plan set NAME");
    let mut list = Listing::new(Frame::new(&visit, Section::Operators, "Plans"), &columns, empty);
    list.tabs = tabs(&visit);
    let edits = visit.may_as_operator(OperatorScope::Admin);
    if edits {
        list.acts = vec![("/operators/plans/new".to_owned(), "New plan")];
    }
    list.rows = plans.data.iter().map(|plan| row(plan, edits)).collect();
    list.show()
}

fn row(plan: &Value, edits: bool) -> Vec<Cell> {
    // Limits stand in the plan itself or in an object of it.
    let of = |name: &str| match (&plan[name], &plan["limits"][name]) {
        (Value::Null, Value::Null) => Cell::Nothing,
        (Value::Null, found) | (found, _) => {
            Cell::Text(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
        }
    };
    let per_second = match of("submits_per_second") {
        Cell::Text(rate) => Cell::Text(format!("{rate} a second")),
        other => other,
    };
    let prices =
        match plan["billing"]["price_book"].as_str().or_else(|| plan["price_book"].as_str()) {
            Some(book) => Cell::Text(book.to_owned()),
            None => Cell::Nothing,
        };
    let name = match of("name") {
        Cell::Text(name) if edits => Cell::Link(super::plan::path(&name), name),
        other => other,
    };
    vec![name, per_second, of("backlog"), of("running_tasks"), of("weight"), prices]
}
