//! `berth admin usage-events`: usage for a billing provider, a line of JSON an event.

use crate::cursor_file::{store, stored};
use crate::customer::{Connection, operator_failure};
use crate::failure::Failure;
use crate::output;
use std::path::PathBuf;

/// Which events, and where to go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  berth admin usage-events > events.ndjson\n  \
                  berth admin usage-events --format stripe --cursor-file /var/lib/billing/cursor | send-to-stripe\n\n\
                  The cursor is stored when all was written, so that a run that was killed sends some events twice and leaves none out; \
                  each has the same id again.")]
pub struct UsageEventsArguments {
    /// openmeter (CloudEvents 1.0) or stripe (meter events).
    #[arg(long, default_value = "openmeter", value_parser = ["openmeter", "stripe"])]
    pub format: String,
    /// Go on behind the place that is stored in this file, and store the new one. From the beginning where there is none.
    #[arg(long, value_name = "FILE")]
    pub cursor_file: Option<PathBuf>,
    /// Events of each request, 1 to 10000.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub batch: u32,
}

/// Writes all events that there are.
pub async fn run(arguments: &UsageEventsArguments, connection: &Connection) -> Result<(), Failure> {
    let UsageEventsArguments { format, cursor_file, batch } = arguments;
    let mut place = cursor_file.as_deref().map(stored).transpose()?.flatten();
    loop {
        let events = connection.client.usage_events(format, Some(*batch), place.as_ref()).await;
        let events = events.map_err(|error| operator_failure(&error))?;
        output::bytes(&mut std::io::stdout().lock(), &events.lines)?;
        if let Some(file) = cursor_file {
            store(file, &events.next)?;
        }
        if events.lines.is_empty() {
            return Ok(());
        }
        place = Some(events.next);
    }
}
