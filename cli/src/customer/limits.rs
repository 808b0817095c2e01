//! `berth limits`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table};
use client::Limits;

/// Shows what the plan allows, and what is used of it.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let limits = connection.client.limits().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(limits.json()),
        Format::Table => output::text(&shown(&limits)),
    }
}

fn shown(limits: &Limits) -> String {
    let mut details = Details::default();
    details.some("plan", limits.plan.as_ref());
    details.row("account", &limits.state);
    details.row("submits per second", limits.submits_per_second);
    details.row("submit burst", limits.submit_burst);
    details.some("submits per hour", Some(limits.submits_per_hour).filter(|tasks| *tasks > 0));
    details.row("payload bytes", limits.payload_bytes);
    details.row("retention days", limits.retention_days);
    details.row("weight", limits.weight);
    details.some("flexible", limits.flexible.then_some("unless a task says otherwise"));
    let mut rates = Table::new(["RATE", "USED", "LIMIT", "LEFT"]);
    for rate in &limits.rates {
        let [used, limit, left] = [rate.used, rate.limit, rate.left].map(|tasks| tasks.to_string());
        rates.row([rate.name.to_string(), used, limit, left]);
    }
    let mut table = Table::new(["QUOTA", "USED", "LIMIT"]);
    for quota in &limits.quotas {
        table.row([quota.name.to_string(), quota.used.to_string(), quota.limit.to_string()]);
    }
    let mut text = format!("{details}\n{}\n{}", rates.take(), table.take());
    if !limits.warnings.is_empty() {
        let mut table = Table::new(["AT", "WARNING", "DETAIL"]);
        for warning in &limits.warnings {
            let at = warning.at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
            table.row([at, warning.kind.to_string(), warning.detail.to_string()]);
        }
        text = format!("{text}\n{}", table.take());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_shown_with_what_is_used() {
        let limits: Limits = serde_json::from_str(
            r#"{"plan":"free","state":"active","submits_per_second":10,"submit_burst":20,"submits_per_hour":0,
                "payload_bytes":65536,"payload_bytes_of":"plan","retention_days":7,"weight":1.0,"flexible":true,"new":"field",
                "rates":[{"name":"submits_per_second","limit":20,"used":3,"left":17,"whole_at":"2030-01-31T12:00:00Z"}],
                "quotas":[{"name":"backlog","limit":1000,"used":812}],
                "warnings":[{"at":"2030-01-31T12:00:00Z","kind":"quota_nearly_used","detail":{"quota":"backlog"}}]}"#,
        )
        .unwrap();
        assert_eq!(
            shown(&limits),
            "plan                free\naccount             active\nsubmits per second  10\nsubmit burst        20\n\
             payload bytes       65536\nretention days      7\nweight              1\nflexible            unless a task says otherwise\n\n\
             RATE                USED  LIMIT  LEFT\nsubmits_per_second  3     20     17\n\n\
             QUOTA    USED  LIMIT\nbacklog  812   1000\n\n\
             AT                    WARNING            DETAIL\n\
             2030-01-31T12:00:00Z  quota_nearly_used  {\"quota\":\"backlog\"}\n"
        );
    }
}
