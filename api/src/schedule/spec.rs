//! What a client may send as a schedule, field by field.
//!
//! As for tasks: read by `json::parse`, checked by `check`, shown in the OpenAPI document. Texts that have a form of their own stay texts
//! here, so that several mistakes can be told at once.

use crate::task::TaskSpec;
use domain::schedule::{Counting, Gap, Overlap, Repeat};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A schedule to store.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object with `timing` and `task`")]
#[schema(as = SchedulePut, example = json!({
    "timing": {"specs": [{"cron": "30 2 * * *"}], "zone": "America/New_York"},
    "task": {"name": "report", "run": {"command": {"argv": ["bash", "-c", "echo hi"]}}}}))]
pub struct ScheduleSpec {
    /// Its timing.
    #[schema(required, nullable = false)]
    pub timing: Option<TimingSpec>,
    /// The task that each fire creates, as for `POST /v1/tasks`, without `delay` and `run_at`.
    #[schema(required, nullable = false)]
    pub task: Option<TaskSpec>,
    /// Overlap policy: what a due time does while an earlier task is unfinished. Default: `skip`.
    #[schema(value_type = Option<super::super::openapi::words::Overlap>)]
    pub overlap: Option<Overlap>,
    /// Misfire policy of overdue times. Default: `fire_now` for a timing that fires once, else `fire_next_soon`.
    pub misfire: Option<MisfireSpec>,
    /// Pause after this many consecutive tasks end `failed`, `aborted`, `killed` or `expired`. Default: never.
    #[schema(minimum = 1, maximum = 1000)]
    pub pause_after_failures: Option<u32>,
    /// Whether it is paused. Default: unchanged.
    pub paused: Option<bool>,
}

/// When a schedule is due.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"specs\": [{\"cron\": \"30 2 * * *\"}], \"zone\": \"Europe/Berlin\"}"
)]
#[schema(as = Timing)]
pub struct TimingSpec {
    /// Due when any of these is due; equal times count once.
    #[schema(required, nullable = false, min_items = 1, max_items = 16)]
    pub specs: Option<Vec<WhenSpec>>,
    /// IANA time zone of times of day and dates. Default: `UTC`.
    #[schema(example = "America/New_York")]
    pub zone: Option<String>,
    /// Earliest due time (RFC 3339).
    #[schema(format = DateTime)]
    pub start_at: Option<String>,
    /// Latest due time (RFC 3339).
    #[schema(format = DateTime)]
    pub end_at: Option<String>,
    /// Finish after this many tasks.
    #[schema(minimum = 1)]
    pub max_fires: Option<u64>,
    /// Excluded dates (`"2026-12-24"`) or ranges (`{"from", "to"}`, of dates or times).
    #[schema(value_type = Option<Vec<super::super::openapi::words::Exclusion>>, max_items = 500)]
    pub exclude: Option<Vec<Value>>,
    /// Random delay of each fire, up to this. Default: `"0s"`; at most `"24h"`.
    pub jitter: Option<String>,
    /// Handling of a time of day that does not exist (clocks go forward). Default: `next_valid`, the only value for a
    /// timing without fixed times of day.
    #[schema(value_type = Option<super::super::openapi::words::Gap>)]
    pub gap: Option<Gap>,
    /// Handling of a time of day that occurs twice (clocks go back). Default: `first`, the only value for a timing
    /// without fixed times of day.
    #[schema(value_type = Option<super::super::openapi::words::Repeat>)]
    pub repeat: Option<Repeat>,
}

/// Due times: exactly one of these.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object of one kind, such as {\"cron\": \"30 2 * * *\"} or {\"every\": {\"every\": \"90s\"}}"
)]
#[schema(as = When)]
pub struct WhenSpec {
    /// Cron expression of 5 fields, or 6 with seconds first, with `L`, `W`, `#` and `@daily`. Its times of day are
    /// fixed unless its minute or hour field begins with `*`.
    #[schema(example = "30 2 * * mon-fri")]
    pub cron: Option<String>,
    /// A fixed interval, independent of clock changes.
    pub every: Option<EverySpec>,
    /// Once, at this time (RFC 3339).
    #[schema(format = DateTime)]
    pub at: Option<String>,
    /// Once, this long after creation.
    pub after: Option<String>,
    /// Each day.
    pub daily: Option<DailySpec>,
    /// On days of the week.
    pub weekly: Option<WeeklySpec>,
    /// On days of the month; months without the day are skipped.
    pub monthly: Option<MonthlySpec>,
    /// On dates of the year; 02-29 in leap years.
    pub yearly: Option<YearlySpec>,
}

/// An interval.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"every\": \"90s\"}")]
#[schema(as = Every)]
pub struct EverySpec {
    /// Length, such as `"90s"`; at least `"1s"`.
    #[schema(required, nullable = false)]
    pub every: Option<String>,
    /// Start of the interval. Default: creation of the schedule.
    #[schema(format = DateTime)]
    pub anchor: Option<String>,
    /// `fixed_rate` (default): from due time to due time; `fixed_delay`: from the end of a task to the next due time.
    #[schema(value_type = Option<super::super::openapi::words::Counting>)]
    pub counting: Option<Counting>,
}

/// Times of each day.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"at\": [\"09:00\"]}")]
#[schema(as = Daily)]
pub struct DailySpec {
    /// Such as `"09:00"` or `"23:59:59"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on days of the week.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"monday\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Weekly)]
pub struct WeeklySpec {
    /// `monday` to `sunday`.
    #[schema(required, nullable = false, value_type = Option<Vec<super::super::openapi::words::Weekday>>)]
    pub on: Option<Vec<String>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on days of the month.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [1, \"last\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Monthly)]
pub struct MonthlySpec {
    /// 1 to 31, or `last`.
    #[schema(required, nullable = false, value_type = Option<Vec<super::super::openapi::words::MonthDay>>)]
    pub on: Option<Vec<Value>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Times on dates of the year.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"on\": [\"12-24\"], \"at\": [\"09:00\"]}"
)]
#[schema(as = Yearly)]
pub struct YearlySpec {
    /// Month and day, such as `"12-24"`.
    #[schema(required, nullable = false)]
    pub on: Option<Vec<String>>,
    /// Such as `"09:00"`.
    #[schema(required, nullable = false)]
    pub at: Option<Vec<String>>,
}

/// Misfire policy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Misfire)]
pub enum MisfireSpec {
    /// Each fires now.
    FireNow,
    /// They become one that fires now.
    FireNextSoon,
    /// None fires.
    Skip,
    /// The newest of them fire.
    CatchUp(CatchUpSpec),
}

/// Which overdue times fire.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, expecting = "an object such as {\"count\": 10, \"max_age\": \"24h\"}")]
#[schema(as = CatchUp)]
pub struct CatchUpSpec {
    /// Number of the newest due times.
    #[schema(required, nullable = false, minimum = 1, maximum = 1000)]
    pub count: Option<u32>,
    /// Largest age of a due time.
    #[schema(required, nullable = false)]
    pub max_age: Option<String>,
    /// Fires per second. Default: all at once.
    #[schema(minimum = 1)]
    pub per_second: Option<u32>,
}
