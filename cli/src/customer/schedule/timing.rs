//! When a schedule is due, as flags: of `berth schedule put` and `berth schedule preview`.
//!
//! What is typed is read here into the domain's own types; whether it can ever be due is the server's to say.

use super::super::submit::time;
use chrono::NaiveDate;
use client::request::{self as body, Given};
use domain::schedule::{
    Bound, ClockTime, Counting, Exclusion, ExclusionRange, Gap, MonthDay, Repeat, Spec, Timing,
    TimingProblem, Weekday, YearDay,
};
use domain::time::{Timestamp, parse_duration};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use std::time::Duration;

/// The flags of which each says when: one at least.
pub const WHEN: [&str; 8] =
    ["cron", "every", "at", "after", "daily", "weekly", "monthly", "yearly"];

/// The other flags: they do not go together with a file.
pub const FIELDS: [&str; 10] = [
    "anchor",
    "fixed_delay",
    "zone",
    "start_at",
    "end_at",
    "max_fires",
    "exclude",
    "jitter",
    "gap",
    "repeat",
];

/// A timing. The first eight flags combine: the schedule is due when any of them is.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "When")]
pub struct TimingArguments {
    /// Cron expression of 5 fields, or 6 with seconds first; repeatable.
    #[arg(long, value_name = "PATTERN", value_parser = cron)]
    pub cron: Vec<String>,
    /// Interval, such as 90s, from creation or --anchor.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub every: Option<Duration>,
    /// Fixed time, such as 2030-01-31T12:00:00Z; repeatable.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub at: Vec<Timestamp>,
    /// Once, this long after creation.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub after: Option<Duration>,
    /// Times of each day, such as 09:00,17:30; repeatable.
    #[arg(long, value_name = "TIMES", value_parser = daily)]
    pub daily: Vec<Spec>,
    /// Days of the week, such as monday,friday@09:00; repeatable.
    #[arg(long, value_name = "DAYS@TIMES", value_parser = weekly)]
    pub weekly: Vec<Spec>,
    /// Days of the month, such as 1,15,last@09:00; repeatable.
    #[arg(long, value_name = "DAYS@TIMES", value_parser = monthly)]
    pub monthly: Vec<Spec>,
    /// Dates of the year, such as 02-29,12-24@12:00; repeatable.
    #[arg(long, value_name = "DATES@TIMES", value_parser = yearly)]
    pub yearly: Vec<Spec>,
    /// Start time of --every.
    #[arg(long, value_name = "TIME", value_parser = time, requires = "every")]
    pub anchor: Option<Timestamp>,
    /// Count --every from the end of a task, not from the last due time.
    #[arg(long, requires = "every")]
    pub fixed_delay: bool,
    /// Time zone of times of day and dates, such as Europe/Berlin. Default: UTC.
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// Earliest due time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub start_at: Option<Timestamp>,
    /// Latest due time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub end_at: Option<Timestamp>,
    /// Finish after N tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_fires: Option<u64>,
    /// Excluded date, or range of dates or times (2026-12-24..2027-01-01); repeatable.
    #[arg(long, value_name = "DATE|FROM..TO", value_parser = exclusion)]
    pub exclude: Vec<Exclusion>,
    /// Random delay of each fire, up to this.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub jitter: Option<Duration>,
    /// Time of day that does not exist (clocks go forward): next_valid (default) or skip.
    #[arg(long, value_parser = word::<Gap>)]
    pub gap: Option<Gap>,
    /// Time of day that occurs twice (clocks go back): first (default), last or both.
    #[arg(long, value_parser = word::<Repeat>)]
    pub repeat: Option<Repeat>,
}

impl TimingArguments {
    /// Whether none of the flags says when.
    pub fn is_empty(&self) -> bool {
        self.specs().is_empty()
    }

