//! `berth overview`.

use super::connection::Connection;
use super::failure::failure;
use crate::failure::Failure;
use crate::output::{self, Details, Format, Table};
use client::Overview;

/// Shows what runs, what waits, and how it goes.
pub async fn run(connection: &Connection) -> Result<(), Failure> {
    let overview = connection.client.overview().await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(overview.json()),
        Format::Table => output::text(&shown(&overview)),
    }
}

fn shown(overview: &Overview) -> String {
    let Overview { live, recent, .. } = overview;
    let mut table = Table::new(["STATE", "TASKS"]);
    for one in &live.states {
        table.row([one.state.to_string(), one.tasks.to_string()]);
    }
    let mut details = Details::default();
    let more = if live.is_complete { "" } else { " or more" };
    details.row("not finished", format_args!("{}{more}", live.tasks));
    details.some("overdue", Some(live.overdue).filter(|tasks| *tasks > 0));
    details.row(
        "finished lately",
        format_args!("{}: {} succeeded, {} failed", recent.tasks, recent.succeeded, recent.failed),
    );
    if let Some(wait) = &recent.wait {
        details.row("started in time", format_args!("{} of {}", recent.on_time, recent.started));
        let waits = format_args!("{}, {}, {} ms", wait.p50_ms, wait.p95_ms, wait.p99_ms);
        details.row("wait p50, p95, p99", waits);
    }
    for quota in &overview.nearly_used {
        details.row("nearly used", format_args!("quota {quota}; see `berth limits`"));
    }
    if live.states.is_empty() {
        details.to_string()
    } else {
        format!("{details}\n{}", table.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_live_and_how_it_went_is_shown() {
        let overview: Overview = serde_json::from_str(
            r#"{"as_of":"2030-01-31T12:00:00Z","state":"active",
                "live":{"tasks":10000,"is_complete":false,"overdue":3,"states":[{"state":"ready","tasks":9990},{"state":"running","tasks":10}]},
                "recent":{"since":"2030-01-30T12:00:00Z","tasks":7,"succeeded":5,"failed":2,"started":6,"on_time":6,
                    "wait":{"p50_ms":4,"p95_ms":9,"p99_ms":12}},
                "nearly_used":["backlog"],"warnings":[]}"#,
        )
        .unwrap();
        assert_eq!(
            shown(&overview),
            "not finished        10000 or more\noverdue             3\nfinished lately     7: 5 succeeded, 2 failed\n\
             started in time     6 of 6\nwait p50, p95, p99  4, 9, 12 ms\nnearly used         quota backlog; see `berth limits`\n\n\
             STATE    TASKS\nready    9990\nrunning  10\n"
        );
    }
}
