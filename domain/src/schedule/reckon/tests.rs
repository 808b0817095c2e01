//! Due times of zones with clocks that change, of the calendar's edges, and of what can never be.

use super::*;
use crate::schedule::{Timing, TimingProblem};
use serde_json::{Value, json};
use std::time::Duration;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn timing(value: Value) -> Timing {
    serde_json::from_value(value).unwrap()
}

fn cron(pattern: &str, zone: &str) -> Timing {
    timing(json!({"specs": [{"cron": pattern}], "zone": zone}))
}

/// Those after `from` and up to `to`, as text in UTC; a moved one with `*`, a second occurrence with `+`.
fn between(timing: &Timing, from: &str, to: &str) -> Vec<String> {
    let reckoner = Reckoner::new(timing, at(from)).unwrap();
    let due =
        std::iter::successors(reckoner.next_after(at(from)), |due| reckoner.next_after(due.at));
    let text = |due: DueTime| {
        let mark = if due.marks.shifted {
            "*"
        } else if due.marks.again {
            "+"
        } else {
            ""
        };
        due.at.format("%m-%d %H:%M").to_string() + mark
    };
    due.take_while(|due| due.at <= at(to)).map(text).collect()
}

fn refusal(timing: &Timing) -> TimingProblem {
    Reckoner::new(timing, at("2026-01-01T00:00:00Z")).unwrap_err().problem
}

const SPRING: (&str, &str) = ("2027-03-13T08:00:00Z", "2027-03-15T08:00:00Z");
const AUTUMN: (&str, &str) = ("2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");

#[test]
fn a_time_in_the_gap_is_due_once_at_its_end() {
    let mut night = cron("30 2 * * *", "America/New_York");
    assert_eq!(between(&night, SPRING.0, SPRING.1), ["03-14 07:00*", "03-15 06:30"]);
    night.gap = crate::schedule::Gap::Skip;
    assert_eq!(between(&night, SPRING.0, SPRING.1), ["03-15 06:30"]);
    let several =
        timing(json!({"specs": [{"daily": {"at": ["02:00", "02:30", "02:59", "03:00"]}}],
        "zone": "America/New_York"}));
    let due = between(&several, "2027-03-14T00:00:00Z", "2027-03-14T23:00:00Z");
    assert_eq!(due, ["03-14 07:00*"], "all of one gap, and what is due at its end, are one");
}

#[test]
fn what_recurs_keeps_its_distance_through_gap_and_repeat() {
    for (from, to) in [SPRING, AUTUMN] {
        for (pattern, minutes) in [("*/15 * * * *", 15), ("*/30 * * * *", 30), ("17 * * * *", 60)] {
            let reckoner = Reckoner::new(&cron(pattern, "America/New_York"), at(from)).unwrap();
            let mut last = reckoner.next_after(at(from)).unwrap().at;
            while last < at(to) {
                let next = reckoner.next_after(last).unwrap().at;
                assert_eq!((next - last).num_minutes(), minutes, "{pattern} after {last}");
                last = next;
            }
        }
    }
    let halves = between(
        &cron("*/30 * * * *", "America/New_York"),
        "2026-11-01T03:59:00Z",
        "2026-11-02T04:59:00Z",
    );
    assert_eq!(halves.len(), 50, "in a day of 25 hours");
    // The examples of docs/time.md.
    let days = [
        ("2027-03-14T04:59:00Z", "2027-03-15T03:59:00Z", 92, 46),
        ("2027-11-07T03:59:00Z", "2027-11-08T04:59:00Z", 100, 50),
    ];
    for (from, to, quarters, halves) in days {
        let count = |pattern| between(&cron(pattern, "America/New_York"), from, to).len();
        assert_eq!((count("*/15 * * * *"), count("*/30 * * * *")), (quarters, halves));
    }
}

