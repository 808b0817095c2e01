//! `berth webhook test`: sends a test and prints what the receiver answered.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::deliveries::came_to;
use super::show::state;
use crate::failure::Failure;
use crate::output::{self, Format, cell};
use client::{ApiResponse, WebhookDelivery, WebhookTry};
use domain::id::WebhookName;
use domain::webhook::DeliveryState;
use runtime::clock;
use std::time::Duration;

/// A try ends after 15 seconds, and begins within a few.
const MOST: Duration = Duration::from_secs(20);
/// Between two reads of the delivery.
const PAUSE: Duration = Duration::from_millis(400);

/// Which webhook.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth webhook test ops\n  berth webhook test ops --no-wait\n\n\
                  Waits up to 20 s for the first try. Exit code 1: the receiver did not take it, or there was no try."
)]
pub struct TestArguments {
    /// Name.
    pub name: WebhookName,
    /// Print the delivery's id and do not wait for the receiver's answer.
    #[arg(long)]
    pub no_wait: bool,
}

/// Sends a test.
pub async fn run(connection: &Connection, arguments: &TestArguments) -> Result<(), Failure> {
    let name = &arguments.name;
    let sent = connection.client.test_webhook(name).await.map_err(|error| failure(&error))?;
    if arguments.no_wait {
        return match connection.format {
            Format::Json => output::document(sent.json()),
            Format::Table => output::line(&sent.id.to_string()),
        };
    }
    let delivery = tried(connection, name, sent).await?;
    if connection.format == Format::Json {
        output::document(delivery.json())?;
    }
    let Some(last) = delivery.log.last() else {
        let webhook = connection.client.webhook(name).await.map_err(|error| failure(&error))?;
        let why = match state(&webhook) {
            "active" => format!("see `berth webhook delivery {name} {}` later", delivery.id),
            state => format!("the webhook is {state}"),
        };
        return Err(Failure::failed(format!("the test was not sent within 20 s: {why}")));
    };
    let answered = answered(last);
    match (delivery.state, connection.format) {
        (DeliveryState::Delivered, Format::Json) => Ok(()),
        (DeliveryState::Delivered, Format::Table) => {
            output::line(&format!("Webhook `{name}` works: {answered}"))
        }
        (DeliveryState::Pending | DeliveryState::Failed, _) => {
            Err(Failure::failed(format!("the receiver did not take the test: {answered}")))
        }
    }
}

/// The delivery once it was tried, or as it is when the time is over.
async fn tried(
    connection: &Connection,
    name: &WebhookName,
    mut delivery: ApiResponse<WebhookDelivery>,
) -> Result<ApiResponse<WebhookDelivery>, Failure> {
    let until = clock::monotonic() + MOST;
    while delivery.log.is_empty() && clock::monotonic() < until {
        clock::sleep(PAUSE).await;
        let read = connection.client.webhook_delivery(name, delivery.id).await;
        delivery = read.map_err(|error| failure(&error))?;
    }
    Ok(delivery)
}

/// What the receiver answered, in one line.
fn answered(last: &WebhookTry) -> String {
    let mut text = format!("{} after {} ms", came_to(last), last.ms);
    if let Some(answer) = last.answer.as_deref().filter(|answer| !answer.trim().is_empty()) {
        text.push_str(": ");
        text.push_str(&cell::fitted(answer.trim(), 200));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_line_of_a_status_or_an_error() {
        let at = "2030-01-31T12:00:00Z".parse().unwrap();
        let answer = Some("ok\n\u{1b}[31m".to_owned());
        let mut last = WebhookTry { at, ms: 35, status: Some(200), error: None, answer };
        assert_eq!(answered(&last), "status 200 after 35 ms: ok\\n\\u{1b}[31m");
        (last.status, last.answer) = (None, None);
        last.error = Some("connection refused".to_owned());
        assert_eq!(answered(&last), "connection refused after 35 ms");
    }
}
