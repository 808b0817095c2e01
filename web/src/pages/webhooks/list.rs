//! `GET /webhooks`: all webhooks and how they do.

use super::words::{events, path, state};
use crate::fault::Fault;
use crate::frame::{Frame, Section};
use crate::listing::{Cell, Listing};
use crate::visit::Visit;
use crate::words::{Ago, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Webhook};
use domain::time::Timestamp;
use runtime::clock::wall;

/// Shows them.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let webhooks: Page<Webhook> = visit.get("/v1/webhooks").await?;
    let columns = [
        ("Webhook", false),
        ("State", false),
        ("Failing since", true),
        ("Events", true),
        ("URL", true),
    ];
    let empty = ("No webhooks yet", "Make one here, or with: berth webhook set NAME --url URL");
    let frame = Frame::new(&visit, Section::Webhooks, "Webhooks");
    let mut list = Listing::new(frame, &columns, empty);
    list.sub = "Events of tasks, schedules, quotas and caps, sent to your receivers.".to_owned();
    list.acts = vec![("/webhooks/new".to_owned(), "New webhook")];
    let now = wall();
    list.rows = webhooks.data.iter().map(|webhook| row(webhook, now)).collect();
    list.show()
}

fn row(webhook: &Webhook, now: Timestamp) -> Vec<Cell> {
    let name = webhook.name.to_string();
    vec![
        Cell::Link(path(&name), name),
        Cell::Mark(mark_of(state(webhook))),
        webhook
            .failing_since
            .map_or_else(|| Cell::Text("not failing".to_owned()), |at| Cell::Ago(Ago { at, now })),
        Cell::Text(events(webhook)),
        Cell::Text(webhook.url.clone()),
    ]
}