#[test]
fn a_time_that_comes_twice_is_due_as_chosen() {
    let mut night = cron("30 1 * * *", "America/New_York");
    assert_eq!(between(&night, AUTUMN.0, AUTUMN.1), ["11-01 05:30"]);
    night.repeat = crate::schedule::Repeat::Last;
    assert_eq!(between(&night, AUTUMN.0, AUTUMN.1), ["11-01 06:30+"]);
    night.repeat = crate::schedule::Repeat::Both;
    assert_eq!(between(&night, AUTUMN.0, AUTUMN.1), ["11-01 05:30", "11-01 06:30+"]);
}

#[test]
fn other_zones_changes_are_none_of_ours() {
    let london = ("2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z");
    let utc = between(&cron("30 1 * * *", "UTC"), london.0, london.1);
    assert_eq!(utc, ["10-25 01:30", "10-26 01:30"]);
}

#[test]
fn a_day_that_a_zone_left_out_is_made_up_for_at_its_end() {
    let samoa = cron("0 9 * * *", "Pacific/Apia");
    let due = between(&samoa, "2011-12-29T00:00:00Z", "2011-12-31T00:00:00Z");
    assert_eq!(due, ["12-29 19:00", "12-30 10:00*", "12-30 19:00"]);
}

#[test]
fn change_days_are_marked() {
    let marks = |pattern: &str, zone: &str, from: &str| {
        let reckoner = Reckoner::new(&cron(pattern, zone), at(from)).unwrap();
        reckoner.next_after(at(from)).unwrap().marks
    };
    let ny = |from| marks("0 12 * * *", "America/New_York", from);
    assert!(ny("2027-03-14T05:00:00Z").change_day && ny("2026-11-01T05:00:00Z").change_day);
    assert_eq!(ny("2027-03-13T05:00:00Z"), Marks::default());
    assert_eq!(ny("2027-03-15T05:00:00Z"), Marks::default());
    let twice = marks("30 1 * * *", "America/New_York", "2026-11-01T04:00:00Z");
    assert!(twice.repeated && !twice.again && twice.change_day);
    // Clocks that go back from midnight belong to the day that gets longer.
    assert!(marks("0 12 * * *", "America/Sao_Paulo", "2018-02-17T05:00:00Z").change_day);
    assert!(!marks("0 12 * * *", "America/Sao_Paulo", "2018-02-18T05:00:00Z").change_day);
    assert_eq!(marks("* * * * *", "UTC", "2026-01-01T00:00:00Z"), Marks::default());
}

#[test]
fn the_calendars_edges() {
    let due = |pattern: &str, from: &str, to: &str| {
        let reckoner = Reckoner::new(&cron(pattern, "UTC"), at(from)).unwrap();
        std::iter::successors(reckoner.next_after(at(from)), |due| reckoner.next_after(due.at))
            .map(|due| due.at.format("%F").to_string())
            .take_while(|date| date.as_str() <= to)
            .collect::<Vec<_>>()
    };
    let (from, year) = ("2026-01-01T00:00:00Z", "2026-06-30");
    assert_eq!(due("0 0 29 2 *", from, "2036-01-01"), ["2028-02-29", "2032-02-29"]);
    assert_eq!(due("0 0 29 2 *", "2096-03-01T00:00:00Z", "2105"), ["2104-02-29"], "2100 has none");
    assert_eq!(due("0 0 29 2 +1", from, "2060"), ["2044-02-29"], "a Monday");
    assert_eq!(due("0 0 31 * *", from, year), ["2026-01-31", "2026-03-31", "2026-05-31"]);
    assert_eq!(due("0 0 L 2 *", from, "2028-12-31"), ["2026-02-28", "2027-02-28", "2028-02-29"]);
    assert_eq!(due("0 0 LW 5 *", from, "2026-12-31"), ["2026-05-29"]);
    assert_eq!(due("0 0 15W 8 *", from, "2026-12-31"), ["2026-08-14"]);
    assert_eq!(due("0 0 * 6 5#3", from, "2026-12-31"), ["2026-06-19"]);
    assert_eq!(due("0 0 * 6 5L", from, "2026-12-31"), ["2026-06-26"]);
    assert_eq!(
        due("0 0 13 2 5", from, "2026-03-01"),
        ["2026-02-06", "2026-02-13", "2026-02-20", "2026-02-27"]
    );
    assert_eq!(
        due("0 0 1 1 *", "2037-06-01T00:00:00Z", "2039-12-31"),
        ["2038-01-01", "2039-01-01"]
    );
    let past_2038 = cron("14 3 19 1 *", "America/New_York");
    assert_eq!(
        between(&past_2038, "2038-01-01T00:00:00Z", "2038-02-01T00:00:00Z"),
        ["01-19 08:14"]
    );
}

