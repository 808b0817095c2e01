//! `berth webhook replay`: sends deliveries again, one or those of a range.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::moment::moment;
use super::deliveries::details;
use crate::failure::Failure;
use crate::output::{self, Format};
use chrono::TimeDelta;
use client::{ReplayOf, WebhookReplay};
use domain::id::{DeliveryId, WebhookName};
use domain::time::Timestamp;
use runtime::clock;

/// Where a range begins when nothing is said: deliveries are tried for three days, so that more than these are in it.
const USUAL: TimeDelta = TimeDelta::days(7);

/// Which deliveries.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth webhook replay ops delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n  berth webhook replay ops --from 2d\n  \
                  berth webhook replay ops --from 2030-01-31 --until 2030-02-01 --all\n\n\
                  Ids and bodies are those of the first time. At most 10000 deliveries a call, oldest events first."
)]
pub struct ReplayArguments {
    /// Name of the webhook.
    pub name: WebhookName,
    /// Id of one delivery. Default: those of a range that were given up.
    #[arg(conflicts_with_all = ["from", "until", "all"])]
    pub id: Option<DeliveryId>,
    /// Of events from then on: a time, a date, or an age such as 2h. Default: 7d.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub from: Option<Timestamp>,
    /// Of events before that. Default: now.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// Those that were received, too.
    #[arg(long)]
    pub all: bool,
}

impl ReplayArguments {
    fn range(&self, now: Timestamp) -> WebhookReplay {
        let only = if self.all { ReplayOf::All } else { ReplayOf::Failed };
        WebhookReplay { from: self.from.unwrap_or(now - USUAL), until: self.until, only }
    }
}

/// Sends deliveries again.
pub async fn run(connection: &Connection, arguments: &ReplayArguments) -> Result<(), Failure> {
    let (client, name) = (&connection.client, &arguments.name);
    if let Some(id) = arguments.id {
        let sent = client.replay_delivery(name, id).await.map_err(|error| failure(&error))?;
        return match connection.format {
            Format::Json => output::document(sent.json()),
            Format::Table => output::text(&details(&sent, clock::wall())),
        };
    }
    let range = arguments.range(clock::wall());
    let sent = client.replay_webhook(name, &range).await.map_err(|error| failure(&error))?;
    if connection.format == Format::Json {
        return output::document(sent.json());
    }
    output::line(&match sent.deliveries {
        1 => "One delivery is sent again.".to_owned(),
        number => format!("{number} deliveries are sent again."),
    })?;
    if sent.is_cut {
        output::remark("There may be more: run this again when these are received.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, clap::Parser)]
    struct Alone {
        #[command(flatten)]
        replay: ReplayArguments,
    }

    #[test]
    fn it_is_one_delivery_or_a_range() {
        let typed = |line: &[&str]| {
            Alone::try_parse_from(["x", "ops"].iter().chain(line)).map(|alone| alone.replay)
        };
        let id = "delivery_0190a6f3c1d27a3e8b1f0c2d4e5f6071";
        assert_eq!(typed(&[id]).unwrap().id, id.parse().ok());
        for more in [["--from", "2h"].as_slice(), &["--until", "2h"], &["--all"]] {
            assert!(typed(&[&[id], more].concat()).is_err(), "{more:?}");
        }
        let now: Timestamp = "2030-01-31T12:00:00Z".parse().unwrap();
        let usual = typed(&[]).unwrap().range(now);
        assert_eq!((usual.from, usual.only), (now - TimeDelta::days(7), ReplayOf::Failed));
        let all = typed(&["--from", "2030-01-01", "--until", "2030-01-02", "--all"]).unwrap();
        let all = all.range(now);
        assert_eq!(all.until, "2030-01-02T00:00:00Z".parse().ok());
        assert_eq!(all.only, ReplayOf::All);
    }
}