    /// The timing with what the flags name.
    pub fn timing(&self) -> body::Timing {
        let specs = self.specs().into_iter().map(Into::into).collect::<Vec<_>>();
        let exclude = self.exclude.iter().copied().map(Given::from).collect::<Vec<_>>();
        body::Timing {
            specs: (!specs.is_empty()).then_some(specs),
            zone: self.zone.clone(),
            start_at: self.start_at.map(Given::from),
            end_at: self.end_at.map(Given::from),
            max_fires: self.max_fires,
            exclude: (!exclude.is_empty()).then_some(exclude),
            jitter: self.jitter.map(Given::from),
            gap: self.gap,
            repeat: self.repeat,
        }
    }

    fn specs(&self) -> Vec<Spec> {
        let counting = if self.fixed_delay { Counting::FixedDelay } else { Counting::FixedRate };
        let mut specs: Vec<Spec> = self.cron.iter().cloned().map(Spec::Cron).collect();
        specs.extend(self.every.map(|every| Spec::Every { every, anchor: self.anchor, counting }));
        specs.extend(self.at.iter().copied().map(Spec::At));
        specs.extend(self.after.map(Spec::After));
        specs.extend(
            [&self.daily, &self.weekly, &self.monthly, &self.yearly].into_iter().flatten().cloned(),
        );
        specs
    }
}

/// A pattern that can be read. What a new one may not have is the server's to say: a schedule may have it from before.
fn cron(text: &str) -> Result<String, String> {
    let alone = Timing::of(vec![Spec::Cron(text.to_owned())]);
    match alone.check().map_err(|error| error.problem) {
        Ok(()) => Ok(text.to_owned()),
        Err(TimingProblem::BadCron(why)) => Err(why),
        Err(other) => Err(other.to_string()),
    }
}

fn daily(text: &str) -> Result<Spec, String> {
    Ok(Spec::Daily { at: times(text)? })
}

fn weekly(text: &str) -> Result<Spec, String> {
    let (days, at) = days_and_times(text)?;
    let on = days.split(',').map(str::parse::<Weekday>).collect::<Result<_, _>>();
    let on = on.map_err(|_| "expected days from monday to sunday before the @".to_owned())?;
    Ok(Spec::Weekly { on, at })
}

fn monthly(text: &str) -> Result<Spec, String> {
    let (days, at) = days_and_times(text)?;
    let day = |text: &str| match text.parse() {
        Ok(day @ 1..=31) => Ok(MonthDay::Day(day)),
        Err(_) if text == "last" => Ok(MonthDay::Last),
        _ => Err("expected days from 1 to 31, or last, before the @".to_owned()),
    };
    Ok(Spec::Monthly { on: days.split(',').map(day).collect::<Result<_, _>>()?, at })
}

fn yearly(text: &str) -> Result<Spec, String> {
    let (days, at) = days_and_times(text)?;
    let on = days.split(',').map(str::parse::<YearDay>).collect::<Result<_, _>>();
    Ok(Spec::Yearly { on: on.map_err(|error| error.to_string())?, at })
}

fn days_and_times(text: &str) -> Result<(&str, Vec<ClockTime>), String> {
    let (days, at) = text.split_once('@').ok_or("expected days and times, such as monday@09:00")?;
    Ok((days, times(at)?))
}

fn times(text: &str) -> Result<Vec<ClockTime>, String> {
    let times = text.split(',').map(str::parse::<ClockTime>).collect::<Result<_, _>>();
    times.map_err(|error| error.to_string())
}

fn exclusion(text: &str) -> Result<Exclusion, String> {
    let wrong = || "expected a date such as 2026-12-24, or FROM..TO with dates or times".to_owned();
    if let Some((from, to)) = text.split_once("..") {
        let [from, to] = [from, to].map(|bound| self::bound(bound).ok_or_else(wrong));
        return Ok(Exclusion::Range(ExclusionRange { from: from?, to: to? }));
    }
    text.parse().map(Exclusion::Day).map_err(|_| wrong())
}

fn bound(text: &str) -> Option<Bound> {
    let day = text.parse::<NaiveDate>().ok().map(Bound::Day);
    day.or_else(|| time(text).ok().map(Bound::Instant))
}

