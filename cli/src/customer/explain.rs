//! `berth explain`.

use super::connection::Connection;
use super::failure::failure;
use super::sentences::{ahead, because, starts};
use crate::failure::Failure;
use crate::output::{self, Details, Format, age};
use client::{Explanation, Extensible};
use domain::explain::{Holder, Reason};
use domain::id::TaskId;
use domain::time::Timestamp;

/// Which task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  berth explain task_0190a6f3c1d27a3e8b1f0c2d4e5f6071")]
pub struct ExplainArguments {
    /// Id of the task.
    pub id: TaskId,
}

/// Says what a task waits for, and when it will probably start.
pub async fn run(connection: &Connection, arguments: &ExplainArguments) -> Result<(), Failure> {
    let explanation =
        connection.client.explain(arguments.id).await.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(explanation.json()),
        Format::Table => output::text(&shown(&explanation)),
    }
}

/// The decisive reason and the start in a sentence each, then all that is known.
fn shown(explanation: &Explanation) -> String {
    let at = explanation.at;
    let mut reasons = explanation.reasons.iter().map(|reason| because(reason, explanation));
    let first = [reasons.next(), starts(explanation)];
    let mut details = Details::default();
    details.row("id", explanation.id);
    details.row("state", &explanation.state);
    reasons.for_each(|also| details.row("also", also));
    for reason in &explanation.reasons {
        if let Extensible::Known(Reason::ConcurrencyKey(key)) = reason {
            key.holders.iter().for_each(|task| details.row("key held by", holder(task, at)));
        }
    }
    details.some("earliest start", explanation.eta.earliest.map(exact));
    details.some("estimated start", explanation.eta.estimate.map(exact));
    details
        .some("expires", explanation.expires_at.map(|by| format!("{} unless started", exact(by))));
    details.row("as of", exact(at));
    let first: Vec<_> = first.into_iter().flatten().collect();
    format!("{}\n\n{details}", first.join(" "))
}

fn holder(holder: &Holder, now: Timestamp) -> String {
    let since = holder.since.map(|at| format!(" for {}", age::short(now - at)));
    let ends_by = holder.ends_by.map(|at| format!(", ends {} at the latest", ahead(at, now)));
    let (id, state) = (holder.id, holder.state);
    format!("{id} {state}{}{}", since.unwrap_or_default(), ends_by.unwrap_or_default())
}

fn exact(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decisive_reason_and_the_start_come_first_and_then_all_that_is_known() {
        let explanation: Explanation = serde_json::from_str(
            r#"{"id":"task_0190a6f3c1d27a3e8b1f0c2d4e5f6071","state":"ready","at":"2030-01-31T12:00:00Z",
                "reasons":[
                    {"reason":"concurrency_key","key":"db","limit":1,"held":1,"others_before":false,"holders":[
                        {"id":"task_0190a6f3c1d27a3e8b1f0c2d4e5f6072","state":"running",
                            "since":"2030-01-31T11:59:00Z","ends_by":"2030-01-31T12:00:30Z"}]},
                    {"reason":"running_limit","held":5,"limit":5}],
                "eta":{"earliest":null,"estimate":"2030-01-31T12:00:30Z","basis":"caps"},
                "expires_at":"2030-01-31T12:10:00Z"}"#,
        )
        .unwrap();
        assert_eq!(
            shown(&explanation),
            "Its concurrency key `db` is at its limit: 1 of 1 tasks run. It starts in 30s at the latest.\n\n\
             id               task_0190a6f3c1d27a3e8b1f0c2d4e5f6071\n\
             state            ready\n\
             also             Your plan allows 5 running tasks, and 5 run.\n\
             key held by      task_0190a6f3c1d27a3e8b1f0c2d4e5f6072 running for 1m, ends in 30s at the latest\n\
             estimated start  2030-01-31T12:00:30.000Z\n\
             expires          2030-01-31T12:10:00.000Z unless started\n\
             as of            2030-01-31T12:00:00.000Z\n"
        );
    }
}
