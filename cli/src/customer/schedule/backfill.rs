//! `berth schedule backfill`.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::submit::time;
use super::show::{exact, name};
use crate::failure::Failure;
use crate::output::{self, Format};
use client::ScheduleBackfillPlan;
use client::request::ScheduleBackfill;
use domain::time::Timestamp;

/// A past range to fire.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  berth schedule backfill report --from 2027-01-01T00:00:00Z --to 2027-02-01T00:00:00Z --dry-run\n  \
                  berth schedule backfill report --from 2027-01-01T00:00:00Z --to 2027-02-01T00:00:00Z --per-second 2"
)]
pub struct BackfillArguments {
    /// Name of the schedule.
    #[arg(value_parser = name)]
    pub name: String,
    /// Start of the range, inclusive.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Timestamp,
    /// End of the range, exclusive.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Timestamp,
    /// Only show the plan.
    #[arg(long)]
    pub dry_run: bool,
    /// Tasks created per second, 0.001 to 1000. Default: 10.
    #[arg(long, value_name = "RATE")]
    pub per_second: Option<f64>,
}

/// Fires the due times of a past range that made no task.
pub async fn run(connection: &Connection, arguments: &BackfillArguments) -> Result<(), Failure> {
    let BackfillArguments { from, to, dry_run, per_second, .. } = *arguments;
    let (from, to) = (Some(from.into()), Some(to.into()));
    let range = ScheduleBackfill { from, to, dry_run: Some(dry_run), per_second };
    let plan = connection.client.backfill_schedule(&arguments.name, &range).await;
    let plan = plan.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(plan.json()),
        Format::Table => output::line(&said(&plan)),
    }
}

fn said(plan: &ScheduleBackfillPlan) -> String {
    let (will, due) = (if plan.dry_run { "would fire" } else { "will fire" }, plan.due);
    let times = if due == 1 { "due time" } else { "due times" };
    let made = format!("{due} {times} in this range, {} without a task", plan.to_fire);
    match (plan.first, plan.last) {
        (Some(first), Some(last)) => format!(
            "{made}; {will} {} per second: {} to {}",
            plan.per_second,
            exact(first),
            exact(last)
        ),
        _ => format!("{made}: nothing to do"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_be_done_is_said_in_a_sentence() {
        let plan = |to_fire, dry_run| ScheduleBackfillPlan {
            due: 31,
            to_fire,
            first: (to_fire > 0).then(|| "2027-01-01T02:30:00Z".parse().unwrap()),
            last: (to_fire > 0).then(|| "2027-01-31T02:30:00Z".parse().unwrap()),
            per_second: 10.0,
            dry_run,
        };
        assert_eq!(
            said(&plan(30, true)),
            "31 due times in this range, 30 without a task; would fire 10 per second: \
             2027-01-01T02:30:00Z to 2027-01-31T02:30:00Z"
        );
        assert!(said(&plan(30, false)).contains("will fire"));
        assert!(said(&plan(0, false)).ends_with("nothing to do"));
    }
}
