//! When a schedule is due.

use super::{Given, Written};
use domain::schedule::{
    ClockTime, Counting, Exclusion, Gap, MonthDay, Repeat, Spec, Weekday, YearDay,
};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// When a schedule is due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"specs\": [{\"cron\": \"30 2 * * *\"}], \"zone\": \"Europe/Berlin\"}"
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Timing {
    /// Due when any of these is due; equal times count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schema(required, nullable = false, min_items = 1, max_items = 16)
    )]
    pub specs: Option<Vec<When>>,
    /// IANA time zone of times of day and dates. Default: `UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "America/New_York"))]
    pub zone: Option<String>,
    /// Earliest due time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub start_at: Option<Given<Timestamp>>,
    /// Latest due time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub end_at: Option<Given<Timestamp>>,
    /// Finish after this many tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub max_fires: Option<u64>,
    /// Excluded dates (`"2026-12-24"`) or ranges (`{"from", "to"}`, of dates or times).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<crate::openapi::words::Exclusion>>, max_items = 500))]
    pub exclude: Option<Vec<Given<Exclusion>>>,
    /// Random delay of each fire, up to this. Default: `"0s"`; at most `"24h"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub jitter: Option<Given<Duration>>,
    /// Handling of a time of day that does not exist (clocks go forward). Default: `next_valid`, the only value for a
    /// timing without fixed times of day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Gap>))]
    pub gap: Option<Gap>,
    /// Handling of a time of day that occurs twice (clocks go back). Default: `first`, the only value for a timing
    /// without fixed times of day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Repeat>))]
    pub repeat: Option<Repeat>,
}

/// Due times: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object of one kind, such as {\"cron\": \"30 2 * * *\"} or {\"every\": {\"every\": \"90s\"}}"
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct When {
    /// Cron expression of 5 fields, or 6 with seconds first, with `L`, `W`, `#` and `@daily`. Its times of day are
    /// fixed unless its minute or hour field begins with `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(example = "30 2 * * mon-fri"))]
    pub cron: Option<String>,
    /// A fixed interval, independent of clock changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Every>,
    /// Once, at this time (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub at: Option<Given<Timestamp>>,
    /// Once, this long after creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub after: Option<Given<Duration>>,
    /// Each day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily: Option<Daily>,
    /// On days of the week.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekly: Option<Weekly>,
    /// On days of the month; months without the day are skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly: Option<Monthly>,
    /// On dates of the year; 02-29 in leap years.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yearly: Option<Yearly>,
}

/// An interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"every\": \"90s\"}")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Every {
    /// Length, such as `"90s"`; at least `"1s"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, required, nullable = false))]
    pub every: Option<Given<Duration>>,
    /// Start of the interval. Default: creation of the schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub anchor: Option<Given<Timestamp>>,
    /// `fixed_rate` (default): from due time to due time; `fixed_delay`: from the end of a task to the next due time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<crate::openapi::words::Counting>))]
    pub counting: Option<Counting>,
}

/// Times of each day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"at\": [\"09:00\"]}")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Daily {
    /// Such as `"09:00"` or `"23:59:59"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, required, nullable = false))]
    pub at: Option<Vec<Given<ClockTime>>>,
}

/// Times on days of the week.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"monday\"], \"at\": [\"09:00\"]}"
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Weekly {
    /// `monday` to `sunday`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false, value_type = Option<Vec<crate::openapi::words::Weekday>>))]
    pub on: Option<Vec<Given<Weekday>>>,
    /// Such as `"09:00"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, required, nullable = false))]
    pub at: Option<Vec<Given<ClockTime>>>,
}

/// Times on days of the month.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [1, \"last\"], \"at\": [\"09:00\"]}"
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Monthly {
    /// 1 to 31, or `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required, nullable = false, value_type = Option<Vec<crate::openapi::words::MonthDay>>))]
    pub on: Option<Vec<Given<MonthDay>>>,
    /// Such as `"09:00"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, required, nullable = false))]
    pub at: Option<Vec<Given<ClockTime>>>,
}

/// Times on dates of the year.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"12-24\"], \"at\": [\"09:00\"]}"
)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Yearly {
    /// Month and day, such as `"12-24"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, required, nullable = false))]
    pub on: Option<Vec<Given<YearDay>>>,
    /// Such as `"09:00"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>, required, nullable = false))]
    pub at: Option<Vec<Given<ClockTime>>>,
}

impl From<domain::schedule::Timing> for Timing {
    fn from(timing: domain::schedule::Timing) -> Self {
        Self {
            specs: Some(timing.specs.into_iter().map(When::from).collect()),
            zone: Some(timing.zone),
            start_at: timing.start_at.map(Given::from),
            end_at: timing.end_at.map(Given::from),
            max_fires: timing.max_fires,
            exclude: (!timing.exclude.is_empty()).then(|| given(timing.exclude)),
            jitter: (!timing.jitter.is_zero()).then(|| timing.jitter.into()),
            gap: Some(timing.gap),
            repeat: Some(timing.repeat),
        }
    }
}

impl From<Spec> for When {
    fn from(spec: Spec) -> Self {
        let mut when = Self::default();
        match spec {
            Spec::Cron(pattern) => when.cron = Some(pattern),
            Spec::Every { every, anchor, counting } => {
                let (every, anchor) = (Some(every.into()), anchor.map(Given::from));
                when.every = Some(Every { every, anchor, counting: Some(counting) });
            }
            Spec::At(at) => when.at = Some(at.into()),
            Spec::After(after) => when.after = Some(after.into()),
            Spec::Daily { at } => when.daily = Some(Daily { at: Some(given(at)) }),
            Spec::Weekly { on, at } => {
                when.weekly = Some(Weekly { on: Some(given(on)), at: Some(given(at)) });
            }
            Spec::Monthly { on, at } => {
                when.monthly = Some(Monthly { on: Some(given(on)), at: Some(given(at)) });
            }
            Spec::Yearly { on, at } => {
                when.yearly = Some(Yearly { on: Some(given(on)), at: Some(given(at)) });
            }
        }
        when
    }
}

fn given<T: Written>(values: Vec<T>) -> Vec<Given<T>> {
    values.into_iter().map(Given::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_stored_timing_is_written_as_it_is_stored() {
        let timing = json!({"specs": [
            {"cron": "30 2 * * mon-fri"},
            {"every": {"every": "1m30s", "anchor": "2027-01-01T00:00:30Z", "counting": "fixed_rate"}},
            {"at": "2030-01-31T12:00:00Z"},
            {"after": "10m"},
            {"daily": {"at": ["09:00", "23:59:59"]}},
            {"weekly": {"on": ["monday", "sunday"], "at": ["09:00"]}},
            {"monthly": {"on": [1, 31, "last"], "at": ["00:00"]}},
            {"yearly": {"on": ["02-29", "12-24"], "at": ["12:00"]}}],
            "zone": "Europe/Berlin", "start_at": "2027-02-01T00:00:00Z", "end_at": "2037-01-01T00:00:00Z", "max_fires": 7,
            "exclude": ["2027-12-24", {"from": "2027-12-27", "to": "2027-12-31T12:00:00Z"}],
            "jitter": "5m", "gap": "skip", "repeat": "both"});
        let stored: domain::schedule::Timing = serde_json::from_value(timing.clone()).unwrap();
        let sent = Timing::from(stored);
        assert_eq!(serde_json::to_value(&sent).unwrap(), timing);
        assert_eq!(serde_json::from_value::<Timing>(timing).unwrap(), sent);
    }
}
