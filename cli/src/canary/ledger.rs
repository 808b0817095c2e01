//! What was seen, by hour, until it is reported.

use crate::customer::operator_failure;
use crate::failure::Failure;
use chrono::{DurationRound, TimeDelta};
use client::request::CanaryReport;
use client::{Client, ClientError};
use domain::canary::Seen;
use domain::id::CanaryName;
use domain::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Hours that are kept for a service that takes no report: a day less than it shows, as it refuses older ones.
const MOST_HOURS: usize = 89 * 24;

/// What was seen since the start.
#[derive(Debug)]
pub(super) struct Ledger {
    name: CanaryName,
    start: Uuid,
    hours: BTreeMap<Timestamp, Hour>,
    failing_since: Option<Timestamp>,
    has_judged: bool,
}

#[derive(Debug, Default)]
struct Hour {
    seen: Seen,
    is_reported: bool,
}

impl Ledger {
    pub(super) fn new(name: CanaryName) -> Self {
        let (hours, start) = (BTreeMap::new(), Uuid::new_v4());
        Self { name, start, hours, failing_since: None, has_judged: false }
    }

    /// Counts in the hour of `at`.
    pub(super) fn count(&mut self, at: Timestamp, count: impl FnOnce(&mut Seen)) {
        let hour = at.duration_trunc(TimeDelta::hours(1)).unwrap_or(at);
        let hour = self.hours.entry(hour).or_default();
        count(&mut hour.seen);
        hour.is_reported = false;
        if self.hours.len() > MOST_HOURS {
            self.hours.pop_first();
        }
    }

    /// Takes in how a round went; a line where that is news.
    pub(super) fn judge(&mut self, at: Timestamp, faults: &[String]) -> Option<String> {
        let began = !std::mem::replace(&mut self.has_judged, true);
        // Also the latest hour says how it does now.
        self.count(at, |_| ());
        let stamp = at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
        if !faults.is_empty() {
            self.failing_since.get_or_insert(at);
            return Some(format!("{stamp} {}", faults.join(" ")));
        }
        let since = self.failing_since.take();
        since
            .map(|since| {
                format!("{stamp} All is well again, after {} s.", (at - since).num_seconds())
            })
            .or_else(|| began.then(|| format!("{stamp} All is well.")))
    }

    /// Reports what has not been, oldest first; keeps what cannot be reported now.
    ///
    /// Fails only where the canary itself is wrong: its key, or its report.
    pub(super) async fn report(&mut self, operator: &Client) -> Result<(), Failure> {
        let latest = self.hours.keys().next_back().copied();
        for (at, hour) in self.hours.iter_mut().filter(|(_, hour)| !hour.is_reported) {
            let failing_since = self.failing_since;
            let report = report_of(self.start, *at, &hour.seen, failing_since);
            match operator.report_canary(&self.name, &report).await {
                Ok(_) => hour.is_reported = true,
                Err(error) if is_refused(&error) => return Err(operator_failure(&error)),
                // The next round tries again.
                Err(_) => break,
            }
        }
        // A fire of the hour before may still be counted.
        let before = latest.map(|latest| latest - TimeDelta::hours(2));
        self.hours.retain(|at, hour| !hour.is_reported || Some(*at) >= before);
        Ok(())
    }
}

fn is_refused(error: &ClientError) -> bool {
    super::round::is_own(error)
}

fn report_of(
    start: Uuid,
    hour: Timestamp,
    seen: &Seen,
    failing_since: Option<Timestamp>,
) -> CanaryReport {
    CanaryReport {
        start,
        hour,
        submits: seen.submits,
        accepted: seen.accepted,
        due: seen.due,
        reached: seen.reached,
        on_time: seen.on_time,
        lateness: *seen.lateness.counts(),
        failing_since,
    }
}