/// One of the words of a type, as it is in JSON.
pub fn word<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
    let word: StrDeserializer<'_, Error> = text.into_deserializer();
    T::deserialize(word).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::json;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        timing: TimingArguments,
    }

    fn timing(line: &[&str]) -> Result<serde_json::Value, String> {
        let line = Line::try_parse_from(["berth"].iter().chain(line));
        let line = line.map_err(|error| error.to_string())?;
        Ok(serde_json::to_value(line.timing.timing()).unwrap())
    }

    #[test]
    fn every_kind_can_be_typed_and_several_go_together() {
        let typed = timing(&[
            "--cron",
            "*/5 * * * *",
            "--cron",
            "@daily",
            "--every",
            "90s",
            "--anchor",
            "2027-01-01T00:00:00Z",
            "--at",
            "2030-01-31T12:00:00+01:00",
            "--after",
            "10m",
            "--daily",
            "09:00,17:30",
            "--weekly",
            "monday,sunday@09:00",
            "--monthly",
            "1,15,last@00:00,12:00",
            "--yearly",
            "02-29@12:00",
            "--zone",
            "Europe/Berlin",
            "--max-fires",
            "7",
            "--exclude",
            "2026-12-24",
            "--exclude",
            "2026-12-27..2026-12-31T12:00:00Z",
            "--jitter",
            "5m",
            "--gap",
            "skip",
            "--repeat",
            "both",
        ]);
        assert_eq!(
            typed.unwrap(),
            json!({"specs": [
                {"cron": "*/5 * * * *"},
                {"cron": "@daily"},
                {"every": {"every": "1m30s", "anchor": "2027-01-01T00:00:00Z", "counting": "fixed_rate"}},
                {"at": "2030-01-31T11:00:00Z"},
                {"after": "10m"},
                {"daily": {"at": ["09:00", "17:30"]}},
                {"weekly": {"on": ["monday", "sunday"], "at": ["09:00"]}},
                {"monthly": {"on": [1, 15, "last"], "at": ["00:00", "12:00"]}},
                {"yearly": {"on": ["02-29"], "at": ["12:00"]}}],
                "zone": "Europe/Berlin", "max_fires": 7,
                "exclude": ["2026-12-24", {"from": "2026-12-27", "to": "2026-12-31T12:00:00Z"}],
                "jitter": "5m", "gap": "skip", "repeat": "both"})
        );
        let delay = timing(&["--every", "1h", "--fixed-delay"]).unwrap();
        assert_eq!(delay["specs"][0]["every"]["counting"], "fixed_delay");
    }

    #[test]
    fn what_is_no_timing_is_refused_where_it_is_typed() {
        for line in [
            ["--daily", "24:00"].as_slice(),
            &["--cron", "61 * * * *"],
            &["--weekly", "monday"],
            &["--weekly", "mon@09:00"],
            &["--monthly", "0@09:00"],
            &["--monthly", "1@"],
            &["--yearly", "02-30@09:00"],
            &["--exclude", "tomorrow"],
            &["--exclude", "2026-12-24.."],
            &["--gap", "first"],
            &["--repeat", "twice"],
            &["--every", "often"],
            &["--anchor", "2027-01-01T00:00:00Z"],
            &["--fixed-delay"],
            &["--max-fires", "0"],
        ] {
            assert!(timing(line).is_err(), "{line:?}");
        }
        for (pattern, write) in [
            ("61 * * * *", "`61` is no minute: it may be 0 to 59"),
            ("1/15 * * * *", "write `1-59/15`"),
            ("0 0 * * FRI-MON", "write `FRI-SUN,MON`"),
            ("@every 5m", r#"write {"every": {"every": "5m"}}"#),
            ("TZ=Asia/Tokyo 0 9 * * *", r#"{"zone": "Asia/Tokyo"}"#),
        ] {
            let why = timing(&["--cron", pattern]).unwrap_err();
            assert!(why.contains("--cron <PATTERN>") && why.contains(write), "{why}");
        }
        let none = Line::try_parse_from(["berth", "--zone", "UTC"]).unwrap();
        assert!(none.timing.is_empty());
    }
}
