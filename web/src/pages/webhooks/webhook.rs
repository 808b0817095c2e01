//! `GET /webhooks/{name}`: a webhook, and the log of its deliveries.

use super::lever::{Lever, of};
use super::words::{came_to, delivery_path, events, path, state};
use crate::fault::Fault;
use crate::form::with_query;
use crate::frame::{Frame, Section, page};
use crate::listing::asked;
use crate::visit::Visit;
use crate::words::{Ago, Mark, Moment, mark_of};
use actix_web::HttpResponse;
use api_types::{Page, Webhook, WebhookDelivery};
use askama::Template;
use domain::time::Timestamp;
use runtime::clock::wall;

/// Filters of the URL.
const FILTERS: [&str; 2] = ["state", "type"];
/// States of a delivery.
const STATES: [&str; 3] = ["pending", "delivered", "failed"];

#[derive(Template)]
#[template(path = "webhooks/webhook.html")]
struct WebhookPage {
    frame: Frame,
    name: String,
    path: String,
    state: Mark,
    url: String,
    levers: Vec<Lever>,
    disabled: Option<(Moment, String)>,
    failing: Option<(u64, Moment)>,
    facts: Vec<(&'static str, String)>,
    old_secret_until: Option<Moment>,
    payload: Option<String>,
    states: [(&'static str, bool); 3],
    event_type: String,
    part: Part,
    live: Option<String>,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "webhooks/deliveries_part.html")]
struct Part {
    rows: Vec<DeliveryRow>,
    is_filtered: bool,
    first: Option<String>,
    next: Option<String>,
}

struct DeliveryRow {
    href: String,
    event_type: String,
    subject: String,
    state: Mark,
    time: Ago,
    tries: u64,
    last: String,
    due: Option<Ago>,
}

/// Shows it, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("/v1/webhooks/{}", visit.part_in_path("name"));
    let target_of_log = asked(&visit, &format!("{target}/deliveries"), &FILTERS);
    let deliveries: Page<WebhookDelivery> = visit.get(target_of_log).await?;
    let (name, now) = (visit.part("name"), wall());
    let to = |more: &[(&str, &str)]| with_query(&path(&name), &visit.query.query(&FILTERS, more));
    let cursor = visit.query.get("cursor");
    let part = Part {
        rows: deliveries.data.iter().map(|one| row(&name, one, now)).collect(),
        is_filtered: FILTERS.iter().any(|name| visit.query.has(name)),
        first: cursor.map(|_| to(&[])),
        next: deliveries.next_cursor.map(|next| to(&[("cursor", &next.to_string())])),
    };
    if visit.fragment().is_some() {
        return page(&part);
    }
    let webhook: Webhook = visit.get(target).await?;
    let chosen = visit.query.text("state");
    page(&WebhookPage {
        frame: Frame::new(&visit, Section::Webhooks, format!("Webhook {name}")),
        path: path(&name),
        state: mark_of(state(&webhook)),
        url: webhook.url.clone(),
        levers: of(state(&webhook)),
        disabled: webhook
            .disabled_at
            .map(|at| (Moment(at), webhook.disabled_reason.clone().unwrap_or_default())),
        failing: webhook.failing_since.map(|at| (webhook.failures, Moment(at))),
        facts: facts(&webhook),
        old_secret_until: webhook.old_secret_until.filter(|until| *until > now).map(Moment),
        payload: webhook.payload.as_ref().map(serde_json::to_string_pretty).transpose()?,
        states: STATES.map(|word| (word, word == chosen)),
        event_type: visit.query.text("type").to_owned(),
        live: cursor.is_none().then(|| to(&[("fragment", "list")])),
        name,
        part,
    })
}

fn row(webhook: &str, delivery: &WebhookDelivery, now: Timestamp) -> DeliveryRow {
    DeliveryRow {
        href: delivery_path(webhook, &delivery.id.to_string()),
        event_type: delivery.event_type.clone(),
        subject: delivery.subject.clone(),
        state: mark_of(delivery.state.as_str()),
        time: Ago { at: delivery.time, now },
        tries: delivery.tries,
        last: delivery.log.last().map_or_else(|| "not tried yet".to_owned(), came_to),
        due: delivery.due_at.filter(|due| *due > now).map(|at| Ago { at, now }),
    }
}

/// What it is, without values of headers, where keys may be.
fn facts(webhook: &Webhook) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Events", events(webhook))];
    let mut some = |label, value: Option<String>| facts.extend(value.map(|value| (label, value)));
    some("Only of tasks named", webhook.task_name.clone());
    let labels: Vec<String> =
        webhook.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    some("Only of tasks with the labels", (!labels.is_empty()).then(|| labels.join(", ")));
    some("Only of the schedule", webhook.schedule.clone());
    some("Only of the workflow", webhook.workflow.clone());
    let headers: Vec<&str> = webhook.headers.keys().map(String::as_str).collect();
    some("Headers", (!headers.is_empty()).then(|| headers.join(", ")));
    let order = if webhook.ordered { "each subject's events in order" } else { "in any order" };
    some("Sent", Some(order.to_owned()));
    some("Version", Some(webhook.version.to_string()));
    facts
}
