//! `berth webhook list`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::show::state;
use crate::failure::Failure;
use crate::output::{self, Format, Table, age};
use client::Webhook;
use domain::time::Timestamp;
use runtime::clock;

const COLUMNS: [&str; 5] = ["NAME", "STATE", "EVENTS", "FAILING", "URL"];

/// Shows all webhooks.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let webhooks = connection.client.webhooks().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(webhooks.json()),
        Format::Table => {
            let (mut table, now) = (Table::new(COLUMNS), clock::wall());
            webhooks.data.iter().for_each(|webhook| table.row(row(webhook, now)));
            output::text(&table.take())
        }
    }
}

fn row(webhook: &Webhook, now: Timestamp) -> [String; 5] {
    let events =
        if webhook.events.is_empty() { "all".to_owned() } else { webhook.events.join(",") };
    let failing = webhook.failing_since.map(|since| age::ago(since, now));
    let tries = if webhook.failures == 1 { "try" } else { "tries" };
    let failing = failing.map(|since| format!("{} {tries}, {since}", webhook.failures));
    [
        webhook.name.to_string(),
        state(webhook).to_owned(),
        events,
        failing.unwrap_or_else(|| "no".to_owned()),
        webhook.url.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::show::tests::webhook;
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn a_row_says_what_is_sent_and_since_when_it_fails() {
        let mut webhook = webhook();
        let now = webhook.created_at + TimeDelta::hours(3);
        assert_eq!(row(&webhook, now), ["ops", "active", "all", "no", "https://a.example/x"]);
        webhook.events = vec!["berth.task.failed".into(), "berth.cap.*".into()];
        (webhook.failures, webhook.failing_since) = (4, Some(now - TimeDelta::minutes(5)));
        webhook.paused = true;
        let wanted = ["paused", "berth.task.failed,berth.cap.*", "4 tries, 5m ago"];
        assert_eq!(row(&webhook, now)[1..4], wanted);
    }
}
