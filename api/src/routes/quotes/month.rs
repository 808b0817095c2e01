//! How often a schedule is due in a month of its tenant's zone, with the code by which it is fired.

use api_types::QuoteMonth;
use chrono::{Days, Months, NaiveDate, TimeDelta};
use domain::invoice::{BillingZone, Period};
use domain::schedule::{Reckoner, Steps};
use domain::time::Timestamp;
use std::ops::ControlFlow;

/// Steps of one count: a month with a due time each second.
const STEPS: u64 = 60_000_000;
/// Months ahead that can be priced.
const MOST_AHEAD: u32 = 120;

/// Due times that can come.
pub(super) struct Coming<'a> {
    pub reckoner: &'a Reckoner,
    /// Only those after it.
    pub after: Timestamp,
    /// So many at most.
    pub left: Option<u64>,
}

/// How often something is due in a month.
pub(super) struct CountedMonth {
    period: Period,
    /// It has begun.
    pub is_present: bool,
    /// `None`: it takes too long to count.
    pub fires: Option<u64>,
    at_most: bool,
    /// Of each zone that was asked for: the most on one of its days.
    busiest: Vec<(String, u64)>,
}

impl CountedMonth {
    pub(super) fn view(&self, zone: &BillingZone) -> QuoteMonth {
        QuoteMonth {
            month: self.period.month.format("%Y-%m").to_string(),
            zone: zone.to_string(),
            starts_at: self.period.starts_at,
            ends_at: self.period.ends_at,
            fires: self.fires,
            at_most: self.at_most,
        }
    }

    /// The most fires on a day of a zone.
    pub(super) fn busiest_day(&self, zone: &str) -> Option<u64> {
        let of_zone = self.busiest.iter().find(|(name, _)| name == zone).map(|(_, fires)| *fires);
        self.fires.map(|fires| of_zone.unwrap_or(fires).min(fires))
    }
}

/// The month of this text, such as `2030-03`: the present one, or one that is not too far ahead.
pub(super) fn read(text: &str, zone: &BillingZone, now: Timestamp) -> Option<Period> {
    let is_plain = text.len() == 7 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let first = NaiveDate::parse_from_str(&format!("{text}-01"), "%Y-%m-%d").ok()?;
    let present = zone.month_of(now);
    let last = present.month.checked_add_months(Months::new(MOST_AHEAD))?;
    if !is_plain || !(present.month..=last).contains(&first) {
        return None;
    }
    Some(zone.month_of(zone.start_of(first)))
}

/// The next whole month in which it is due, or else the one in which it is due next.
pub(super) fn usual(coming: &Coming<'_>, zone: &BillingZone, now: Timestamp) -> Period {
    let present = zone.month_of(now);
    let next = zone.next(&present);
    if coming.reckoner.is_fixed_delay() {
        let month = (next.starts_at.max(coming.after), next.ends_at);
        let is_due = coming.reckoner.most_delayed(month).is_some_and(|fires| fires > 0);
        return if is_due { next } else { present };
    }
    let steps = Steps::new(STEPS);
    let instant_before = next.starts_at - TimeDelta::microseconds(1);
    let later = coming.reckoner.next_within(instant_before.max(coming.after), &steps);
    let first = later.filter(|_| coming.left.is_none() || is_left(coming, next.starts_at));
    let first = first.or_else(|| coming.reckoner.next_within(coming.after.max(now), &steps));
    first.map_or(present, |due| zone.month_of(due.at))
}