#[test]
fn a_leap_second_makes_no_second_fire() {
    let reckoner = Reckoner::new(&cron("* * * * * *", "UTC"), at("2016-12-31T00:00:00Z")).unwrap();
    let leap = at("2016-12-31T23:59:60Z");
    let due = std::iter::successors(reckoner.next_after(at("2016-12-31T23:59:57Z")), |due| {
        reckoner.next_after(due.at)
    });
    let seconds: Vec<_> = due.take(4).map(|due| due.at.timestamp()).collect();
    assert_eq!(seconds, [1_483_228_798, 1_483_228_799, 1_483_228_800, 1_483_228_801]);
    assert_eq!(reckoner.next_after(leap).unwrap().at.timestamp(), 1_483_228_801);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is a bound on real time")]
fn what_can_never_be_is_refused_soon() {
    let never = [
        cron("0 0 30 2 *", "UTC"),
        cron("0 0 31 2,4,6,9,11 *", "Europe/Berlin"),
        cron("0 0 31 * +1#1", "America/New_York"),
        cron("0 0 29 2 +1#4", "Asia/Tehran"),
        timing(json!({"specs": [{"yearly": {"on": ["02-29"], "at": ["00:00"]}}],
            "end_at": "2027-12-31T00:00:00Z"})),
        timing(
            json!({"specs": [{"cron": "30 2 8-14 3 +0"}], "zone": "America/New_York", "gap": "skip",
            "start_at": "2026-06-01T00:00:00Z"}),
        ),
        timing(json!({"specs": [{"cron": "* * * * * *"}], "zone": "America/New_York",
            "exclude": [{"from": "2020-01-01", "to": "9999-12-31"}]})),
        timing(json!({"specs": [{"every": {"every": "1s"}}],
            "exclude": [{"from": "2020-01-01T00:00:00Z", "to": "9000-12-31T23:59:59Z"}], "end_at": "8999-01-01T00:00:00Z"})),
        timing(json!({"specs": [{"at": "2025-12-31T00:00:00Z"}]})),
        timing(json!({"specs": [{"daily": {"at": ["09:00"]}}], "end_at": "2026-01-01T08:00:00Z"})),
    ];
    for timing in never {
        // The best of three: what else the machine does is not meant.
        let took = (0..3).map(|_| {
            let started = std::time::Instant::now();
            assert_eq!(refusal(&timing), TimingProblem::NeverFires, "{timing:?}");
            started.elapsed()
        });
        let took = took.min().unwrap();
        assert!(took < Duration::from_millis(50), "{took:?} for {timing:?}");
    }
    let dead = cron("0 0 30 2 *", "UTC");
    let error = Reckoner::new(&dead, at("2026-01-01T00:00:00Z")).unwrap_err();
    assert_eq!(error.pointer, "/specs/0");
}

#[test]
fn nothing_is_due_outside_of_start_and_end_or_where_it_is_excluded() {
    let daily = timing(json!({"specs": [{"daily": {"at": ["09:00"]}}], "zone": "Europe/Berlin",
        "start_at": "2026-12-20T08:00:00Z", "end_at": "2027-01-04T08:00:00Z",
        "exclude": ["2026-12-22", {"from": "2026-12-24", "to": "2027-01-01"},
            {"from": "2027-01-02T00:00:00Z", "to": "2027-01-03T08:00:00Z"}]}));
    let due = between(&daily, "2026-01-01T00:00:00Z", "2028-01-01T00:00:00Z");
    assert_eq!(due, ["12-20 08:00", "12-21 08:00", "12-23 08:00", "01-03 08:00", "01-04 08:00"]);
}

#[test]
fn a_long_exclusion_is_passed_at_once() {
    let mut second = timing(json!({"specs": [{"cron": "* * * * * *"}], "zone": "America/St_Johns",
        "exclude": [{"from": "2026-01-02", "to": "2525-06-30"}]}));
    let due = |timing: &Timing| {
        let reckoner = Reckoner::new(timing, at("2026-01-01T00:00:00Z")).unwrap();
        reckoner.next_after(at("2026-01-02T12:00:00Z")).unwrap().at.to_rfc3339()
    };
    assert_eq!(due(&second), "2525-07-01T02:30:00+00:00");
    second.specs = timing(json!({"specs": [{"every": {"every": "7s"}}]})).specs;
    assert!(due(&second).starts_with("2525-07-01T02:30:0"));
}

#[test]
fn an_interval_lies_on_its_grid_whatever_the_clocks_do() {
    let every =
        timing(json!({"specs": [{"every": {"every": "90m", "anchor": "2026-11-01T00:10:00Z"}}],
        "zone": "America/New_York"}));
    let due = between(&every, "2026-11-01T03:00:00Z", "2026-11-01T08:00:00Z");
    assert_eq!(due, ["11-01 03:10", "11-01 04:40", "11-01 06:10+", "11-01 07:40"]);
    let unanchored = timing(json!({"specs": [{"every": {"every": "1h"}}]}));
    assert_eq!(
        between(&unanchored, AUTUMN.0, "2026-11-01T06:30:00Z"),
        ["11-01 05:00", "11-01 06:00"]
    );
}

#[test]
fn a_fixed_delay_counts_from_the_end_of_its_task() {
    let delay = timing(json!({"specs": [{"every": {"every": "10m", "counting": "fixed_delay"}}],
        "end_at": "2026-01-01T02:00:00Z", "exclude": [{"from": "2026-01-01T00:30:00Z", "to": "2026-01-01T01:00:00Z"}]}));
    let created = at("2026-01-01T00:00:00Z");
    let reckoner = Reckoner::new(&delay, created).unwrap();
    let first = reckoner.next_after(created).unwrap().at;
    assert_eq!(first, at("2026-01-01T00:10:00Z"));
    assert_eq!(reckoner.next_after(first), None);
    let after = |ended: &str| reckoner.after_end(at(ended)).map(|due| due.at);
    assert_eq!(after("2026-01-01T00:13:07Z"), Some(at("2026-01-01T00:23:07Z")));
    assert_eq!(after("2026-01-01T00:25:00Z"), Some(at("2026-01-01T01:00:00Z")), "it was excluded");
    assert_eq!(after("2026-01-01T01:50:01Z"), None);
    assert!(
        Reckoner::new(&cron("* * * * *", "UTC"), created).unwrap().after_end(created).is_none()
    );
}

#[test]
fn a_fixed_delay_begins_where_its_timing_does() {
    let created = at("2026-01-01T00:00:00Z");
    let first = |anchor: Option<&str>, bounds: Value| {
        let mut given = json!({"specs": [{"every": {"every": "10m", "counting": "fixed_delay"}}]});
        given.as_object_mut().unwrap().extend(bounds.as_object().unwrap().clone());
        if let Some(anchor) = anchor {
            given["specs"][0]["every"]["anchor"] = anchor.into();
        }
        let reckoner = Reckoner::new(&timing(given), created).map_err(|error| error.problem)?;
        let first = reckoner.next_after(created).unwrap().at;
        assert_eq!(reckoner.next_after(first), None, "the others follow the ends of tasks");
        Ok(first.format("%d %H:%M").to_string())
    };
    let is = |day: &str| Ok(day.to_owned());
    assert_eq!(first(None, json!({})), is("01 00:10"));
    let start = json!({"start_at": "2026-01-02T08:00:00Z"});
    assert_eq!(first(None, start.clone()), is("02 08:00"));
    assert_eq!(first(Some("2026-01-01T12:00:00Z"), start.clone()), is("02 08:00"));
    assert_eq!(first(Some("2025-01-01T12:00:00Z"), start.clone()), is("02 08:00"));
    assert_eq!(first(Some("2026-01-03T12:00:00Z"), start), is("03 12:00"));
    assert_eq!(first(None, json!({"start_at": "2026-01-01T00:10:00Z"})), is("01 00:10"));
    assert_eq!(first(None, json!({"start_at": "2025-01-01T00:10:00Z"})), is("01 00:10"));
    let night = json!([{"from": "2026-01-01T00:05:00Z", "to": "2026-01-01T06:00:00Z"}]);
    assert_eq!(first(None, json!({"exclude": night})), is("01 06:00"));
    let days = json!(["2026-01-01", {"from": "2026-01-02", "to": "2026-01-03"}]);
    assert_eq!(first(None, json!({"exclude": days, "zone": "Europe/Berlin"})), is("03 23:00"));
    let both = json!({"exclude": ["2026-01-02"], "start_at": "2026-01-02T08:00:00Z"});
    assert_eq!(first(None, both), is("03 00:00"));
    for never in [
        json!({"end_at": "2026-01-01T00:09:59Z"}),
        json!({"exclude": ["2026-01-01"], "end_at": "2026-01-01T23:59:59Z"}),
    ] {
        assert_eq!(first(None, never), Err(TimingProblem::NeverFires));
    }
}

#[test]
fn a_grid_keeps_its_anchor_where_a_timing_starts_later_and_a_single_time_is_not_moved() {
    let starting =
        |spec: Value| timing(json!({"specs": [spec], "start_at": "2026-01-02T12:00:00Z"}));
    let due = |spec: Value| {
        let due = between(&starting(spec), "2026-01-01T00:07:00Z", "2026-01-02T13:59:00Z");
        due.into_iter().map(|due| due.replace("01-02 ", "")).collect::<Vec<_>>()
    };
    assert_eq!(due(json!({"every": {"every": "1h"}})), ["12:07", "13:07"]);
    let anchored = |at: &str| due(json!({"every": {"every": "1h", "anchor": at}}));
    assert_eq!(anchored("2020-01-01T00:20:00Z"), ["12:20", "13:20"]);
    assert_eq!(anchored("2026-01-01T06:00:00Z"), ["12:00", "13:00"], "the start is one of them");
    assert_eq!(due(json!({"after": "36h"})), ["12:07"]);
    for single in [json!({"after": "10m"}), json!({"at": "2026-01-02T11:59:59Z"})] {
        assert_eq!(refusal(&starting(single)), TimingProblem::NeverFires);
    }
}

#[test]
fn times_and_delays_come_once_and_several_specs_are_one_line() {
    let mixed = timing(json!({"specs": [{"at": "2026-01-01T09:00:00Z"}, {"after": "90m"},
        {"daily": {"at": ["09:00", "12:00"]}}]}));
    let due = between(&mixed, "2026-01-01T00:00:00Z", "2026-01-02T09:00:00Z");
    assert_eq!(due, ["01-01 01:30", "01-01 09:00", "01-01 12:00", "01-02 09:00"]);
    let at_once = timing(json!({"specs": [{"after": "0s"}]}));
    let created = at("2026-01-01T00:00:00Z");
    let reckoner = Reckoner::new(&at_once, created).unwrap();
    let first = reckoner.next_after(created).unwrap().at;
    assert!(first > created && reckoner.next_after(first).is_none());
}

#[test]
fn a_preview_ends_where_the_schedule_does() {
    let from = at("2026-01-01T00:00:00Z");
    let mut daily = timing(json!({"specs": [{"daily": {"at": ["09:00"]}}]}));
    assert_eq!(preview(&daily, (from, from), 5, Steps::unlimited()).unwrap().due.len(), 5);
    assert_eq!(
        preview(&daily, (from, from), 5000, Steps::unlimited()).unwrap().due.len(),
        MOST_PREVIEWED
    );
    daily.max_fires = Some(3);
    assert_eq!(preview(&daily, (from, from), 5, Steps::unlimited()).unwrap().due.len(), 3);
}

#[test]
fn what_takes_too_long_to_find_is_refused_and_a_preview_of_it_is_cut() {
    let from = at("2026-01-01T00:00:00Z");
    // Half past two of the day on which the clocks go forward: it is left out in each of the 400 years that are looked through.
    let never: Vec<_> = (0..15).map(|n| json!({"cron": format!("{} 2 * 3 0#2", 30 + n)})).collect();
    let specs: Vec<_> = never.into_iter().chain([json!({"cron": "* * * * *"})]).collect();
    let timing = timing(json!({"specs": specs, "zone": "America/New_York", "gap": "skip"}));
    let check = Steps::new(Steps::OF_A_CHECK);
    let refused = Reckoner::within(&timing, from, &check).unwrap_err();
    assert_eq!((refused.pointer.as_str(), refused.problem), ("", TimingProblem::TooIntricate));
    // One that is stored is found all the same, and a page of it costs little more than its first due time.
    let page = preview(&timing, (from, from), 1000, Steps::new(Steps::OF_A_PREVIEW)).unwrap();
    assert_eq!((page.due.len(), page.is_cut), (1000, false));
    assert_eq!(Reckoner::new(&timing, from).unwrap().next_after(from), Some(page.due[0]));
    let daily = cron("0 9 * * *", "Europe/Berlin");
    let all = preview(&daily, (from, from), 100, Steps::new(100_000)).unwrap();
    let some = preview(&daily, (from, from), 100, Steps::new(500)).unwrap();
    assert!(some.is_cut && !some.due.is_empty() && all.due.starts_with(&some.due));
    assert_eq!((all.due.len(), all.is_cut), (100, false));
}

mod property {
    use super::*;
    use proptest::prelude::*;

    const ZONES: [&str; 6] = [
        "UTC",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "America/St_Johns",
        "Pacific/Apia",
    ];

    fn spec() -> impl Strategy<Value = Value> {
        let minute = prop_oneof![Just("*/15".to_owned()), (0..60_u8).prop_map(|n| n.to_string())];
        let hour = prop_oneof![Just("*".to_owned()), (0..24_u8).prop_map(|n| n.to_string())];
        let day = prop::sample::select(vec!["*", "1", "31", "L", "LW", "15W", "*/2"]);
        let week = prop::sample::select(vec!["*", "0", "5L", "1#1", "mon-fri"]);
        let cron = (minute, hour, day, week).prop_map(
            |(minute, hour, day, week)| json!({"cron": format!("{minute} {hour} {day} * {week}")}),
        );
        let every = (1_u32..100_000).prop_map(|n| json!({"every": {"every": format!("{n}s")}}));
        prop_oneof![4 => cron, 1 => every]
    }

    proptest! {
        #[test]
        fn due_times_strictly_increase_and_do_not_depend_on_when_they_are_asked_for(
            specs in prop::collection::vec(spec(), 1..4),
            zone in prop::sample::select(&ZONES[..]),
            gap in prop::sample::select(vec!["next_valid", "skip"]),
            repeat in prop::sample::select(vec!["first", "last", "both"]),
            from in 631_152_000_i64..2_145_916_800, part in 0.0_f64..1.0,
        ) {
            let timing = timing(json!({"specs": specs, "zone": zone, "gap": gap, "repeat": repeat}));
            let created = Timestamp::from_timestamp(from, 0).unwrap();
            let reckoner = Reckoner::new(&timing, created).unwrap();
            let (mut last, mut walk, steps) = (created, reckoner.walk(), Steps::unlimited());
            for _ in 0..40 {
                let due = reckoner.next_after(last).unwrap();
                prop_assert!(due.at > last);
                prop_assert_eq!(walk.next_after(last, &steps), Some(due));
                let micros = (due.at - last).num_microseconds().unwrap();
                let between = last + chrono::TimeDelta::microseconds((micros as f64 * part) as i64);
                prop_assert_eq!(reckoner.next_after(between), Some(due), "asked after {}", between);
                last = due.at;
            }
        }
    }
}
