//! `GET /operators/tenants/{id}`: a tenant and its invoices.

use super::lever::{of_invoice, of_tenant};
use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing};
use crate::visit::Visit;
use crate::words::{mark_of, money};
use actix_web::HttpResponse;
use api_types::{Invoice, Page, Tenant};
use domain::access::OperatorScope;

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/admin/tenants/{}", visit.part_in_path("id"));
    let invoices = format!("{target}/invoices");
    let (tenant, invoices) =
        futures::join!(visit.get::<Tenant>(target), visit.get::<Page<Invoice>>(invoices));
    let (tenant, invoices) = (tenant?, invoices?);
    let (id, state) = (tenant.id.to_string(), tenant.state.to_string());
    let title = tenant.name.unwrap_or_else(|| "purged".to_owned());
    let columns =
        [("Invoice", false), ("Month", true), ("State", false), ("Total", false), ("", false)];
    let empty = ("No invoices yet", "The first one is of the month in which something was used.");
    let mut list = Listing::new(Frame::new(&visit, Section::Operators, title), &columns, empty);
    list.tabs = tabs(&visit);
    let weight = tenant.weight.map(|weight| format!(", weight {weight}")).unwrap_or_default();
    list.sub = format!("{id}, {state}, plan {}{weight}", tenant.plan);
    let may = visit.may_as_operator(OperatorScope::Admin);
    if may {
        list.acts = of_tenant(&id, &state);
    }
    let row = |invoice: &Invoice| {
        let state = invoice.state.to_string();
        let acts = if may { of_invoice(&id, &invoice.number, &state) } else { Vec::new() };
        vec![
            Cell::Code(invoice.number.clone()),
            Cell::Text(invoice.month.format("%B %Y").to_string()),
            Cell::Mark(mark_of(&state)),
            Cell::Number(money(invoice.total, &invoice.currency)),
            Cell::Links(acts),
        ]
    };
    list.rows = invoices.data.iter().map(row).collect();
    list.show()
}
