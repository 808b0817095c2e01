//! `/webhooks/{name}/deliveries/{id}`: a delivery: what is sent, each try, and sending it again.

use super::ask::{Ask, Question};
use super::words::{came_to, delivery_path, path};
use crate::backend::Method;
use crate::fault::Fault;
use crate::frame::{Frame, Section, page};
use crate::pages::workflows::pretty::pretty;
use crate::visit::Visit;
use crate::words::{Ago, Mark, Moment, mark_of, ms};
use actix_web::HttpResponse;
use api_types::{WebhookDelivery, WebhookTry};
use askama::Template;
use domain::time::Timestamp;
use domain::webhook::DeliveryState;
use runtime::clock::wall;

#[derive(Template)]
#[template(path = "webhooks/delivery.html")]
struct DeliveryPage {
    frame: Frame,
    webhook: String,
    webhook_path: String,
    path: String,
    event_type: String,
    id: String,
    event: Option<String>,
    subject: String,
    time: Moment,
    body: Option<String>,
    part: Part,
}

/// The part that renews itself.
#[derive(Template)]
#[template(path = "webhooks/delivery_part.html")]
struct Part {
    state: Mark,
    is_over: bool,
    tries: u64,
    due: Option<Ago>,
    ended: Option<Moment>,
    log: Vec<TryRow>,
}

struct TryRow {
    at: Moment,
    tone: &'static str,
    came_to: String,
    took: String,
    answer: Option<String>,
}

fn target(visit: &Visit) -> String {
    let (name, id) = (visit.part_in_path("name"), visit.part_in_path("id"));
    format!("/v1/webhooks/{name}/deliveries/{id}")
}

/// Shows it, or the part that is asked for.
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Fault> {
    let delivery: WebhookDelivery = visit.get(target(&visit)).await?;
    let part = part(&delivery, wall());
    if visit.fragment().is_some() {
        return page(&part);
    }
    let (webhook, id) = (visit.part("name"), delivery.id.to_string());
    let title = format!("Delivery of {}", delivery.event_type);
    page(&DeliveryPage {
        frame: Frame::new(&visit, Section::Webhooks, title),
        webhook_path: path(&webhook),
        path: delivery_path(&webhook, &id),
        webhook,
        event_type: delivery.event_type,
        id,
        event: delivery.event_id,
        subject: delivery.subject,
        time: Moment(delivery.time),
        body: delivery.body.as_deref().map(pretty),
        part,
    })
}

fn part(delivery: &WebhookDelivery, now: Timestamp) -> Part {
    Part {
        state: mark_of(delivery.state.as_str()),
        is_over: delivery.state != DeliveryState::Pending,
        tries: delivery.tries,
        due: delivery.due_at.map(|at| Ago { at, now }),
        ended: delivery.ended_at.map(Moment),
        log: delivery.log.iter().rev().map(row).collect(),
    }
}

fn row(one: &WebhookTry) -> TryRow {
    let is_taken = one.error.is_none() && one.status.is_some_and(|it| (200..300).contains(&it));
    TryRow {
        at: Moment(one.at),
        tone: if is_taken { "good" } else { "bad" },
        came_to: came_to(one),
        took: ms(i64::try_from(one.ms).unwrap_or(i64::MAX)),
        answer: one.answer.clone().filter(|answer| !answer.trim().is_empty()),
    }
}

/// Asks whether it is meant.
pub(crate) async fn ask(visit: Visit) -> Result<HttpResponse, Fault> {
    let delivery: WebhookDelivery = visit.get(target(&visit)).await?;
    let says = format!(
        "The event {} of {} is sent again now, with the same id and body. One that waits for its next try does not wait.",
        delivery.event_type, delivery.subject
    );
    let (title, button) = ("Send this delivery again?", "Send it again");
    let question = Question { title, word: "one", says, button, is_danger: false };
    let back = delivery_path(&visit.part("name"), &delivery.id.to_string());
    page(&Ask::new(&visit, question, format!("{back}/replay"), back))
}

/// Sends it again.
pub(crate) async fn replay(visit: Visit) -> Result<HttpResponse, Fault> {
    let target = format!("{}/replay", target(&visit));
    let sent: WebhookDelivery = visit.act(Method::Post, target).await?;
    let to = delivery_path(&visit.part("name"), &sent.id.to_string());
    Err(Fault::to(format!("{to}?done=sent-again")))
}
