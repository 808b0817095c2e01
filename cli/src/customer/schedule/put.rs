//! `berth schedule put`.
//!
//! The same again changes nothing, so that a script may put what it wants at each start.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::submit::read;
use super::super::task_arguments::{FIELDS as TASK_FIELDS, TaskArguments};
use super::show::{changed, name};
use super::timing::{FIELDS, TimingArguments, WHEN, word};
use crate::failure::Failure;
use client::NewSchedule;
use domain::schedule::{Misfire, Overlap};
use domain::time::parse_duration;

/// A schedule to store.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth schedule put NAME [WHEN]... [OPTIONS] -- COMMAND [ARGS]...\n       \
                      berth schedule put NAME [WHEN]... [OPTIONS] --http URL\n       \
                      berth schedule put NAME --json FILE",
    after_help = "Examples:\n  berth schedule put report --cron '30 2 * * mon-fri' --zone Europe/Berlin -- bash -c 'echo hi'\n  \
                  berth schedule put poll --every 90s --overlap allow --http https://example.com/poll\n  \
                  berth schedule put month-end --monthly last@23:00 --misfire catch_up:3:72h -- /opt/close-books\n  \
                  berth schedule put report --json report.json      # as the API takes it",
    group = clap::ArgGroup::new("when").args(WHEN).args(["json"]).required(true).multiple(true),
    group = clap::ArgGroup::new("what").args(["command", "http", "noop", "json"]).required(true)
)]
pub struct PutArguments {
    /// Its name: 1 to 100 of a-z A-Z 0-9 _ . -
    #[arg(value_name = "NAME", value_parser = name)]
    pub schedule: String,
    /// When it is due.
    #[command(flatten)]
    pub timing: TimingArguments,
    /// While an earlier task of it has not ended: skip (the default), buffer_one, buffer_all, cancel_other or allow.
    #[arg(long, help_heading = "Policies")]
    pub overlap: Option<Overlap>,
    /// What becomes of overdue times: fire_now, fire_next_soon, skip, catch_up:COUNT:MAX_AGE or catch_up:COUNT:MAX_AGE:PER_SECOND.
    #[arg(long, value_parser = misfire, help_heading = "Policies")]
    pub misfire: Option<Misfire>,
    /// Pause it when so many of its tasks in a row did not succeed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Policies")]
    pub pause_after_failures: Option<u32>,
    /// Paused from the start, or not: `--paused false` resumes it.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true", help_heading = "Policies")]
    pub paused: Option<bool>,
    /// Only where it is in this version.
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(i64).range(1..), help_heading = "How it is stored")]
    pub if_version: Option<i64>,
    /// Store the schedule in this file as the API takes it; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = WHEN, conflicts_with_all = FIELDS, conflicts_with_all = TASK_FIELDS,
        conflicts_with_all = ["overlap", "misfire", "pause_after_failures", "paused"], help_heading = "How it is stored")]
    pub json: Option<String>,
    /// What each fire makes.
    #[command(flatten, next_help_heading = "Task")]
    pub task: TaskArguments,
}

/// Stores a schedule.
pub async fn run(connection: &Connection, arguments: PutArguments) -> Result<(), Failure> {
    let (client, version) = (&connection.client, arguments.if_version);
    let stored = match &arguments.json {
        Some(file) => client.put_schedule_json(&arguments.schedule, read(file)?, version).await,
        None => {
            let schedule = NewSchedule {
                overlap: arguments.overlap,
                misfire: arguments.misfire,
                pause_after_failures: arguments.pause_after_failures,
                paused: arguments.paused,
                ..NewSchedule::new(arguments.timing.timing(), arguments.task.into_task())
            };
            client.put_schedule(&arguments.schedule, &schedule, version).await
        }
    };
    changed(connection.format, &stored.map_err(|error| failure(&error))?)
}

/// A word, or `catch_up` with its numbers.
fn misfire(text: &str) -> Result<Misfire, String> {
    const FORM: &str = "expected fire_now, fire_next_soon, skip, or catch_up:COUNT:MAX_AGE[:PER_SECOND] such as catch_up:10:24h";
    let Some(numbers) = text.strip_prefix("catch_up:") else {
        return match text {
            "fire_now" | "fire_next_soon" | "skip" => word(text),
            _ => Err(FORM.to_owned()),
        };
    };
    let mut parts = numbers.split(':');
    let read = |text: &str| text.parse::<u32>().map_err(|_| FORM.to_owned());
    let count = read(parts.next().unwrap_or_default())?;
    let max_age = parse_duration(parts.next().unwrap_or_default()).map_err(|_| FORM.to_owned())?;
    let per_second = parts.next().map(read).transpose()?;
    let misfire = Misfire::CatchUp { count, max_age, per_second };
    if parts.next().is_none() && misfire.is_valid() { Ok(misfire) } else { Err(FORM.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_misfire_policy_is_a_word_or_has_its_numbers() {
        assert_eq!(misfire("fire_now"), Ok(Misfire::FireNow));
        assert_eq!(misfire("skip"), Ok(Misfire::Skip));
        let max_age = Duration::from_secs(86_400);
        let catch_up = |per_second| Ok(Misfire::CatchUp { count: 10, max_age, per_second });
        assert_eq!(misfire("catch_up:10:24h"), catch_up(None));
        assert_eq!(misfire("catch_up:10:24h:2"), catch_up(Some(2)));
        for bad in [
            "",
            "catch_up",
            "catch_up:10",
            "catch_up:0:24h",
            "catch_up:10:24h:0",
            "catch_up:1:1h:1:1",
            "later",
        ] {
            assert!(misfire(bad).is_err(), "{bad}");
        }
    }
}
