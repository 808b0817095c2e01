//! A timing reads back as it is written, and says what is wrong with it and where.

use super::*;
use crate::schedule::Reckoner;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(value: Value) -> Result<Timing, serde_json::Error> {
    serde_json::from_value(value)
}

#[test]
fn every_form_reads_back_as_written() {
    let full = json!({
        "specs": [
            {"cron": "*/5 * * * *"},
            {"every": {"every": "1m30s", "anchor": "2026-01-01T00:00:00Z", "counting": "fixed_rate"}},
            {"at": "2026-01-01T00:00:00.5Z"},
            {"after": "10m"},
            {"daily": {"at": ["09:00", "23:59:59"]}},
            {"weekly": {"on": ["monday", "sunday"], "at": ["09:00"]}},
            {"monthly": {"on": [1, 31, "last"], "at": ["00:00"]}},
            {"yearly": {"on": ["02-29", "12-24"], "at": ["12:00"]}},
        ],
        "zone": "America/New_York",
        "start_at": "2026-01-01T00:00:00Z",
        "end_at": "2027-01-01T00:00:00Z",
        "max_fires": 7,
        "exclude": ["2026-12-24", {"from": "2026-12-25", "to": "2026-12-31"},
            {"from": "2026-05-01T00:00:00Z", "to": "2026-05-02"}],
        "jitter": "30s",
        "gap": "skip",
        "repeat": "both",
    });
    let timing = read(full.clone()).unwrap();
    assert_eq!(timing.check(), Ok(()));
    let written = serde_json::to_value(&timing).unwrap();
    assert_eq!(written.to_string().replace(".500Z", ".5Z"), full.to_string());
    assert_eq!(read(written).unwrap(), timing);
}

#[test]
fn what_is_left_out_has_its_default() {
    let timing = read(json!({"specs": [{"every": {"every": "1h"}}]})).unwrap();
    assert_eq!(timing, Timing::of(timing.specs.clone()));
    assert_eq!(
        (timing.zone.as_str(), timing.gap, timing.repeat),
        ("UTC", Gap::NextValid, Repeat::First)
    );
    let text = r#"{"specs":[{"every":{"every":"1h","counting":"fixed_rate"}}],"zone":"UTC","gap":"next_valid","repeat":"first"}"#;
    assert_eq!(serde_json::to_string(&timing).unwrap(), text);
}

