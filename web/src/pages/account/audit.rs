//! `GET /account/audit`: who did what.

use super::tabs::tabs;
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing, asked};
use crate::visit::Visit;
use crate::words::Moment;
use actix_web::HttpResponse;
use api_types::{AuditEntry, Page};

/// Filters of the URL.
const FILTERS: [&str; 4] = ["actor", "action", "from", "to"];

/// Shows it.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let entries: Page<AuditEntry> = visit.get(asked(&visit, "/v1/audit", &FILTERS)).await?;
    let columns = [("When", false), ("Who", true), ("What", false), ("To what", false)];
    let empty = ("Nothing was recorded", "What people and keys change is listed here.");
    let frame = Frame::new(&visit, Section::Account, "Audit log");
    let mut list = Listing::new(frame, &columns, empty);
    list.tabs = tabs(&visit);
    list.rows = entries.data.iter().map(row).collect();
    list.paged(&visit, &FILTERS, entries.next_cursor.map(|cursor| cursor.to_string())).show()
}

fn row(entry: &AuditEntry) -> Vec<Cell> {
    let some = |text: Option<String>| text.unwrap_or_default();
    vec![
        Cell::At(Moment(entry.at)),
        Cell::Two(
            entry.actor.kind.to_string(),
            some(entry.actor.id.as_ref().map(ToString::to_string)),
        ),
        Cell::Code(entry.action.to_string()),
        Cell::Two(
            entry.target.kind.to_string(),
            some(entry.target.id.as_ref().map(ToString::to_string)),
        ),
    ]
}
