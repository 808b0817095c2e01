//! `berth signal`: what nodes of workflows wait for that comes from outside.

use super::connection::Connection;
use super::failure::failure;
use super::schedule::exact;
use super::submit::parsed_json;
use crate::failure::Failure;
use crate::output::{self, Format, age, cell};
use client::Signal;
use client::request::NewSignal;
use domain::time::{Timestamp, parse_duration};
use domain::workflow::{MAX_SIGNAL_KEY, is_signal_key};
use runtime::clock;
use serde_json::Value;
use std::time::Duration;

/// What to send.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth signal order-7 --payload '{\"paid\": true}'\n  berth signal files-are-here --keep 7d\n\n\
                  Nodes that wait for the key succeed and return the payload, and so do nodes that begin to wait until the signal\n\
                  expires. A signal with the same key takes the place of an earlier one."
)]
pub struct SignalArguments {
    /// Key that nodes wait for.
    #[arg(value_parser = key)]
    pub key: String,
    /// Payload as JSON, which the nodes return. Default: null.
    #[arg(long, value_name = "JSON", value_parser = parsed_json)]
    pub payload: Option<Value>,
    /// For how long nodes find it that begin to wait later, up to 30d. Default: 24h.
    #[arg(long, value_name = "DURATION", value_parser = kept)]
    pub keep: Option<Duration>,
}

/// Sends a signal.
pub async fn run(connection: &Connection, arguments: &SignalArguments) -> Result<(), Failure> {
    let signal =
        NewSignal { payload: arguments.payload.clone(), keep: arguments.keep.map(Into::into) };
    let sent = connection.client.send_signal(&arguments.key, &signal).await;
    let sent = sent.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(sent.json()),
        Format::Table => output::line(&said(&sent, clock::wall())),
    }
}

fn said(Signal { key, nodes, expires_at }: &Signal, now: Timestamp) -> String {
    let nodes = match nodes {
        0 => "no node waited".to_owned(),
        1 => "1 node goes on".to_owned(),
        nodes => format!("{nodes} nodes go on"),
    };
    let until = format!("{} ({})", exact(*expires_at), age::ago(*expires_at, now));
    format!("{} sent: {nodes}; kept until {until}", cell::plain(key))
}

fn key(text: &str) -> Result<String, String> {
    if is_signal_key(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "expected 1 to {MAX_SIGNAL_KEY} characters without control characters, and not `.` or `..`"
    ))
}

/// As durations are written everywhere, and days, which only people use.
fn kept(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_secs(u64::from(days) * 24 * 3600)),
        None => parse_duration(text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_says_who_goes_on_and_until_when_it_is_kept() {
        let now = "2030-01-31T12:00:00Z".parse().unwrap();
        let sent = |nodes| {
            let expires_at = "2030-02-01T12:00:00Z".parse().unwrap();
            said(&Signal { key: "k".to_owned(), nodes, expires_at }, now)
        };
        assert_eq!(sent(1), "k sent: 1 node goes on; kept until 2030-02-01T12:00:00Z (in 1d)");
        assert!(sent(0).contains("no node waited") && sent(2).contains("2 nodes go on"));
    }

    #[test]
    fn a_key_fits_and_a_time_may_have_days() {
        assert!(key("order 7/a").is_ok() && key("").is_err() && key("..").is_err());
        assert_eq!(kept("2d"), Ok(Duration::from_secs(172_800)));
        assert_eq!(kept("1h30m"), Ok(Duration::from_secs(5400)));
        assert!(kept("soon").is_err() && kept("-1d").is_err());
    }
}