/// Whether not all fires of a limited number are over by `until`.
fn is_left(coming: &Coming<'_>, until: Timestamp) -> bool {
    let (mut seen, most) = (0, coming.left.unwrap_or(u64::MAX));
    let from = coming.after + TimeDelta::microseconds(1);
    coming.reckoner.due_within((from, until), &Steps::new(STEPS), |_| {
        seen += 1;
        if seen >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    seen < most
}

/// Counts the due times of a month, and those of its busiest day in each of `zones`.
pub(super) fn count(
    coming: &Coming<'_>,
    period: Period,
    zones: Vec<String>,
    now: Timestamp,
) -> CountedMonth {
    let is_present = period.starts_at <= now;
    let zones = zones.into_iter().map(|name| (name.parse().unwrap_or_default(), name));
    let zones: Vec<(BillingZone, String)> = zones.collect();
    if coming.reckoner.is_fixed_delay() {
        return delayed(coming, period, zones, is_present);
    }
    let mut days: Vec<DayCount<'_>> = zones.iter().map(|(zone, _)| DayCount::new(zone)).collect();
    let first = coming.after + TimeDelta::microseconds(1);
    // Those before the month take some of what is left.
    let from = if coming.left.is_some() { first } else { first.max(period.starts_at) };
    let (mut seen, mut fires) = (0_u64, 0_u64);
    let most = coming.left.unwrap_or(u64::MAX);
    let each = |at: Timestamp| {
        if seen == most {
            return ControlFlow::Break(());
        }
        seen += 1;
        if at >= period.starts_at {
            fires += 1;
            days.iter_mut().for_each(|day| day.add(at));
        }
        ControlFlow::Continue(())
    };
    let steps = Steps::new(STEPS);
    let is_whole = coming.reckoner.due_within((from, period.ends_at), &steps, each);
    let busiest = zones.iter().zip(&days).map(|((_, name), day)| (name.clone(), day.most));
    let busiest = busiest.collect();
    CountedMonth { period, is_present, fires: is_whole.then_some(fires), at_most: false, busiest }
}

fn delayed(
    coming: &Coming<'_>,
    period: Period,
    zones: Vec<(BillingZone, String)>,
    is_present: bool,
) -> CountedMonth {
    let left = coming.left.unwrap_or(u64::MAX);
    let of = |from: Timestamp, until: Timestamp| {
        let span = (from.max(coming.after), until);
        coming.reckoner.most_delayed(span).unwrap_or(0).min(left)
    };
    let fires = of(period.starts_at, period.ends_at);
    let busiest = zones.into_iter().map(|(zone, name)| {
        let mut day = zone.day_of(period.starts_at);
        let mut most = 0;
        while zone.start_of(day) < period.ends_at {
            let next = day.checked_add_days(Days::new(1)).unwrap_or(NaiveDate::MAX);
            most = most.max(of(zone.start_of(day), zone.start_of(next)));
            day = next;
        }
        (name, most)
    });
    let busiest = busiest.collect();
    CountedMonth { period, is_present, fires: Some(fires), at_most: true, busiest }
}

/// Counts by the days of a zone.
struct DayCount<'a> {
    zone: &'a BillingZone,
    ends_at: Timestamp,
    fires: u64,
    most: u64,
}

impl<'a> DayCount<'a> {
    const fn new(zone: &'a BillingZone) -> Self {
        Self { zone, ends_at: Timestamp::MIN_UTC, fires: 0, most: 0 }
    }

    fn add(&mut self, at: Timestamp) {
        if at >= self.ends_at {
            let next = self.zone.day_of(at).checked_add_days(Days::new(1));
            self.ends_at = self.zone.start_of(next.unwrap_or(NaiveDate::MAX));
            self.fires = 0;
        }
        self.fires += 1;
        self.most = self.most.max(self.fires);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::schedule::Timing;
    use domain::time::parse_time;
    use serde_json::{Value, json};

    fn time(text: &str) -> Timestamp {
        parse_time(text).unwrap()
    }

    fn now() -> Timestamp {
        time("2027-01-15T12:00:00Z")
    }

    fn berlin() -> BillingZone {
        "Europe/Berlin".parse().unwrap()
    }

    fn reckoner(timing: Value) -> Reckoner {
        let timing: Timing = serde_json::from_value(timing).unwrap();
        Reckoner::stored(&timing, now()).unwrap()
    }

    /// The month that is priced by itself, its fires and those of its busiest day in Berlin.
    fn usual_of(timing: Value) -> (String, Option<u64>, Option<u64>) {
        let reckoner = reckoner(timing);
        let coming = Coming { reckoner: &reckoner, after: now(), left: reckoner.max_fires() };
        let period = usual(&coming, &berlin(), now());
        let month = count(&coming, period, vec!["Europe/Berlin".to_owned()], now());
        let shown = month.view(&berlin());
        (shown.month, shown.fires, month.busiest_day("Europe/Berlin"))
    }

    #[test]
    fn the_usual_month_is_the_first_whole_one_with_a_fire() {
        let month = |month: &str, fires, busiest| (month.to_owned(), Some(fires), Some(busiest));
        let cron = |pattern: &str| json!({"specs": [{"cron": pattern}], "zone": "Europe/Berlin"});
        assert_eq!(usual_of(cron("0 9 * * *")), month("2027-02", 28, 1));
        assert_eq!(usual_of(cron("*/15 3 28 3 *")), month("2027-03", 4, 4));
        let at = |at: &str| json!({"specs": [{"at": at}]});
        assert_eq!(usual_of(at("2027-01-20T00:00:00Z")), month("2027-01", 1, 1));
        assert_eq!(usual_of(at("2027-01-31T23:30:00Z")), month("2027-02", 1, 1));
        // A limited number is over in the present month, or in the next.
        let limited = |most| json!({"specs": [{"cron": "0 9 * * *"}], "max_fires": most});
        assert_eq!(usual_of(limited(3)), month("2027-01", 3, 1));
        assert_eq!(usual_of(limited(20)), month("2027-02", 4, 1));
        let delay = json!({"specs": [{"every": {"every": "6h", "counting": "fixed_delay"}}]});
        assert_eq!(usual_of(delay), month("2027-02", 28 * 4, 4));
    }

    #[test]
    fn a_month_is_the_present_one_or_one_of_the_next_ten_years() {
        let read = |text: &str| super::read(text, &berlin(), now()).map(|period| period.starts_at);
        assert_eq!(read("2027-01"), Some(time("2026-12-31T23:00:00Z")));
        assert_eq!(read("2027-04"), Some(time("2027-03-31T22:00:00Z")));
        assert!(read("2037-01").is_some());
        for bad in [
            "2026-12",
            "2037-02",
            "2027-13",
            "2027-1",
            "27-01",
            "2027-01-01",
            "",
            "2027_01",
            "+027-01",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
