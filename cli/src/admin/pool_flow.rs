//! `berth admin pool flow`: where a pool's tasks are, and what each tenant that waits gets of it.

use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table};
use client::{PoolFlow, PoolShare};
use domain::id::PoolName;

const COLUMNS: [&str; 8] =
    ["TENANT", "WEIGHT", "ENTITLED", "USED", "RUNNING", "TASKS/S", "BEFORE IT", "IN TIME"];

/// Shows it.
pub async fn run(connection: &Connection, name: &PoolName) -> Result<(), Failure> {
    let flow = connection.client.pool_flow(name).await;
    let flow = flow.map_err(|error| operator_failure(&error))?;
    match connection.format {
        Format::Json => output::document(flow.json()),
        Format::Table => output::text(&shown(&flow)),
    }
}

fn shown(flow: &PoolFlow) -> String {
    let mut details = Details::default();
    for hop in &flow.hops {
        let late = match (hop.state.as_str(), hop.late) {
            (_, 0) => String::new(),
            ("running", late) => format!(", {late} started late"),
            (_, late) => format!(", {late} late"),
        };
        let name = match hop.state.as_str() {
            "ready" => "wait for dispatch",
            "queued" => "dispatched",
            _ => "running",
        };
        details.row(name, format_args!("{}{late}", hop.tasks));
    }
    if !flow.is_complete {
        details.row("counted", "10000 waiting tasks; more may wait");
    }
    match &flow.dispatch {
        Some(last) => {
            details.row("last dispatch", last.stopped.replace('_', " "));
            let (free, rate) = (last.free_slots, last.slots_per_second);
            details.row("slots", format_args!("{free} free, {rate:.1} become free a second"));
        }
        None => details.row("last dispatch", "none in the last 15 s"),
    }
    if flow.shares.is_empty() {
        return format!("{details}\nNo tenant waits.\n");
    }
    let mut table = Table::new(COLUMNS);
    flow.shares.iter().for_each(|share| table.row(row(share)));
    format!("{details}\n{}", table.take())
}

fn row(share: &PoolShare) -> [String; 8] {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let before = if share.at_limit { "at its limit".to_owned() } else { share.before.to_string() };
    [
        share.name.clone().unwrap_or_else(|| share.tenant.to_string()),
        share.weight.to_string(),
        percent(share.entitled),
        percent(share.used),
        share.running.to_string(),
        format!("{:.1}", share.tasks_per_second),
        before,
        format!("{} of {}", share.on_time, share.finished),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_and_shares_are_shown() {
        let flow: PoolFlow = serde_json::from_str(
            r#"{"pool":"default","as_of":"2030-01-31T12:00:00Z","is_complete":false,
                "hops":[{"state":"ready","tasks":9990,"late":3,"first_deadline":"2030-01-31T11:59:00Z"},
                    {"state":"running","tasks":8,"late":1,"first_deadline":null}],
                "dispatch":{"stopped":"room_used","slots_per_second":2.5,"free_slots":0,"at":"2030-01-31T12:00:00Z"},
                "shares":[{"tenant":"tenant_0190a6f3c1d27a3e8b1f0c2d4e5f6071","name":"acme","weight":2.0,"entitled":0.5,"used":0.25,
                    "running":4,"tasks_per_second":1.5,"ahead":0.0,"before":1,"at_limit":false,"finished":10,"on_time":9}]}"#,
        )
        .unwrap();
        let wanted = "wait for dispatch  9990, 3 late\nrunning            8, 1 started late\ncounted            10000 waiting \
                      tasks; more may wait\nlast dispatch      room used\nslots              0 free, 2.5 become free a second\n\n\
                      TENANT  WEIGHT  ENTITLED  USED    RUNNING  TASKS/S  BEFORE IT  IN TIME\n\
                      acme    2       50.0 %    25.0 %  4        1.5      1          9 of 10\n";
        assert_eq!(shown(&flow), wanted);
    }
}
