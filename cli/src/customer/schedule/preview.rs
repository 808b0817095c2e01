//! `berth schedule preview`: when a schedule will be due, with a small calendar.

use super::super::connection::Connection;
use super::super::failure::failure;
use super::super::submit::time;
use super::calendar::calendar;
use super::show::{exact, name};
use super::timing::TimingArguments;
use crate::failure::Failure;
use crate::output::{self, Format, Table};
use chrono::{DateTime, FixedOffset, NaiveDate};
use client::{DueMark, ScheduleDue, SchedulePreview};
use domain::time::Timestamp;
use std::collections::BTreeMap;

/// A schedule that is stored, or a timing.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "berth schedule preview [OPTIONS] NAME\n       berth schedule preview [OPTIONS] WHEN...",
    after_help = "Examples:\n  berth schedule preview report --count 30\n  \
                  berth schedule preview --cron '30 2 * * *' --zone America/New_York --from 2027-03-12T00:00:00Z"
)]
pub struct PreviewArguments {
    /// Name of a schedule. Default: preview the timing flags as if stored now.
    #[arg(value_parser = name)]
    pub name: Option<String>,
    /// Number of due times, 1 to 999. Default: 10.
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=999))]
    pub count: Option<u32>,
    /// Only due times after this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<Timestamp>,
    /// The timing.
    #[command(flatten)]
    pub timing: TimingArguments,
}

/// Shows when a schedule will be due.
pub async fn run(connection: &Connection, arguments: &PreviewArguments) -> Result<(), Failure> {
    let PreviewArguments { count, from, .. } = *arguments;
    let client = &connection.client;
    let preview = match (&arguments.name, arguments.timing.is_empty()) {
        (Some(name), true) => client.preview_schedule(name, count, from).await,
        (None, false) => client.preview_timing(arguments.timing.timing(), count, from).await,
        _ => {
            return Err(Failure::usage(
                "give either the name of a schedule or a timing (--cron, --every, --daily …)",
            ));
        }
    };
    let preview = preview.map_err(|error| failure(&error))?;
    match connection.format {
        Format::Json => output::document(preview.json()),
        Format::Table => output::text(&drawn(&preview)),
    }
}

/// The calendar, then a line for each due time.
fn drawn(preview: &SchedulePreview) -> String {
    if preview.due.is_empty() {
        return "never\n".to_owned();
    }
    let mut days: BTreeMap<NaiveDate, bool> = BTreeMap::new();
    for due in &preview.due {
        if let Some(local) = local(due) {
            *days.entry(local.date_naive()).or_default() |= marked(due, DueMark::ChangeDay);
        }
    }
    let mut text = calendar(&days);
    if days.values().any(|changes| *changes) {
        text.push_str("< > the clocks change on this day\n\n");
    }
    let mut table = Table::new(["DUE", "UTC", "REMARK"]);
    for due in &preview.due {
        let shown = local(due).map_or_else(
            || due.local.clone(),
            |local| format!("{} {}", local.format("%a %Y-%m-%d %H:%M:%S"), due.abbreviation),
        );
        table.row([shown, exact(due.at), remark(due).to_owned()]);
    }
    text.push_str(&table.take());
    if preview.more {
        text.push_str("… more: use --count, up to 999\n");
    }
    text
}

fn local(due: &ScheduleDue) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(&due.local).ok()
}

fn marked(due: &ScheduleDue, mark: DueMark) -> bool {
    due.marks.iter().any(|known| *known == mark)
}

fn remark(due: &ScheduleDue) -> &'static str {
    if marked(due, DueMark::Shifted) {
        "this time of day does not exist on this day"
    } else if marked(due, DueMark::Again) {
        "second occurrence of this time of day"
    } else if marked(due, DueMark::Repeated) {
        "first occurrence of this time of day"
    } else if marked(due, DueMark::ChangeDay) {
        "the clocks change on this day"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::Extensible;

    fn due(at: &str, local: &str, abbreviation: &str, marks: &[DueMark]) -> ScheduleDue {
        ScheduleDue {
            at: at.parse().unwrap(),
            local: local.to_owned(),
            abbreviation: abbreviation.to_owned(),
            marks: marks.iter().copied().map(Extensible::Known).collect(),
        }
    }

    #[test]
    fn a_preview_has_a_calendar_and_a_line_for_each_due_time() {
        let preview = SchedulePreview {
            zone: "America/New_York".to_owned(),
            tzdb: "2025b".to_owned(),
            due: vec![
                due("2027-03-13T07:30:00Z", "2027-03-13T02:30:00-05:00", "EST", &[]),
                due(
                    "2027-03-14T07:00:00Z",
                    "2027-03-14T03:00:00-04:00",
                    "EDT",
                    &[DueMark::Shifted, DueMark::ChangeDay],
                ),
            ],
            more: true,
        };
        assert_eq!(
            drawn(&preview),
            "         March 2027\n Mo  Tu  We  Th  Fr  Sa  Su\n  1   2   3   4   5   6   7\n  8   9  10  11  12 [13]<14>\n \
             15  16  17  18  19  20  21\n 22  23  24  25  26  27  28\n 29  30  31\n\n\
             < > the clocks change on this day\n\n\
             DUE                          UTC                   REMARK\n\
             Sat 2027-03-13 02:30:00 EST  2027-03-13T07:30:00Z\n\
             Sun 2027-03-14 03:00:00 EDT  2027-03-14T07:00:00Z  this time of day does not exist on this day\n\
             … more: use --count, up to 999\n"
        );
        assert_eq!(drawn(&SchedulePreview { due: Vec::new(), ..preview }), "never\n");
    }
}