#[test]
fn unknown_words_and_fields_are_refused() {
    for spec in [
        json!({"hourly": {}}),
        json!({"cron": 5}),
        json!({"every": {"every": "1h", "jitter": "1s"}}),
        json!({"every": {"every": 90}}),
        json!({"every": {"every": "1h", "counting": "fixed"}}),
        json!({"daily": {"at": ["24:00"]}}),
        json!({"daily": {"at": ["9:00"]}}),
        json!({"daily": {"at": ["09:00:00:00"]}}),
        json!({"daily": {"at": ["+9:00"]}}),
        json!({"weekly": {"on": ["mon"], "at": ["09:00"]}}),
        json!({"monthly": {"on": [0], "at": ["09:00"]}}),
        json!({"monthly": {"on": [32], "at": ["09:00"]}}),
        json!({"monthly": {"on": ["first"], "at": ["09:00"]}}),
        json!({"yearly": {"on": ["02-30"], "at": ["09:00"]}}),
        json!({"yearly": {"on": ["2-9"], "at": ["09:00"]}}),
        json!({"at": "2026-01-01"}),
    ] {
        assert!(read(json!({"specs": [spec]})).is_err(), "{spec}");
    }
    let spec = json!({"cron": "* * * * *"});
    assert!(read(json!({"specs": [spec], "timezone": "UTC"})).is_err());
    assert!(read(json!({"specs": [spec], "exclude": [{"from": "2026-01-01"}]})).is_err());
    let error = read(json!({"specs": [spec], "exclude": ["2026-02-30"]})).unwrap_err();
    assert!(error.to_string().contains("expected a date such as"), "{error}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let daily = || json!([{"daily": {"at": ["09:00"]}}]);
    let many = |n: usize, one: Value| vec![one; n];
    let cases = [
        (json!({"specs": []}), "/specs"),
        (json!({"specs": many(17, json!({"cron": "* * * * *"}))}), "/specs"),
        (json!({"specs": daily(), "zone": "Mars/Olympus"}), "/zone"),
        (json!({"specs": daily(), "zone": "Etc/Unknown"}), "/zone"),
        (json!({"specs": daily(), "jitter": "24h1s"}), "/jitter"),
        (json!({"specs": daily(), "max_fires": 0}), "/max_fires"),
        (json!({"specs": daily(), "exclude": many(501, json!("2026-01-01"))}), "/exclude"),
        (
            json!({"specs": daily(), "exclude": ["2026-01-01", {"from": "2026-01-02", "to": "2026-01-01"}]}),
            "/exclude/1/to",
        ),
        (
            json!({"specs": daily(), "start_at": "2026-01-02T00:00:00Z", "end_at": "2026-01-01T00:00:00Z"}),
            "/end_at",
        ),
        (json!({"specs": [{"daily": {"at": []}}]}), "/specs/0/daily/at"),
        (json!({"specs": [{"weekly": {"on": [], "at": ["09:00"]}}]}), "/specs/0/weekly/on"),
        (
            json!({"specs": [{"cron": "* * * * *"}, {"every": {"every": "999ms"}}]}),
            "/specs/1/every/every",
        ),
        (json!({"specs": [{"after": "999999999h"}]}), "/specs/0/after"),
        (
            json!({"specs": [{"every": {"every": "1h", "counting": "fixed_delay"}}, {"cron": "* * * * *"}]}),
            "/specs",
        ),
        (json!({"specs": [{"cron": "every day"}]}), "/specs/0/cron"),
    ];
    for (value, pointer) in cases {
        let error = read(value.clone()).unwrap().check().unwrap_err();
        assert_eq!(error.pointer, pointer, "{value}");
        assert!(!error.to_string().is_empty());
    }
}

fn cron(pattern: &str) -> Result<(), TimingError> {
    Timing::of(vec![Spec::Cron(pattern.to_owned())]).check()
}

#[test]
fn cron_patterns_of_all_kinds_are_read() {
    for pattern in [
        "* * * * *",
        "*/5 * * * *",
        "0 */5 * * * *",
        "0 0 1,15 jan-mar MON-FRI",
        "0 0 L * *",
        "0 0 LW * ?",
        "0 0 15W * *",
        "0 0 ? * 5#2",
        "0 0 * * FRIL",
        "0 0 * * 7",
        "0 0 13 * +FRI",
        "  0   0  *  *  *  ",
        "@daily",
        "@Midnight",
        "@hourly",
        "@yearly",
    ] {
        assert_eq!(cron(pattern), Ok(()), "{pattern}");
    }
}

#[test]
fn what_would_have_to_be_guessed_is_no_cron_pattern() {
    for pattern in [
        "",
        "* * * *",
        "* * * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * 32 * *",
        "* * * 13 *",
        "* * * * 8",
        "*/0 * * * *",
        "5/10 * * * *",
        "5-1 * * * *",
        "1,,2 * * * *",
        "1, * * * *",
        "jan * * * *",
        "* * mon * *",
        "* * * mon *",
        "* * * january *",
        "* * * * L",
        "* * L,15W * *",
        "* * * * 1#6",
        "@reboot",
        "@daily @daily",
        "é * * * *",
        "H * * * *",
    ] {
        let error = cron(pattern).expect_err(pattern);
        assert!(matches!(error.problem, TimingProblem::BadCron(_)), "{pattern}: {error}");
    }
    assert!(cron(&format!("{} * * * *", "1,".repeat(200))).is_err());
}

#[test]
fn what_a_new_timing_may_not_have_is_read_all_the_same() {
    let pointers = |value: Value| {
        let timing = read(value).unwrap();
        assert_eq!(timing.check(), Ok(()), "it may be stored so");
        let errors = timing.check_new();
        errors.iter().map(|error| error.pointer.clone()).collect::<Vec<_>>()
    };
    for pattern in ["*/90 * * * *", "1-5/10 * * * *", "0 0 * * 5#L", "0 0 * * 1-5#2", "007 * * * *"]
    {
        assert_eq!(pointers(json!({"specs": [{"cron": pattern}]})), ["/specs/0/cron"], "{pattern}");
    }
    let two = json!({"specs": [{"cron": "*/90 * * * *"}, {"cron": "* * * * *"}, {"cron": "0 */25 * * *"}]});
    assert_eq!(pointers(two), ["/specs/0/cron", "/specs/2/cron"]);
}

#[test]
fn a_choice_for_clock_changes_that_acts_on_nothing_is_refused_in_a_new_timing() {
    let pointers = |specs: Value, gap: &str, repeat: &str| {
        let timing = json!({"specs": specs, "zone": "Europe/Berlin", "gap": gap, "repeat": repeat});
        let errors = read(timing).unwrap().check_new();
        assert!(
            errors.iter().all(|error| error.problem == TimingProblem::NoTimeOfDay),
            "{errors:?}"
        );
        errors.iter().map(|error| error.pointer.clone()).collect::<Vec<_>>()
    };
    for nothing in [
        json!([{"cron": "*/15 * * * *"}]),
        json!([{"cron": "0 */2 * * *"}, {"cron": "@hourly"}]),
        json!([{"every": {"every": "1h"}}, {"at": "2030-01-01T00:00:00Z"}, {"after": "1h"}]),
    ] {
        assert_eq!(pointers(nothing.clone(), "skip", "both"), ["/gap", "/repeat"], "{nothing}");
        assert_eq!(pointers(nothing.clone(), "next_valid", "last"), ["/repeat"], "{nothing}");
        assert!(pointers(nothing, "next_valid", "first").is_empty(), "the defaults are no choice");
    }
    for fixed in [
        json!([{"cron": "0,30 2 * * *"}]),
        json!([{"cron": "*/15 * * * *"}, {"cron": "@daily"}]),
        json!([{"every": {"every": "1h"}}, {"daily": {"at": ["09:00"]}}]),
    ] {
        assert!(pointers(fixed.clone(), "skip", "both").is_empty(), "{fixed}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_reading_of_cron(text in "[0-9*/,LW#?+@a-zA-Z -]{0,40}", any in ".{0,20}") {
        let created = Timestamp::UNIX_EPOCH;
        for text in [text, any] {
            let timing = Timing::of(vec![Spec::Cron(text)]);
            if let Ok(reckoner) = Reckoner::new(&timing, created) {
                prop_assert!(reckoner.next_after(created).is_some());
            }
        }
    }

    #[test]
    fn words_read_back_as_written(second in 0_u32..86_400, month in 1_u8..=12, day in 1_u8..=29) {
        let time = ClockTime::new(second).unwrap();
        prop_assert_eq!(time.to_string().parse(), Ok(time));
        let day = YearDay::new(month, day).unwrap();
        prop_assert_eq!(day.to_string().parse(), Ok(day));
    }
}
