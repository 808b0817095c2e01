//! `berth events`.

use super::connection::Connection;
use super::failure::failure;
use crate::cursor_file::{store, stored};
use crate::failure::Failure;
use crate::output::{self, Format};
use chrono::SecondsFormat;
use client::{Event, EventQuery};
use runtime::clock;
use std::path::PathBuf;
use std::time::Duration;

/// Which events, and where to go on.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  berth events --follow\n  berth events --type 'berth.task.failed,berth.task.killed' --follow\n  \
                  berth events --output json --cursor-file cursor | handle-events\n\n\
                  Events of tasks are recorded from the first call on, and for 25 hours after the last. The cursor is stored when all was \
                  written, so that a run that was killed prints some events twice, with the same ids, and leaves none out."
)]
pub struct EventsArguments {
    /// Type, or the beginning of types with `*` at its end; comma-separated or repeated.
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Exact name of the task.
    #[arg(long)]
    pub name: Option<String>,
    /// Id of the task.
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Name or id of the schedule.
    #[arg(long, value_name = "NAME|ID")]
    pub schedule: Option<String>,
    /// Id of the workflow run.
    #[arg(long, value_name = "ID")]
    pub workflow_run: Option<String>,
    /// Wait for more, from now on; with a stored cursor from there.
    #[arg(long, short)]
    pub follow: bool,
    /// Go on behind the place that is stored in this file, and store the new one.
    #[arg(long, value_name = "FILE")]
    pub cursor_file: Option<PathBuf>,
}

/// Events of one request.
const BATCH: u32 = 1000;
/// Between two requests that find nothing.
const PAUSE: Duration = Duration::from_secs(1);

/// Prints the events that there are, or those that come.
pub async fn run(connection: &Connection, arguments: EventsArguments) -> Result<(), Failure> {
    let EventsArguments { types, name, task, schedule, workflow_run, follow, cursor_file } =
        arguments;
    let limit = Some(BATCH);
    let query = EventQuery { types, name, task, schedule, workflow_run, from_now: follow, limit };
    let mut place = cursor_file.as_deref().map(stored).transpose()?.flatten();
    loop {
        let page = connection.client.events(&query, place.as_ref()).await;
        let page = page.map_err(|error| failure(&error))?;
        for event in &page.events {
            output::line(&shown(event, connection.format)?)?;
        }
        let is_over = place.as_ref() == Some(&page.next);
        if let Some(file) = &cursor_file
            && !is_over
        {
            store(file, &page.next)?;
        }
        if page.events.is_empty() {
            if !follow {
                return Ok(());
            }
            clock::sleep(PAUSE).await;
        }
        place = Some(page.next);
    }
}

fn shown(event: &Event, format: Format) -> Result<String, Failure> {
    if format == Format::Json {
        return serde_json::to_string(event).map_err(|error| Failure::failed(error.to_string()));
    }
    let time = event.time.to_rfc3339_opts(SecondsFormat::Millis, true);
    let mut line = format!("{time}  {}  {}", event.event_type, event.subject);
    let text = |field: &str| event.data[field].as_str().filter(|text| !text.is_empty());
    for more in ["name", "reason"].into_iter().filter_map(text) {
        // One event, one line.
        line.push_str("  ");
        line.extend(more.chars().map(|c| if c.is_control() { ' ' } else { c }));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_is_one_line() {
        let event: Event = serde_json::from_value(json!({
            "specversion": "1.0", "id": "7-9", "source": "urn:berth:live", "type": "berth.task.failed", "subject": "task_1",
            "time": "2030-01-31T12:00:00.5Z", "datacontenttype": "application/json", "sequence": "9",
            "data": {"name": "nightly", "reason": "exit code 2\n\u{1b}[31mred", "attempt": 1}}))
        .unwrap();
        let line = shown(&event, Format::Table).unwrap();
        assert_eq!(
            line,
            "2030-01-31T12:00:00.500Z  berth.task.failed  task_1  nightly  exit code 2  [31mred"
        );
        let line = shown(&event, Format::Json).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
    }
}
