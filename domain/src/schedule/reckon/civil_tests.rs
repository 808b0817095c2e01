//! Fixed times of day and patterns that recur, on days on which clocks change.

use super::Reckoner;
use crate::schedule::Timing;
use chrono::{Days, NaiveDate};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A zone, and days on which its clocks change.
const CHANGES: [(&str, &[&str]); 6] = [
    ("America/New_York", &["2027-03-14", "2027-11-07"]),
    ("Europe/Berlin", &["2027-03-28", "2027-10-31"]),
    ("Australia/Lord_Howe", &["2027-10-03", "2027-04-04"]),
    ("Pacific/Apia", &["2011-12-30", "2011-09-24", "2012-04-01"]),
    ("Africa/Casablanca", &["2012-04-29", "2012-07-20", "2012-09-30"]),
    ("America/Havana", &["2027-03-14", "2027-11-07"]),
];

fn timing(spec: &Value, zone: &str, gap: &str, repeat: &str) -> Timing {
    serde_json::from_value(json!({"specs": [spec], "zone": zone, "gap": gap, "repeat": repeat}))
        .unwrap()
}

/// All due times from the day before `date` to the day behind it, with their marks, in UTC.
fn around(timing: &Timing, date: NaiveDate) -> Vec<super::DueTime> {
    let at = |date: NaiveDate| date.and_time(chrono::NaiveTime::MIN).and_utc();
    let (from, to) = (at(date - Days::new(2)), at(date + Days::new(3)));
    let reckoner = Reckoner::new(timing, from).unwrap();
    let due = std::iter::successors(reckoner.next_after(from), |due| reckoner.next_after(due.at));
    due.take_while(|due| due.at < to).collect()
}

/// Those of one day of the zone in New York, as its clock shows them there; a moved one with `*`.
fn on(day: &str, pattern: &str, gap: &str, repeat: &str) -> String {
    let (date, clock) =
        (day.parse::<NaiveDate>().unwrap(), jiff::tz::TimeZone::get("America/New_York").unwrap());
    let due = around(&timing(&json!({"cron": pattern}), "America/New_York", gap, repeat), date);
    let shown = due.iter().filter_map(|due| {
        let local =
            jiff::Timestamp::from_second(due.at.timestamp()).unwrap().to_zoned(clock.clone());
        let mark = if due.marks.shifted { "*" } else { "" };
        (local.date().to_string() == day).then(|| local.strftime("%H:%M %Z").to_string() + mark)
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_list_of_fixed_times_is_moved_out_of_the_gap_once_and_follows_the_choice_in_the_repeat() {
    let (spring, autumn) = ("2027-03-14", "2027-11-07");
    for pattern in
        ["0,30 2 * * *", "30 2 * * *", "0-59 2 * * *", "*/10 0,30 2 * * *", "5-55/10 2 * * *"]
    {
        assert_eq!(on(spring, pattern, "next_valid", "first"), "03:00 EDT*", "{pattern}");
        assert_eq!(on(spring, pattern, "skip", "first"), "", "{pattern}");
    }
    let twice = "0,30 1 * * *";
    assert_eq!(on(autumn, twice, "next_valid", "first"), "01:00 EDT, 01:30 EDT");
    assert_eq!(on(autumn, twice, "next_valid", "last"), "01:00 EST, 01:30 EST");
    let all = "01:00 EDT, 01:30 EDT, 01:00 EST, 01:30 EST";
    assert_eq!(on(autumn, twice, "next_valid", "both"), all);
    // The hour of each day, but written as a range.
    assert_eq!(on(spring, "0 1-3 * * *", "next_valid", "first"), "01:00 EST, 03:00 EDT*");
    assert_eq!(on(autumn, "0 0-2 * * *", "next_valid", "first"), "00:00 EDT, 01:00 EDT, 02:00 EST");
}

#[test]
fn a_pattern_whose_minute_or_hour_begins_with_a_star_is_due_whenever_the_clock_shows_it() {
    let (spring, autumn) = ("2027-03-14", "2027-11-07");
    let all = "01:00 EDT, 01:30 EDT, 01:00 EST, 01:30 EST";
    for (gap, repeat) in [("next_valid", "first"), ("skip", "last")] {
        assert_eq!(on(autumn, "*/30 1 * * *", gap, repeat), all);
        assert_eq!(on(spring, "*/30 2 * * *", gap, repeat), "");
        assert_eq!(on(spring, "0 */22 * * *", gap, repeat), "00:00 EST, 22:00 EDT");
        let hours = on(autumn, "@hourly", gap, repeat);
        assert_eq!(hours.matches("01:00").count(), 2, "{hours}");
        // The examples of docs/time.md.
        let even = on(spring, "0 */2 * * *", gap, repeat);
        assert!(
            even.starts_with("00:00 EST, 04:00 EDT") && even.split(", ").count() == 11,
            "{even}"
        );
        assert_eq!(on(autumn, "0 */2 * * *", gap, repeat).split(", ").count(), 12);
    }
    assert_eq!(on(spring, "@daily", "next_valid", "first"), "00:00 EST");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn a_list_of_hours_and_minutes_is_due_as_the_same_times_of_each_day(
        minutes in prop::collection::btree_set(0_u32..60, 1..5),
        hours in prop::collection::btree_set(prop_oneof![3 => 0_u32..5, 1 => 0_u32..24], 1..5),
        seconds in prop_oneof![3 => Just(BTreeSet::new()), 1 => prop::collection::btree_set(0_u32..60, 1..4)],
        (zone, days) in prop::sample::select(&CHANGES[..]), day in any::<prop::sample::Index>(),
        gap in prop::sample::select(vec!["next_valid", "skip"]),
        repeat in prop::sample::select(vec!["first", "last", "both"]),
    ) {
        let list = |of: &BTreeSet<u32>| of.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut pattern = format!("{} {} * * *", list(&minutes), list(&hours));
        if !seconds.is_empty() {
            pattern = format!("{} {pattern}", list(&seconds));
        }
        let each = if seconds.is_empty() { BTreeSet::from([0]) } else { seconds };
        let times: Vec<_> = hours.iter().flat_map(|hour| {
            let each = &each;
            minutes.iter().flat_map(move |minute| {
                each.iter().map(move |second| format!("{hour:02}:{minute:02}:{second:02}"))
            })
        }).collect();
        let date = day.get(days).parse().unwrap();
        let cron = around(&timing(&json!({"cron": pattern}), zone, gap, repeat), date);
        let daily = around(&timing(&json!({"daily": {"at": times}}), zone, gap, repeat), date);
        prop_assert!(!cron.is_empty());
        prop_assert_eq!(cron, daily, "{} in {}", pattern, zone);
    }
}
