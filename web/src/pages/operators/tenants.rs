//! `/operators/tenants` and `/operators/costs`: the customers, and what each used.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing, asked};
use crate::visit::Visit;
use crate::words::{Ago, count, mark_of, money, ms};
use actix_web::HttpResponse;
use api_types::{Page, Tenant, TenantCost, TenantCosts};
use runtime::clock::wall;

/// Filters of the URL.
const FILTERS: [&str; 3] = ["state", "plan", "name"];

/// Shows the tenants.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let tenants: Page<Tenant> = visit.get(asked(&visit, "/v1/admin/tenants", &FILTERS)).await?;
    let now = wall();
    let columns = [("Tenant", false), ("State", false), ("Plan", false), ("Since", true)];
    let empty = ("No tenants", "Make one with: berth admin tenant create NAME");
    let mut list = Listing::new(Frame::new(&visit, Section::Operators, "Tenants"), &columns, empty);
    list.tabs = tabs(&visit);
    let row = |tenant: &Tenant| {
        vec![
            Cell::Link(
                format!("/operators/tenants/{}", tenant.id),
                tenant.name.clone().unwrap_or_else(|| "purged".to_owned()),
            ),
            Cell::Mark(mark_of(&tenant.state.to_string())),
            Cell::Text(tenant.plan.to_string()),
            Cell::Ago(Ago { at: tenant.created_at, now }),
        ]
    };
    list.rows = tenants.data.iter().map(row).collect();
    list.paged(&visit, &FILTERS, tenants.next_cursor.map(|cursor| cursor.to_string())).show()
}

/// Shows what each used this month, or in the days of the URL.
pub(crate) async fn costs(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = asked(&visit, "/v1/admin/costs", &["from", "to", "order", "cost_book"]);
    let costs: TenantCosts = visit.get(target).await?;
    let columns = [
        ("Tenant", false),
        ("Tasks", true),
        ("Billed time", true),
        ("Price", false),
        ("Margin", true),
    ];
    let empty = (
        "Nothing was used in these days",
        "Put ?from=2030-01-01&to=2030-01-31 behind the address for others.",
    );
    let mut list =
        Listing::new(Frame::new(&visit, Section::Operators, "Costs by tenant"), &columns, empty);
    list.tabs = tabs(&visit);
    list.sub = format!("{} to {}, UTC", costs.from, costs.to);
    list.rows = costs.data.iter().map(row).collect();
    list.show()
}

fn row(cost: &TenantCost) -> Vec<Cell> {
    let of = |micros| match &cost.total.currency {
        Some(currency) => Cell::Number(money(micros, currency)),
        None => Cell::Text("no prices".to_owned()),
    };
    vec![
        Cell::Two(
            cost.name.clone().unwrap_or_else(|| "purged".to_owned()),
            cost.tenant.to_string(),
        ),
        Cell::Number(count(cost.total.tasks)),
        Cell::Number(ms(cost.total.run_ms)),
        of(cost.total.cost),
        cost.margin.map_or(Cell::Nothing, of),
    ]
}
