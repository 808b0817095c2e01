//! The due times of a span of time, such as a month.

use super::{Reckoner, Steps};
use crate::time::Timestamp;
use chrono::TimeDelta;
use std::ops::ControlFlow;

impl Reckoner {
    /// Gives `each` the due times from `from` to `until`, excluded, in order, until it breaks. `false`: `steps` were out before. With a fixed
    /// delay there are none that are known: see [`Self::most_delayed`].
    pub fn due_within(
        &self,
        (from, until): (Timestamp, Timestamp),
        steps: &Steps,
        mut each: impl FnMut(Timestamp) -> ControlFlow<()>,
    ) -> bool {
        if self.is_fixed_delay() {
            return true;
        }
        let (mut walk, mut after) = (self.walk(), from - TimeDelta::microseconds(1));
        while let Some(due) = walk.next_after(after, steps).filter(|due| due.at < until) {
            if each(due.at).is_break() {
                return true;
            }
            after = due.at;
        }
        !steps.is_out()
    }

    /// With a fixed delay, the most due times from `from` to `until`, excluded: as many as there are where each task takes no time.
    #[must_use]
    pub fn most_delayed(&self, (from, until): (Timestamp, Timestamp)) -> Option<u64> {
        let delay = self.delay.filter(|delay| *delay > 0)?;
        let Some(first) = self.first_delayed() else { return Some(0) };
        let from = from.timestamp_micros().max(first.at.timestamp_micros());
        let until = until.timestamp_micros().min(self.end.saturating_add(1));
        let length = until.saturating_sub(from);
        Some(if length <= 0 { 0 } else { (length - 1).div_euclid(delay).unsigned_abs() + 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Timing;
    use crate::time::parse_time;
    use serde_json::{Value, json};

    fn time(text: &str) -> Timestamp {
        parse_time(text).unwrap()
    }

    fn reckoner(timing: Value) -> Reckoner {
        let timing: Timing = serde_json::from_value(timing).unwrap();
        Reckoner::new(&timing, time("2027-01-01T00:00:00Z")).unwrap()
    }

    fn count(timing: Value, (from, until): (&str, &str)) -> u64 {
        let mut fires = 0;
        let one = |_| {
            fires += 1;
            ControlFlow::Continue(())
        };
        assert!(reckoner(timing).due_within((time(from), time(until)), &Steps::unlimited(), one));
        fires
    }

    #[test]
    fn a_month_with_a_change_of_clocks_has_an_hour_less_or_more() {
        // Of Berlin: March 2027 has 31 days less an hour, October one more.
        let march = ("2027-02-28T23:00:00Z", "2027-03-31T22:00:00Z");
        let october = ("2027-09-30T22:00:00Z", "2027-10-31T23:00:00Z");
        let minutes = || json!({"specs": [{"cron": "* * * * *"}], "zone": "Europe/Berlin"});
        assert_eq!(count(minutes(), march), 31 * 1440 - 60);
        assert_eq!(count(minutes(), october), 31 * 1440 + 60, "a wildcard is due in both hours");
        let half_past_two = |repeat| json!({"specs": [{"cron": "30 2 * * *"}], "zone": "Europe/Berlin", "repeat": repeat});
        assert_eq!(count(half_past_two("first"), march), 31, "moved out of the gap");
        assert_eq!(count(half_past_two("first"), october), 31);
        assert_eq!(count(half_past_two("both"), october), 32);
    }

    #[test]
    fn bounds_and_exclusions_count() {
        let month = ("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z");
        let daily = json!({"specs": [{"cron": "0 9 * * *"}]});
        assert_eq!(count(daily.clone(), month), 31);
        let mut bound = daily;
        bound["start_at"] = json!("2027-01-10T09:00:00Z");
        bound["end_at"] = json!("2027-01-20T08:59:59Z");
        bound["exclude"] = json!(["2027-01-15", {"from": "2027-01-17", "to": "2027-01-18"}]);
        assert_eq!(count(bound, month), 10 - 3);
        let due = json!({"specs": [{"cron": "0 0 1 * *"}]});
        assert_eq!(count(due, month), 1, "the first instant is in, the last is not");
    }

    #[test]
    fn steps_that_are_out_are_told_and_who_counts_may_stop() {
        let reckoner = reckoner(json!({"specs": [{"every": {"every": "1s"}}]}));
        let month = (time("2027-02-01T00:00:00Z"), time("2027-03-01T00:00:00Z"));
        assert!(!reckoner.due_within(month, &Steps::new(1000), |_| ControlFlow::Continue(())));
        let mut seen = 0;
        let stop = |_| {
            seen += 1;
            if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        assert!(reckoner.due_within(month, &Steps::new(1000), stop));
        assert_eq!(seen, 3);
    }

    #[test]
    fn with_a_fixed_delay_there_are_no_more_than_delays_fit_in() {
        let every = |more: Value| {
            let mut timing =
                json!({"specs": [{"every": {"every": "1h", "counting": "fixed_delay"}}]});
            timing.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            reckoner(timing)
        };
        let day = |day: u32| time(&format!("2027-02-{day:02}T00:00:00Z"));
        assert_eq!(every(json!({})).most_delayed((day(1), day(2))), Some(24));
        assert_eq!(
            every(json!({"end_at": "2027-02-01T02:00:00Z"})).most_delayed((day(1), day(2))),
            Some(3)
        );
        assert_eq!(
            every(json!({"start_at": "2027-02-01T22:30:00Z"})).most_delayed((day(1), day(2))),
            Some(2)
        );
        assert_eq!(
            every(json!({"end_at": "2027-01-31T00:00:00Z"})).most_delayed((day(1), day(2))),
            Some(0)
        );
        let minutes = reckoner(json!({"specs": [{"cron": "* * * * *"}]}));
        assert_eq!(minutes.most_delayed((day(1), day(2))), None);
    }
}
